// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TidebellCore
import TidebellWire

extension CloudState {
    /// Notifications that one look at the log reads.
    private static let page = 1000

    /// Returns when every change was delivered and every connected device has received
    /// what the log holds for it.
    func settle() async throws {
        try await connectDevices()
        _ = try await changes.first(within: safetyLimit) { [self] in
            await undeliveredText()
        } _: { [self] () -> Bool? in
            try await running().catchUp()
            guard try await running().isSettledWithApple() else { return nil }
            return try await undelivered().isEmpty ? true : nil
        }
        // What should not have been sent is not waited for; what is on its way all the
        // same gets the chance to arrive and be seen.
        await clock.advance(by: .zero)
    }

    /// Returns when every registered device that is online has its streams open,
    /// moving the clock over the time they wait before they try again.
    func connectDevices() async throws {
        _ = try await changes.first(within: safetyLimit) { [self] in
            "these devices did not connect for pushes: "
                + disconnected.map { device, state in
                    "\(device.name) (its stream is \(state))"
                }.joined(separator: ", ")
        } _: { [self] in
            _ = try running()
            let waiting = disconnected
            guard !waiting.isEmpty else { return true }
            // One that is on its way, or was woken and is not yet, reports what becomes of it. Not to the next
            // moment that anybody waits for: who is woken then may report nothing, and nobody looked again.
            let down = Set(waiting.filter { $0.state == .down }.map(\.device.deviceID))
            if let next = clock.nextReconnection(of: down) { await clock.advance(to: next) }
            return nil
        }
    }

    private var disconnected: [(device: TestDevice, state: DeviceLink.StreamState)] {
        devices.filter(\.isOnline).flatMap { device in
            device.registered.keys.compactMap { container in
                let state = device.link.streamState(of: container)
                return state == .live ? nil : (device, state)
            }
        }
    }

    /// The notifications that online devices should have received and did not, as
    /// texts.
    private func undelivered() async throws -> [String] {
        var missing: [String] = []
        let now = clock.now
        for device in devices where device.isOnline {
            for (container, start) in device.registered {
                let sent = try await notifications(for: device, in: container, after: start)
                missing += sent.filter {
                    !device.inbox.contains($0.id)
                        && !device.link.pushFaults.holdsBack($0.id, at: now)
                }.map { "push \($0.id) of subscription '\($0.subscriptionID)' to \(device.name)" }
            }
        }
        return missing
    }

    private func undeliveredText() async -> String {
        do {
            let waits = watchdog.waits.map { "\n  " + $0 }.joined()
            guard try await running().isSettledWithApple() else {
                return "settle() waits for pushes on their way to Apple's push service." + waits
            }
            let missing = try await undelivered().map { "\n  " + $0 }.joined()
            return "settle() waits for pushes that the server sent and that did not arrive:"
                + missing + waits
        } catch {
            return "the cloud cannot be read: \(error)"
        }
    }

    /// The notifications the log holds for a device.
    private func notifications(
        for device: TestDevice,
        in container: String,
        after start: Int64
    ) async throws -> [(id: String, subscriptionID: String)] {
        let page = Self.page
        let clientID = device.deviceID
        return try await read(as: device, in: container) { reader, user in
            var ids: [(id: String, subscriptionID: String)] = []
            var cursor = NotificationSequence(rawValue: start)
            while true {
                let notifications = try reader.notifications(
                    for: user.id,
                    after: cursor,
                    excludingOrigin: clientID,
                    limit: page
                )
                ids += notifications.map {
                    (id: $0.notificationID, subscriptionID: $0.subscriptionID)
                }
                guard let last = notifications.last, notifications.count == page else { return ids }
                cursor = last.sequence
            }
        } ?? []
    }

    /// The notification up to which a device has acknowledged everything.
    func acknowledged(_ device: TestDevice, in container: String) async throws -> Int64 {
        let clientID = device.deviceID
        let sequence = try await read(as: device, in: container) { reader, user in
            try reader.devices(of: user.id).first { $0.clientID == clientID }?.acknowledged
        }
        return (sequence ?? nil)?.rawValue ?? 0
    }

    /// Reads the store as the device's user; nil when the user has not come to the
    /// container yet.
    private func read<Value: Sendable>(
        as device: TestDevice,
        in container: String,
        _ body: @escaping @Sendable (any StoreReader, StoredUser) throws -> Value
    ) async throws -> Value? {
        let name = device.user
        let environment = CloudEnvironment(rawValue: device.environment.rawValue) ?? .development
        let key = ContainerKey(container: container, environment: environment)
        return try await running().store.read { reader in
            guard let name, let account = try reader.account(named: name),
                let user = try reader.user(of: account, in: key)
            else { return nil }
            return try body(reader, user)
        }
    }
}

extension CloudState {
    /// What keeps pushes from a device, as far as it shows: a sentence for each reason.
    func reasonsForNoPush(to device: TestDevice) async -> String {
        var reasons: [String] = []
        if device.registered.isEmpty {
            reasons.append(
                "It is not registered for pushes: call registerForRemoteNotifications() on it.")
        }
        if !device.isOnline { reasons.append("It is offline.") }
        for container in device.registered.keys.sorted() {
            guard await hasNoSubscription(device, container) else { continue }
            reasons.append("\(device.user ?? "No user") has no subscription in \(container).")
        }
        reasons += device.link.pushFaults.lines.map { "A fault waits for it: \($0)." }
        return reasons.map { $0 + "\n" }.joined()
    }

    private func hasNoSubscription(_ device: TestDevice, _ container: String) async -> Bool {
        let count = try? await read(as: device, in: container) { reader, user in
            let scopes: [DatabaseKey] = [DatabaseScope.private, .shared, .public].map { scope in
                DatabaseKey(
                    container: user.container, scope: scope, owner: scope == .public ? nil : user.id
                )
            }
            return try scopes.reduce(0) { sum, key in
                guard let database = try reader.database(key) else { return sum }
                return sum + (try reader.subscriptionIDs(of: user.id, in: database.id)).count
            }
        }
        return count == 0
    }
}
