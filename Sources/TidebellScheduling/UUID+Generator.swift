// SPDX-License-Identifier: Apache-2.0
package import Foundation

extension UUID {
    /// Makes a UUID (version 4) of the generator's next two numbers.
    ///
    /// NB: Foundation's `UUID()` opens `/dev/urandom` on Linux. Where it cannot, for want
    /// of a descriptor or of `/dev`, it returns one and the same UUID and no error. The
    /// system's generator asks the kernel by `getrandom`, which needs neither.
    package static func made(with generator: inout some RandomNumberGenerator) -> UUID {
        let high = generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        var bytes = uuid_t(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { bytes in
            bytes.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
            bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return UUID(uuid: bytes)
    }
}
