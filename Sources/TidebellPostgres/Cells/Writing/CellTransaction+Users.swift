// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

// What is in the cell of a user.
extension CellTransaction {
    private func write<Result>(
        of user: UserID, _ body: (SQLTransaction) throws -> Result
    ) throws -> Result {
        try write(in: cells.cell(of: user), body)
    }

    /// Writes something in the cell of each of the keys.
    private func write<Key, Value>(
        _ values: [Key: Value], in place: (Key) -> CellNumber,
        _ body: (SQLTransaction, [Key: Value]) throws -> Void
    ) throws {
        let byCell = Dictionary(grouping: values) { place($0.key) }
        for (cell, part) in byCell.sorted(by: { $0.key < $1.key }) {
            try write(in: cell) {
                try body($0, Dictionary(uniqueKeysWithValues: part.map { ($0.key, $0.value) }))
            }
        }
    }

    // MARK: Badge

    func putBadges(_ badges: [UserID: Int]) throws {
        try write(badges, in: cells.cell(of:)) { try $0.putBadges($1) }
    }

    // MARK: Device

    func registerDevice(
        clientID: String, user: UserID, container: ContainerKey, atMost limit: Int, at now: Instant
    ) throws -> StoredDevice {
        try write(in: cells.cell(of: user), bringing: [user]) {
            try $0.registerDevice(
                clientID: clientID, user: user, container: container, atMost: limit, at: now)
        }
    }

    func acknowledge(_ device: DeviceKey, upTo sequence: NotificationSequence) throws {
        try write(in: cells.cell(of: device)) { try $0.acknowledge(device, upTo: sequence) }
    }

    func markDevicesSeen(_ devices: [DeviceKey], at now: Instant) throws {
        // Of users who are here, with devices that may be gone.
        guard isWide else { return try own.markDevicesSeen(devices, at: now) }
        let byCell = Dictionary(grouping: devices, by: cells.cell(of:))
        for (cell, part) in byCell.sorted(by: { $0.key < $1.key }) {
            try write(in: cell) { try $0.markDevicesSeen(part, at: now) }
        }
    }

    func removeDevice(clientID: String, of user: UserID) throws {
        try write(of: user) { try $0.removeDevice(clientID: clientID, of: user) }
    }

    func giveUp(clientID: String, pushToken token: String?, of user: UserID) throws {
        try write(of: user) { try $0.giveUp(clientID: clientID, pushToken: token, of: user) }
    }

    func removeDevices(unseenSince moment: Instant, limit: Int) throws -> Int {
        try removeEverywhere(limit: limit) {
            try $0.removeDevices(unseenSince: moment, limit: $1)
        }
    }

    // MARK: Explanation

    func appendDeliveries(_ deliveries: [Delivery]) throws {
        let byCell = Dictionary(grouping: deliveries) { cells.cell(of: $0.user) }
        for (cell, part) in byCell.sorted(by: { $0.key < $1.key }) {
            try write(in: cell) { try $0.appendDeliveries(part) }
        }
    }

    // MARK: Notification history

    func markNotificationsRead(_ sequences: Set<NotificationSequence>, of user: UserID)
        throws
    {
        try write(of: user) { try $0.markNotificationsRead(sequences, of: user) }
    }

    func markReadMarksReported(_ positions: Set<NotificationSequence>, of user: UserID)
        throws
    {
        try write(of: user) { try $0.markReadMarksReported(positions, of: user) }
    }

    // MARK: Notification log

    /// Each user's in their cell, which has a row of them: how far the log is cut off is noted there.
    func appendNotifications(
        _ notifications: [StoredNotification], unlessAfter ends: [UserID: NotificationSequence]
    ) throws -> [StoredNotification] {
        let byCell = Dictionary(grouping: notifications) { cells.cell(of: $0.user) }
        var appended: [UserID: ArraySlice<StoredNotification>] = [:]
        for (cell, part) in byCell.sorted(by: { $0.key < $1.key }) {
            let written = try write(in: cell, bringing: Set(part.map(\.user))) {
                try $0.appendNotifications(part, unlessAfter: ends)
            }
            guard byCell.count > 1 else { return written }
            for (user, own) in Dictionary(grouping: written, by: \.user) {
                appended[user] = own[...]
            }
        }
        return notifications.compactMap { appended[$0.user]?.popFirst() }
    }

