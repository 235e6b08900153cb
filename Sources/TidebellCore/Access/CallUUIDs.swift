// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// The UUIDs of one call, an input like its moment: a transaction that runs again makes the
/// same ones.
package struct CallUUIDs: Sendable, Hashable {
    private let first: UUID

    /// Takes the UUIDs that follow a random one.
    package init(after first: UUID) {
        self.first = first
    }

    /// For a call that names all that it makes.
    package static let unneeded = CallUUIDs(
        after: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    )

    /// The UUID of what stands at `index` in the request; no two have the same.
    package subscript(index: Int) -> UUID {
        var uuid = first.uuid
        withUnsafeMutableBytes(of: &uuid) { bytes in
            // The last 48 bits: version and variant stand before them.
            var carry = UInt64(index) + 1
            for offset in (10...15).reversed() {
                carry += UInt64(bytes[offset])
                bytes[offset] = UInt8(truncatingIfNeeded: carry)
                carry >>= 8
            }
        }
        return UUID(uuid: uuid)
    }
}
