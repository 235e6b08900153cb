// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import TidebellCore
package import TidebellScheduling
import TidebellWire
import Metrics

/// A notification for whoever polls a courier.
package struct CourierMessage: Sendable, Hashable {
    /// The payload, the whole body of the answer.
    package let payload: [UInt8]
    let sequence: NotificationSequence
    /// In whose log it stands.
    let user: UserID
    /// The courier's token, which has a position of its own.
    let token: String
    /// The devices that the token reaches.
    let devices: [StoredDevice]
    /// Those of them that the notification is for.
    let recipients: [StoredDevice]

    /// What the journal notes once the answer was written.
    package func deliveries(at now: Instant) -> [Delivery] {
        recipients.map { device in
            Delivery(
                notification: sequence, user: device.user, clientID: device.clientID,
                route: .courier, at: now, answer: Delivery.sent
            )
        }
    }
}

/// The couriers of CloudKit JS: long polls, each answered with one notification
/// (web-services 5.12).
///
/// A mailbox holds nothing itself. It is the log after the position of its push token,
/// one for each device that the token reaches, so it survives restarts, its order is the
/// log's, neither another tab nor a stream of the same device takes anything from it, and
/// it is bounded by the log's retention and by
/// ``PushConfiguration/waitingPerCourier``.
package final class CourierMailboxes: PushRoute {
    private struct Registry {
        var byUser: [UserID: [UInt64: WakeSignal]] = [:]
        var byCourier: [String: [UInt64: WakeSignal]] = [:]
        var nextID: UInt64 = 0
    }

    private let store: any Store
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Instant
    private let watch: ListenerWatch?
    private let limit: Int
    private let metrics: PushMetrics
    private let registry = Mutex(Registry())

    /// Creates mailboxes.
    package init(
        store: any Store,
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Instant,
        configuration: PushConfiguration = PushConfiguration(),
        metrics: PushMetrics = PushMetrics(),
        watch: ListenerWatch? = nil
    ) {
        self.store = store
        self.clock = clock
        self.now = now
        self.watch = watch
        limit = configuration.waitingPerCourier
        self.metrics = metrics
    }

    /// Returns the account whose users the courier's token reaches, which are several where a
    /// page has several containers. Fails with `NOT_FOUND` as
    /// ``next(courier:waitingUpTo:unless:)`` does.
    package func owner(of courier: String) async throws -> AccountID {
        let now = now()
        return try await store.read { reader in
            let found = try reader.pushToken(courier: courier, at: now)
            guard let user = found?.devices.first?.user,
                let owner = try reader.users([user])[user]
            else { throw Self.unknownCourier }
            return owner.account
        }
    }

    /// Returns the oldest notification that no poll of the courier has
    /// acknowledged, waiting for one at most `hold`, and not after `end` was raised; nil
    /// when none came.
    ///
    /// A message stays the next one until ``acknowledge(_:)``: an answer that did
    /// not arrive is repeated. A capability that is unknown, or whose token reaches no
    /// device any more, fails with `NOT_FOUND`; one that ends during the wait gives nil.
    package func next(
        courier: String, waitingUpTo hold: Duration, unless end: WakeSignal? = nil
    ) async throws -> CourierMessage? {
        if let message = try await look(into: courier).message { return message }
        guard hold > .zero else { return nil }
        return try await withThrowingTaskGroup(of: CourierMessage?.self) { group in
            group.addTask { try await self.wait(for: courier) }
            group.addTask { [clock] in
                try await clock.sleep(for: hold)
                return nil
            }
            if let end {
                group.addTask {
                    _ = await end.wait()
                    return nil
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// Marks a message, and with it all before it, as given out by its courier. To be
    /// called after the answer was written.
    package func acknowledge(_ message: CourierMessage, at now: Instant) async throws {
        let users = Set(message.devices.map(\.user)).union([message.user])
        let written = await store.write(ofEach: users) { users, transaction in
            // The oldest for all devices of the user was given out, so none of them has one
            // left before it.
            if users.contains(message.user) {
                try transaction.acknowledge(
                    courierToken: message.token, of: message.user, upTo: message.sequence
                )
            }
            let devices = message.devices.filter { users.contains($0.user) }
            try transaction.markDevicesSeen(devices.map(\.key), at: now)
        }
        if let error = written.failed[message.user] { throw error }
        metrics.courierDeliveries.increment()
    }

    /// Wakes the polls that wait for the users of the notifications, which must be
    /// in the log already.
    package func publish(
        _ notifications: [StoredNotification], after ends: [UserID: NotificationSequence]
    ) {
        lookAgain(for: Set(notifications.map(\.user)))
    }

    package func lookAgain(for users: Set<UserID>?) {
        let wakes = registry.withLock { registry in
            guard let users else { return registry.byUser.values.flatMap(\.values) }
            return users.flatMap { registry.byUser[$0].map { Array($0.values) } ?? [] }
        }
        for wake in wakes { wake.raise() }
    }

    /// Wakes waiting polls when the courier's token got another device: CloudKit
    /// JS registers a page's second container while the first one's poll waits.
    package func refresh(courier: String) {
        let wakes = registry.withLock { registry in
            registry.byCourier[courier].map { Array($0.values) } ?? []
        }
        for wake in wakes { wake.raise() }
    }

    // MARK: -

    /// What one look finds.
    private struct Look: Sendable {
        var token: String
        /// Whom the token reaches.
        var users: Set<UserID>
        var message: CourierMessage?
    }

    private func look(into courier: String) async throws -> Look {
        let (limit, now) = (limit, now())
        return try await store.read { reader in
            guard let (token, devices) = try reader.pushToken(courier: courier, at: now),
                !devices.isEmpty
            else { throw Self.unknownCourier }
            var firsts: [UserID: Pending] = [:]
            for device in devices {
                guard let first = try Pending(for: device, from: reader, limit: limit) else {
                    continue
                }
                let known = firsts[device.user]?.notification.sequence
                if let known, known < first.notification.sequence { continue }
                firsts[device.user] = first
            }
            // Those of several users, which a page's containers have, have no order.
            let message = firsts.values.min { $0.rank < $1.rank }.map { oldest in
                let notification = oldest.notification
                return CourierMessage(
                    payload: oldest.payload, sequence: notification.sequence,
                    user: notification.user,
                    token: token.token, devices: devices,
                    recipients: devices.filter {
                        $0.user == notification.user && $0.clientID != notification.originClient
                    }
                )
            }
            return Look(token: token.token, users: Set(devices.map(\.user)), message: message)
        }
    }

    /// What a poll gets whose courier does not exist, or not any more: the client makes
    /// a new push token.
    private static var unknownCourier: WireError {
        WireError(.notFound, "no such courier; create a push token to get one")
    }

    /// Waits without end; nil when the task is cancelled, or the courier ended.
    private func wait(for courier: String) async throws -> CourierMessage? {
        let wake = WakeSignal()
        let id = registry.withLock { registry in
            registry.nextID += 1
            registry.byCourier[courier, default: [:]][registry.nextID] = wake
            return registry.nextID
        }
        var watched: Set<UserID> = []
        var ending: WatchedListener?
        defer { withExtendedLifetime(ending) {} }
        defer { stopWaiting(id, at: courier, for: watched) }
        while true {
            let look: Look
            do {
                look = try await self.look(into: courier)
            } catch let error as WireError where error == Self.unknownCourier {
                return nil
            }
            if let message = look.message { return message }
            let unwatched = look.users.subtracting(watched)
            if ending == nil {
                // The next look finds that the token reaches nobody.
                ending = watch?.watch([.courier(token: look.token)]) { wake.raise() }
            }
            guard unwatched.isEmpty else {
                raise(wake, id, for: unwatched)
                watched.formUnion(unwatched)
                // Something may have come before anybody watched: look again.
                continue
            }
            guard await wake.wait() else { return nil }
        }
    }

    private func raise(_ wake: WakeSignal, _ id: UInt64, for users: Set<UserID>) {
        registry.withLock { registry in
            for user in users { registry.byUser[user, default: [:]][id] = wake }
        }
    }

    private func stopWaiting(_ id: UInt64, at courier: String, for users: Set<UserID>) {
        registry.withLock { registry in
            invariant(registry.byCourier[courier]?[id] != nil, "a poll that waits is registered")
            registry.byCourier[courier]?[id] = nil
            if registry.byCourier[courier]?.isEmpty == true { registry.byCourier[courier] = nil }
            for user in users {
                registry.byUser[user]?[id] = nil
                if registry.byUser[user]?.isEmpty == true { registry.byUser[user] = nil }
            }
        }
    }
}

/// What a device's part of a mailbox gives next.
private struct Pending {
    var notification: StoredNotification
    /// Whether older ones were dropped, because too many waited.
    var followsDropped: Bool

    /// Reads the oldest of the newest `limit`; nil when nothing waits.
    init?(for device: StoredDevice, from reader: some NotificationLogReading, limit: Int) throws {
        func first(after sequence: NotificationSequence) throws -> StoredNotification? {
            try reader.notifications(
                for: device.user, after: sequence, excludingOrigin: device.clientID, limit: 1
            ).first
        }
        guard let oldest = try first(after: device.acknowledged) else { return nil }
        let kept = try reader.notificationPosition(
            for: device.user, after: device.acknowledged, excludingOrigin: device.clientID,
            newest: limit
        )
        guard let kept, kept > oldest.sequence else {
            (notification, followsDropped) = (oldest, false)
            return
        }
        let position = NotificationSequence(rawValue: kept.rawValue - 1)
        (notification, followsDropped) = (try first(after: position) ?? oldest, true)
    }

    /// Which of several users' comes first: the one made first.
    var rank: (Instant, Int64) { (notification.createdAt, notification.user.rawValue) }

    /// What is given out: after a loss it is marked as incomplete.
    var payload: [UInt8] {
        let payload = notification.wholePayload
        return followsDropped ? WirePushPayload.markedAsPruned(payload) : payload
    }
}
