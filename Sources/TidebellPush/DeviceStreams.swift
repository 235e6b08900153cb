// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore

/// The devices that hold a connection open, by user.
///
/// Publishing costs a small constant for each connected device of the user and
/// never waits: a device that reads too slowly loses its place in memory, not its
/// notifications, because the log has them.
package final class DeviceStreams: PushRoute {
    private struct Registry {
        var queues: [UserID: [UInt64: LiveQueue]] = [:]
        var count = 0
        var nextID: UInt64 = 0
    }

    let store: any Store
    let configuration: PushConfiguration
    let metrics: PushMetrics
    private let registry = Mutex(Registry())

    /// Creates an empty registry.
    package init(
        store: any Store,
        configuration: PushConfiguration = PushConfiguration(),
        metrics: PushMetrics = PushMetrics()
    ) {
        self.store = store
        self.configuration = configuration
        self.metrics = metrics
    }

    /// How many streams are open.
    package var openCount: Int { registry.withLock(\.count) }

    /// Opens a stream of the device's notifications after `sequence`: what the log
    /// has first, then what is published, without gap or duplicate, without what
    /// the device caused itself (SUB-46).
    ///
    /// The stream is live when this returns. It closes when it and its iterator
    /// are gone.
    package func open(
        device: StoredDevice, after sequence: NotificationSequence
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
        let seat = StreamSeat(queue: queue) { [weak self] in self?.close(id, of: device.user) }
        return DeviceStream(device: device, start: sequence, streams: self, seat: seat)
    }

    /// Hands notifications to the connected devices of their users, but not to
    /// their origin. They must be in the log already, and come in its order.
    package func publish(_ notifications: [StoredNotification]) {
        for notification in notifications {
            let queues = registry.withLock { registry in
                registry.queues[notification.user].map { Array($0.values) } ?? []
            }
            guard !queues.isEmpty else { continue }
            let live = LiveNotification(notification)
            for queue in queues where queue.clientID != notification.originClient {
                queue.append(live)
            }
        }
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
    }
}

/// Holds a stream's place in the registry; letting go of it closes the stream.
final class StreamSeat: Sendable {
    let queue: LiveQueue
    private let onClose: @Sendable () -> Void

    init(queue: LiveQueue, onClose: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.onClose = onClose
    }

    deinit { onClose() }
}
