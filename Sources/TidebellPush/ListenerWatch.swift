// SPDX-License-Identifier: Apache-2.0
package import Logging
import ServiceLifecycle
import Synchronization
package import TidebellCore
package import TidebellScheduling
import Metrics

/// Ends the streams and polls of those who may receive no more: signed out, expired,
/// disabled, removed, or of a device that another user took over.
///
/// A change that this process made ends them at once, or after
/// ``PushConfiguration/listenerPause`` where it looked a moment before; one that another made,
/// or the time, within ``interval``. All are looked at together, a bounded number in each read; who
/// begins to listen asks once more after it is watched, so that nobody slips through
/// between the check of a request and the watch.
package final class ListenerWatch: Service {
    /// How long it takes at most to notice what no commit of this process signalled.
    package static let interval = Duration.seconds(5)
    /// Listeners that one read of the store looks at.
    private static let listenersPerRead = 1000

    private struct Entry {
        var listeners: Set<Listener>
        var end: @Sendable () -> Void
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var nextID: UInt64 = 0
    }

    private let store: any Store
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Instant
    private let pause: Duration
    private let metrics: PushMetrics
    private let logger: Logger
    private let state = Mutex(State())

    /// Creates a watch over nobody; ``run()`` ends whom it watches then.
    package init(
        store: any Store, clock: any Clock<Duration>, now: @escaping @Sendable () -> Instant,
        configuration: PushConfiguration = PushConfiguration(),
        metrics: PushMetrics = PushMetrics(), logger: Logger
    ) {
        self.store = store
        self.clock = clock
        self.now = now
        pause = configuration.listenerPause
        self.metrics = metrics
        self.logger = logger
    }

    /// Calls `end`, once, when one of the listeners, who are one connection, may receive no
    /// more; for as long as what this returns is held.
    func watch(
        _ listeners: Set<Listener>, end: @escaping @Sendable () -> Void
    ) -> WatchedListener {
        let id = state.withLock { state in
            state.nextID += 1
            state.entries[state.nextID] = Entry(listeners: listeners, end: end)
            return state.nextID
        }
        return WatchedListener { [weak self] in
            _ = self?.state.withLock { $0.entries.removeValue(forKey: id) }
        }
    }

    /// Whether all of the listeners may receive as the store is now.
    func mayReceive(_ listeners: Set<Listener>, in reader: some SessionReading) throws -> Bool {
        try listeners.isEmpty || reader.listening(among: listeners, at: now()) == listeners
    }

    /// How many connections are watched.
    package var count: Int { state.withLock(\.entries.count) }

    /// Looks at all listeners, and ends those who may receive no more.
    package func look() async throws {
        let entries = state.withLock(\.entries)
        let listeners = Array(Set(entries.values.flatMap(\.listeners)))
        var ended: Set<Listener> = []
        for start in stride(from: 0, to: listeners.count, by: Self.listenersPerRead) {
            let group = Set(listeners[start...].prefix(Self.listenersPerRead))
            let moment = now()
            let listening = try await store.read { try $0.listening(among: group, at: moment) }
            ended.formUnion(group.subtracting(listening))
        }
        guard !ended.isEmpty else { return }
        for (id, entry) in entries where !ended.isDisjoint(with: entry.listeners) {
            // Who left meanwhile is not called.
            guard state.withLock({ $0.entries.removeValue(forKey: id) }) != nil else { continue }
            metrics.endedListeners.increment()
            entry.end()
        }
    }

    /// Looks when this process changed who may receive, and every ``interval``, until the task
    /// is cancelled or the service group shuts down.
    package func run() async throws {
        await run(on: clock)
    }

    private func run(on clock: some Clock<Duration>) async {
        let commits = store.accessCommits()
        let wake = WakeSignal(isRaised: true)
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in commits { wake.raise() } }
                group.addTask {
                    // Sleeping fails by cancellation only, which is the end.
                    while (try? await clock.sleep(for: Self.interval)) != nil { wake.raise() }
                }
                while await wake.wait() {
                    let next = clock.now.advanced(by: self.pause)
                    await self.lookAgain()
                    guard self.pause > .zero else { continue }
                    // As above.
                    guard (try? await clock.sleep(until: next, tolerance: nil)) != nil else {
                        break
                    }
                }
                group.cancelAll()
            }
        }
    }

    private func lookAgain() async {
        do {
            try await look()
        } catch {
            // The next look is soon; where sessions cannot be read, nothing can be.
            logger.debug("listeners cannot be checked", metadata: ["error": "\(error)"])
        }
    }
}

/// A listener that is watched until the last reference to this goes.
final class WatchedListener: Sendable {
    private let onRelease: @Sendable () -> Void

    init(onRelease: @escaping @Sendable () -> Void) {
        self.onRelease = onRelease
    }

    deinit { onRelease() }
}
