// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellWire

/// Bounds the requests that are held open: device streams and courier polls, and
/// likewise transfers of files.
package final class HeldRequests: Sendable {
    /// The most requests held at a time, unless the server is told otherwise.
    package static let defaultCapacity = 10_000
    /// How long a refused client should wait.
    private static let retryAfter = 30.0

    private let capacity: Int
    private let kind: String
    private let count = Mutex(0)

    /// Creates a bound of requests of a kind.
    package init(
        capacity: Int = HeldRequests.defaultCapacity, of kind: String = "streams and polls"
    ) {
        self.capacity = capacity
        self.kind = kind
    }

    /// A place among the held requests, given back with its last reference.
    package final class Place: Sendable {
        private let requests: HeldRequests

        fileprivate init(_ requests: HeldRequests) {
            self.requests = requests
        }

        deinit {
            requests.count.withLock { $0 -= 1 }
        }
    }

    /// Returns a place, or fails with `TRY_AGAIN_LATER`.
    package func takePlace() throws -> Place {
        let isFree = count.withLock { count in
            guard count < capacity else { return false }
            count += 1
            return true
        }
        guard isFree else {
            throw WireError(
                .tryAgainLater, "the server already holds \(capacity) \(kind)",
                retryAfter: Self.retryAfter
            )
        }
        return Place(self)
    }

    /// The number of requests held now.
    package var current: Int { count.withLock { $0 } }
}
