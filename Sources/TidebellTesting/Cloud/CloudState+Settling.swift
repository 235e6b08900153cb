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
            "devices are not connected: \(disconnected.map(\.device.name))"
        } _: { [self] in
            _ = try running()
            let waiting = disconnected
            guard !waiting.isEmpty else { return true }
            // A device that is connecting needs no push; the others sleep on the clock.
            if waiting.contains(where: { $0.state == .down }), let next = clock.deadlines.first {
                await clock.advance(to: next)
            }
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
        for device in devices where device.isOnline {
            for (container, start) in device.registered {
                let ids = try await notificationIDs(for: device, in: container, after: start)
                missing += ids.filter {
                    !device.inbox.contains($0) && !device.link.pushFaults.holdsBack($0)
                }.map {
                    "\($0) for \(device.name)"
                }
            }
        }
        return missing
    }

    private func undeliveredText() async -> String {
        do {
            return "pushes are under way: \(try await undelivered())"
        } catch {
            return "the cloud cannot be read: \(error)"
        }
    }

    /// The IDs of the notifications the log holds for a device.
    private func notificationIDs(
        for device: TestDevice,
        in container: String,
        after start: Int64
    ) async throws -> [String] {
        let page = Self.page
        let clientID = device.deviceID
        return try await read(as: device, in: container) { reader, user in
            var ids: [String] = []
            var cursor = NotificationSequence(rawValue: start)
            while true {
                let notifications = try reader.notifications(
                    for: user.id,
                    after: cursor,
                    excludingOrigin: clientID,
                    limit: page
                )
                ids += notifications.map(\.notificationID)
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