    func removeNotifications(createdBefore moment: Instant, limit: Int) throws -> Int {
        try removeEverywhere(limit: limit) {
            try $0.removeNotifications(createdBefore: moment, limit: $1)
        }
    }

    func trimNotifications(of user: UserID, to count: Int, limit: Int) throws -> Int {
        try write(of: user) { try $0.trimNotifications(of: user, to: count, limit: limit) }
    }

    // MARK: Permissions and roles

    func setPermission(
        _ permission: ApplicationPermission, of user: UserID, to answer: PermissionAnswer?
    ) throws {
        try write(in: cells.cell(of: user), bringing: [user]) {
            try $0.setPermission(permission, of: user, to: answer)
        }
    }

    func setRole(_ role: String, of user: UserID, isGiven: Bool) throws {
        try write(in: cells.cell(of: user), bringing: [user]) {
            try $0.setRole(role, of: user, isGiven: isGiven)
        }
    }

    // MARK: Push token

    func putPushToken(
        _ token: StoredPushToken, notifying device: DeviceKey, in session: SessionID?
    ) throws {
        let cell = cells.cell(of: device)
        let now = token.registeredAt
        let earlier = try reader(in: cell).access(of: token.token, to: device)
        let lasts = try earlier.map { try !lasting(among: [$0], at: now).isEmpty }
        try write(in: cell) {
            try $0.putPushToken(
                token, notifying: device, in: session, ending: .ended(lasts == false))
        }
    }

    func acknowledge(
        courierToken token: String, of user: UserID, upTo sequence: NotificationSequence
    ) throws {
        try write(of: user) {
            try $0.acknowledge(courierToken: token, of: user, upTo: sequence)
        }
    }

    func movePushTargets(_ cursors: [PushTargetKey: NotificationSequence]) throws {
        guard isWide else { return try own.movePushTargets(cursors) }
        try write(cursors, in: { cells.cell(of: $0.device) }) { try $0.movePushTargets($1) }
    }

    func withdrawPushTarget(_ key: PushTargetKey, at now: Instant) throws {
        try write(in: cells.cell(of: key.device)) {
            // Looked at where it is written, so that nobody registers it again meanwhile.
            guard try pushTarget(key, at: now) == nil else { return }
            try $0.unqueue(key.token, for: [key.device.rawValue])
        }
    }

    /// A step of one user removes it where they are: who else has it, in another cell, finds out by themselves that it is none any
    /// more.
    func removePushToken(_ token: String, registeredUpTo moment: Instant) throws -> Bool {
        // It may have been registered since for another container's user, in another cell.
        guard try pushToken(token).map({ $0.registeredAt <= moment }) ?? true else { return false }
        guard isWide else { return try own.removePushToken(token, registeredUpTo: moment) }
        let isGone = try writeEverywhere {
            try $0.removePushToken(token, registeredUpTo: moment)
        }
        return isGone.allSatisfy(\.self)
    }

    func trimPushTokens(of user: UserID, to limit: Int) throws -> Int {
        try write(of: user) { try $0.trimPushTokens(of: user, to: limit) }
    }

    // MARK: Queues of webhooks

    func advanceWebhook(_ id: WebhookID, to cursors: [UserID: NotificationSequence]) throws
        -> Set<UserID>
    {
        var waiting: Set<UserID> = []
        try write(cursors, in: cells.cell(of:)) {
            waiting.formUnion(try $0.advanceWebhook(id, to: $1))
        }
        return waiting
    }
}
