// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Counts waits for a server, of all connections that are made with an address.
package final class RoundTripCount: Sendable {
    private let waits = Mutex<[String]>([])

    /// Begins at none.
    package init() {}

    /// Returns what was waited for since the last call: of each wait the statement that was sent last.
    package func take() -> [String] {
        waits.withLock { waits in
            defer { waits = [] }
            return waits
        }
    }

    func note(_ sql: String?) { waits.withLock { $0.append(sql ?? "") } }
}

extension RoundTripCount: Hashable {
    package static func == (left: RoundTripCount, right: RoundTripCount) -> Bool { left === right }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
