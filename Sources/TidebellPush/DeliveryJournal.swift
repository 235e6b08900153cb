// SPDX-License-Identifier: Apache-2.0
package import Logging
import ServiceLifecycle
import Synchronization
package import TidebellCore
import TidebellScheduling

/// What the routes did, for those who ask later why a push came or did not.
///
/// Routes note their attempts in memory, which costs them next to nothing; the
/// service writes them to the store a moment later, in batches and not faster
/// than ``writesPerSecond``. What comes faster for longer than the memory lasts
/// is lost, the oldest first, and counted: a push goes before its account.
package final class DeliveryJournal: Service {
    /// Attempts that wait to be written; about 10 MB.
    package static let capacity = 65_536
    /// Attempts written in one second.
    package static let writesPerSecond = 5_000
    /// Attempts written by one transaction, so that other writers never wait
    /// long.
    static let batchSize = 1_000
    /// Time between two rounds of writing.
    static let interval = Duration.seconds(1)

    private struct State {
        /// What waits, from `start` on.
        var waiting: [Delivery] = []
        var start = 0
        var lost = 0

        /// Gives up the memory of what was taken, seldom enough to cost nothing.
        mutating func forgetTaken() {
            if start == waiting.count {
                waiting.removeAll(keepingCapacity: start <= DeliveryJournal.batchSize)
                start = 0
            } else if start > DeliveryJournal.capacity / 2 {
                waiting.removeFirst(start)
                start = 0
            }
        }
    }

    private let store: (any Store)?
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let state = Mutex(State())
    private let wake = WakeSignal()

    /// Creates a journal that writes to a store; without one it forgets all it
    /// is reported.
    package init(
        store: (any Store)?,
        clock: any Clock<Duration>,
        logger: Logger = Logger(label: "tidebell.deliveries")
    ) {
        self.store = store
        self.clock = clock
        self.logger = logger
    }

    /// Notes what a route did. Costs next to nothing and never waits.
    package func record(_ delivery: Delivery) {
        guard store != nil else { return }
        let isFirst = state.withLock { state in
            state.waiting.append(delivery)
            if state.waiting.count - state.start > Self.capacity {
                state.start += 1
                state.lost += 1
                state.forgetTaken()
            }
            return state.waiting.count - state.start == 1
        }
        if isFirst { wake.raise() }
    }

    /// How many attempts wait to be written.
    package var waitingCount: Int {
        state.withLock { $0.waiting.count - $0.start }
    }

    /// How many attempts were lost because too many waited.
    package var lostCount: Int { state.withLock(\.lost) }

    /// Writes what waits now; fails with the store's error, having lost nothing.
    package func flush() async throws {
        try await write(atMost: waitingCount)
    }

    /// Writes until the task is cancelled or the service group shuts down
    /// gracefully, then what still waits.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while await self.wake.wait() {
                await self.writeUntilEmpty()
            }
        }
        await writeLast()
    }

    // MARK: -

    private func writeUntilEmpty() async {
        // Sleeping fails by cancellation only, which is the end.
        while waitingCount > 0, (try? await clock.sleep(for: Self.interval)) != nil {
            do {
                try await write(atMost: Self.writesPerSecond)
            } catch {
                logger.debug("deliveries not written yet", metadata: ["error": "\(error)"])
            }
        }
    }

    private func writeLast() async {
        do {
            try await flush()
        } catch {
            logger.debug("deliveries not written", metadata: ["error": "\(error)"])
        }
    }

    private func write(atMost limit: Int) async throws {
        guard let store else { return }
        var left = limit
        var (failed, failure) = ([Delivery](), nil as (any Error)?)
        while left > 0 {
            let batch = state.withLock { state in
                let batch = state.waiting[state.start...].prefix(min(left, Self.batchSize))
                state.start += batch.count
                state.forgetTaken()
                return Array(batch)
            }
            guard !batch.isEmpty else { break }
            left -= batch.count
            let byUser = Dictionary(grouping: batch, by: \.user)
            let written = await store.write(ofEach: Set(byUser.keys)) { users, transaction in
                // In their order where all are written at once.
                let own =
                    users.count == byUser.count ? batch : users.flatMap { byUser[$0] ?? [] }
                try transaction.appendDeliveries(own)
            }
            failed += batch.filter { written.failed[$0.user] != nil }
            failure = written.failed.values.first ?? failure
            // Where nothing can be written, nothing else is tried.
            if written.failed.count == byUser.count { break }
        }
        putBack(failed)
        if let failure { throw failure }
    }

    private func putBack(_ batch: [Delivery]) {
        state.withLock { state in
            let rest = state.waiting[state.start...]
            let room = Self.capacity - rest.count
            state.lost += max(0, batch.count - room)
            // Behind those of others, whom it may have to do with.
            state.waiting = rest + batch.suffix(room)
            state.start = 0
        }
    }
}
