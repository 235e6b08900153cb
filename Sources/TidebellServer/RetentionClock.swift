// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellHTTP
import TidebellScheduling

/// The moment from which retention counts back: the time of day, but believed only as far as
/// servers have run.
///
/// A clock that is half a year ahead would otherwise remove all devices, notifications and
/// tombstones at once. The moment is kept in the store. It moves towards the time of day, at
/// most twice as fast as time passes while a server runs, so that one that was off for long
/// catches up. A start moves it by nothing: however many there are, they remove nothing. It
/// goes back as fast, so that a clock that was ahead when the moment was first kept, and is set
/// right, is forgotten.
final class RetentionClock: Sendable {
    /// How much faster than time the moment may move.
    static let pace = 2

    private let time: Time
    /// How much of the server's life was counted.
    private let counted: Mutex<Duration>

    /// Creates a clock that begins to count now.
    init(_ time: Time) {
        self.time = time
        counted = Mutex(time.elapsed())
    }

    /// Moves the moment of `store` and returns it, or the time of day where that is earlier.
    func moment(in store: any Store) async throws -> Instant {
        let elapsed = time.elapsed()
        let step = counted.withLock { counted in
            defer { counted = elapsed }
            return (elapsed - counted) * Self.pace
        }
        let now = time.now()
        return try await store.write(.store) { try $0.moveRetention(to: now, byAtMost: step) }
    }
}
