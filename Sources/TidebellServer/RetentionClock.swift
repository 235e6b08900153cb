// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellHTTP
import TidebellScheduling

/// The moment from which retention counts back: the time of day, but believed only as far as
/// the server has run.
///
/// A clock that is half a year ahead would otherwise remove all devices, notifications and
/// tombstones at once. The moment is kept in the store. It moves by a day at a start, and then
/// at most twice as fast as time passes, so that a server that was off for long catches up.
final class RetentionClock: Sendable {
    /// What is believed of a clock that a server finds at its start.
    static let leapAtStart = Duration.seconds(24 * 3600)
    /// How much faster than time the moment may move.
    static let pace = 2

    private let time: Time
    /// How much of the server's life was counted; nil before the first time.
    private let counted = Mutex<Duration?>(nil)

    /// Creates a clock that begins to count now.
    init(_ time: Time) {
        self.time = time
    }

    /// Moves the moment of `store` and returns it.
    func moment(in store: any Store) async throws -> Instant {
        let elapsed = time.elapsed()
        let step = counted.withLock { counted in
            defer { counted = elapsed }
            return (elapsed - (counted ?? .zero)) * Self.pace
                + (counted == nil ? Self.leapAtStart : .zero)
        }
        let now = time.now()
        return try await store.write { try $0.moveRetention(to: now, byAtMost: step) }
    }
}
