// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellPush
import TidebellScheduling
import TidebellWire

/// The polls that wait at each courier: few, since a page has one.
///
/// A poll beyond the bound ends the oldest, whose answer is empty as when its time is up: a
/// browser that came back over another connection does not wait for the server to notice that
/// the one before is gone.
package final class CourierPolls: Sendable {
    /// The most polls of one courier, unless the operator sets another number.
    package static let mostPerCourier = 4
    /// How long a poll is not ended by another, so that five pages that share a courier do
    /// not end one another without a pause.
    static let leastTime = Duration.seconds(1)
    /// How long a client that comes too soon should wait.
    private static let retryAfter = 1.0

    private let polls = Mutex<[String: [Poll]]>([:])
    private let elapsed: @Sendable () -> Duration

    private let mostPerCourier: Int

    /// Creates an empty list.
    package init(
        mostPerCourier: Int = CourierPolls.mostPerCourier,
        elapsed: @escaping @Sendable () -> Duration
    ) {
        self.mostPerCourier = mostPerCourier
        self.elapsed = elapsed
    }

    /// A poll of a courier that goes on.
    private struct Poll {
        /// Raised when it is to end.
        var end: WakeSignal
        var since: Duration
    }

    /// A poll that goes on, until its last reference goes.
    final class Listed: Sendable {
        let end = WakeSignal()
        private let polls: CourierPolls
        private let courier: String

        fileprivate init(_ polls: CourierPolls, _ courier: String) {
            self.polls = polls
            self.courier = courier
        }

        deinit { polls.forget(end, at: courier) }
    }

    /// Lists a poll, and ends the oldest of its courier's when they are too many; fails with
    /// `THROTTLED` when that one has just begun.
    func begin(at courier: String) throws -> Listed {
        let listed = Listed(self, courier)
        let now = elapsed()
        let oldest = try polls.withLock { polls -> Poll? in
            var own = polls[courier, default: []]
            var oldest: Poll?
            if own.count >= mostPerCourier {
                guard now - own[0].since >= Self.leastTime else {
                    throw WireError(
                        .throttled,
                        "\(mostPerCourier) polls of this courier have just begun",
                        retryAfter: Self.retryAfter
                    ).naming(.courierPolls)
                }
                oldest = own.removeFirst()
            }
            own.append(Poll(end: listed.end, since: now))
            polls[courier] = own
            return oldest
        }
        oldest?.end.raise()
        return listed
    }

    /// The polls listed now.
    package var count: Int { polls.withLock { $0.values.map(\.count).reduce(0, +) } }

    private func forget(_ end: WakeSignal, at courier: String) {
        polls.withLock { polls in
            polls[courier]?.removeAll { $0.end === end }
            if polls[courier]?.isEmpty == true { polls[courier] = nil }
        }
    }
}
