// SPDX-License-Identifier: Apache-2.0
import ServiceLifecycle
import Synchronization
package import TidebellCore
import TidebellScheduling
import Metrics

/// The devices that hold a connection open, by user.
///
/// Publishing costs a small constant for each connected device of the user and
/// never waits: a device that reads too slowly loses its queue in memory, not its
/// notifications, because the log has them.
package final class DeviceStreams: PushRoute, Service {
    /// How often every stream gives a sign of life: three of them missing are the
    /// SDK's sign of a dead connection.
    package static let heartbeatInterval = Duration.seconds(15)
    /// Groups of streams that take turns, so that ten thousand do not write at once.
    private static let heartbeatGroups: UInt64 = 3

    private struct Registry {
        var queues: [UserID: [UInt64: LiveQueue]] = [:]
        var count = 0
        var nextID: UInt64 = 0
    }

    let store: any Store
    let configuration: PushConfiguration
    let metrics: PushMetrics
    private let clock: any Clock<Duration>
    /// Makes a number from 0 to 1 that spreads the answers.
    private let jitter: @Sendable () -> Double
    let watch: ListenerWatch?
    private let onClose: @Sendable () -> Void
    let catchUps: CatchUps
    private let registry = Mutex(Registry())

    /// Creates an empty registry; ``run()`` keeps its connections alive.
    package init(
        store: any Store,
        clock: any Clock<Duration>,
        jitter: @escaping @Sendable () -> Double,
        configuration: PushConfiguration = PushConfiguration(),
        metrics: PushMetrics = PushMetrics(),
        watch: ListenerWatch? = nil,
        onClose: @escaping @Sendable () -> Void = {}
    ) {
        self.onClose = onClose
        catchUps = CatchUps(atOnce: configuration.catchUpsAtOnce)
        self.store = store
        self.clock = clock
        self.jitter = jitter
        self.configuration = configuration
        self.metrics = metrics
        self.watch = watch
    }

    /// How many streams are open.
    package var openCount: Int { registry.withLock(\.count) }

    /// Opens a stream of the device's notifications after `sequence`: what the log
    /// has first, then what is published, without gap or duplicate, without what
    /// the device caused itself (SUB-46).
    ///
    /// The stream is live when this returns. It closes when it and its iterator
    /// are gone, and ends when one of the `listeners` may receive no more.
    package func open(
        device: StoredDevice, after sequence: NotificationSequence, as listeners: Set<Listener> = []
    ) -> DeviceStream {
        let queue = LiveQueue(
            clientID: device.clientID, limit: configuration.waitingPerStream, metrics: metrics
        )
        let (id, count) = registry.withLock { registry in
            registry.nextID += 1
            registry.count += 1
            registry.queues[device.user, default: [:]][registry.nextID] = queue
            return (registry.nextID, registry.count)
        }
        metrics.openStreams.record(count)
        let watched = listeners.isEmpty ? nil : watch?.watch(listeners) { queue.end() }
        let slot = StreamSlot(queue: queue, watched) { [weak self] in
            self?.close(id, of: device.user)
        }
        return DeviceStream(
            device: device, listeners: listeners, start: sequence, streams: self, slot: slot
        )
    }

    /// Hands notifications to the connected devices of their users, but not to
    /// their origin. They must be in the log already, those of a user in its order.
    package func publish(
        _ notifications: [StoredNotification], after ends: [UserID: NotificationSequence]
    ) {
        var ends = ends
        for notification in notifications {
            let queues = registry.withLock { registry in
                registry.queues[notification.user].map { Array($0.values) } ?? []
            }
            guard !queues.isEmpty else { continue }
            let before = ends.updateValue(notification.sequence, forKey: notification.user)
            let live = LiveNotification(notification)
            for queue in queues { queue.append(live, after: before ?? .start) }
        }
    }

    package func lookAgain(for users: Set<UserID>?) {
        let queues = registry.withLock { registry in
            guard let users else { return registry.queues.values.flatMap(\.values) }
            return users.flatMap { registry.queues[$0].map { Array($0.values) } ?? [] }
        }
        for queue in queues { queue.lookAgain() }
    }

    /// Gives signs of life until the task is cancelled or the service group shuts
    /// down. One timer for all streams: ten thousand cost a task and a timer less
    /// each.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            let pause = Self.heartbeatInterval / Int(Self.heartbeatGroups)
            var round: UInt64 = 0
            // Sleeping fails by cancellation only, which is the end.
            while (try? await self.clock.sleep(for: pause)) != nil {
                self.beat(group: round % Self.heartbeatGroups)
                round += 1
            }
        }
    }

    private func beat(group: UInt64) {
        let queues = registry.withLock { registry in
            registry.queues.values.flatMap { streams in
                streams.filter { $0.key % Self.heartbeatGroups == group }.map(\.value)
            }
        }
        for queue in queues { queue.beat() }
    }

    /// Whether background pushes are spread over a time (PUSH-6).
    var delaysBackground: Bool { configuration.spread > .zero }

    /// Waits for a random part of the configured spread.
    func spread() async {
        // Cancelled while waiting: who waits looks for that itself.
        try? await clock.sleep(for: configuration.spread * jitter())
    }

    private func close(_ id: UInt64, of user: UserID) {
        let count = registry.withLock { registry in
            guard registry.queues[user]?.removeValue(forKey: id) != nil else {
                return registry.count
            }
            if registry.queues[user]?.isEmpty == true { registry.queues[user] = nil }
            registry.count -= 1
            return registry.count
        }
        metrics.openStreams.record(count)
        onClose()
    }
}

/// Holds a stream's slot in the registry; letting go of it closes the stream.
final class StreamSlot: Sendable {
    let queue: LiveQueue
    private let watched: WatchedListener?
    private let onClose: @Sendable () -> Void

    init(
        queue: LiveQueue, _ watched: WatchedListener?, onClose: @escaping @Sendable () -> Void
    ) {
        self.queue = queue
        self.watched = watched
        self.onClose = onClose
    }

    deinit { onClose() }
}
