// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

// What is in the cell of a user: the log of notifications, devices and their push tokens, badge, permissions and roles.
extension CellReading {
    func reader(of user: UserID) throws -> any SQLReading {
        try reader(in: cells.cell(of: user))
    }

    /// Reads of users in each cell that has some of them.
    func each<Result>(
        _ users: Set<UserID>, _ read: (any SQLReading, Set<UserID>) throws -> Result
    ) throws -> [Result] {
        try Dictionary(grouping: users, by: cells.cell(of:)).sorted { $0.key < $1.key }
            .map { try read(reader(in: $0), Set($1)) }
    }

    // MARK: Badge

    func badges(of users: Set<UserID>) throws -> [UserID: Int] {
        try each(users) { try $0.badges(of: $1) }.reduce(into: [:]) { all, part in
            all.merge(part) { first, _ in first }
        }
    }

    // MARK: Device

    func devices(of user: UserID) throws -> [StoredDevice] {
        try reader(of: user).devices(of: user)
    }

    func registeredDevices(of user: UserID) throws -> [RegisteredDevice] {
        try reader(of: user).registeredDevices(of: user)
    }

    /// A cell knows of those whose account has its sessions there, too; of the others, and of webhooks, the directory does.
    func reachableUsers(among users: Set<UserID>) throws -> [UserID: StoredUser] {
        var found: [UserID: StoredUser] = [:]
        for part in try each(users, { try $0.reachableUsers(among: $1) }) {
            found.merge(part) { first, _ in first }
        }
        let others = users.subtracting(found.keys)
        guard !others.isEmpty, !isAhead else { return found }
        let withDevices = try each(others) { try $0.usersWithDevices(among: $1) }
        let reachable = try directory.reachableUsers(
            among: others, withDevices: withDevices.reduce(into: []) { $0.formUnion($1) })
        return found.merging(reachable) { first, _ in first }
    }

    /// A device or a token may have come from a user of any cell. What is the user's already was given up by the others when it was
    /// registered.
    func holders(
        ofClientID clientID: String, pushToken token: String?, besides user: StoredUser
    ) throws -> Set<UserID> {
        guard
            try !reader(of: user.id).holds(user.id, clientID: clientID, pushToken: token)
        else { return [] }
        return try readers().reduce(into: []) { all, next in
            all.formUnion(
                try next.reader.holders(ofClientID: clientID, pushToken: token, besides: user)
                    .filter { cells.cell(of: $0) == next.cell })
        }
    }

    // MARK: Explanation

    func deliveries(of notification: NotificationSequence, to user: UserID, limit: Int)
        throws -> [Delivery]
    {
        try reader(of: user).deliveries(of: notification, to: user, limit: limit)
    }

    func replacement(
        of match: NotifiedMatch, in database: DatabaseID, origin client: String?
    ) throws -> String? {
        try reader(of: match.user).replacement(of: match, in: database, origin: client)
    }

    // MARK: Notification history

    func notificationHistory(
        of user: UserID, after position: NotificationSequence, marks: ReadMarks, limit: Int
    ) throws -> [HistoryEntry] {
        try reader(of: user).notificationHistory(
            of: user, after: position, marks: marks, limit: limit)
    }

    func notificationSequences(
        _ ids: Set<String>, of user: UserID, after position: NotificationSequence
    ) throws -> [String: NotificationSequence] {
        try reader(of: user).notificationSequences(ids, of: user, after: position)
    }

    // MARK: Notification log

    func notifications(
        for user: UserID, after sequence: NotificationSequence, excludingOrigin client: String?,
        limit: Int
    ) throws -> [StoredNotification] {
        try reader(of: user).notifications(
            for: user, after: sequence, excludingOrigin: client, limit: limit)
    }

    func notificationPosition(
        for user: UserID, after sequence: NotificationSequence, excludingOrigin client: String?,
        newest count: Int
    ) throws -> NotificationSequence? {
        try reader(of: user).notificationPosition(
            for: user, after: sequence, excludingOrigin: client, newest: count)
    }

    func newestNotifications(of users: Set<UserID>) throws -> [UserID: NotificationSequence] {
        try each(users) { try $0.newestNotifications(of: $1) }.reduce(into: [:]) { all, part in
            all.merge(part) { first, _ in first }
        }
    }

    func notificationHead(of user: UserID) throws -> NotificationSequence {
        try reader(of: user).notificationHead(of: user)
    }

    func notificationFloor(of user: UserID) throws -> NotificationSequence {
        try reader(of: user).notificationFloor(of: user)
    }

    func usersWithNotifications(moreThan count: Int, limit: Int) throws -> [UserID] {
        try concatenated(limit: limit, in: { cells.cell(of: $0) }) {
            try $0.usersWithNotifications(moreThan: count, limit: $1)
        }
    }

    // MARK: Permissions and roles

    func permission(_ permission: ApplicationPermission, of user: UserID) throws
        -> PermissionAnswer?
    {
        try reader(of: user).permission(permission, of: user)
    }

    func roles(of user: UserID) throws -> Set<String> {
        try reader(of: user).roles(of: user)
    }

    func users(withRole role: String, in container: ContainerKey, limit: Int) throws
        -> [StoredUser]
    {
        try merged(
            limit: limit, by: { $0.id.rawValue < $1.id.rawValue }, in: { cells.cell(of: $0.id) }
        ) {
            try $0.users(withRole: role, in: container, limit: limit)
        }
    }

    // MARK: Push token

    /// A page has one token for all its containers, whose users may be in different cells, each with a row of its own: the one
    /// that was registered last says what it is, of those that can be asked.
    func pushToken(_ token: String) throws -> StoredPushToken? {
        try cells.numbers.compactMap { cell in
            try ifReached { try reader(in: cell).pushToken(token) } ?? nil
        }.max { $0.registeredAt < $1.registeredAt }
    }

    func pushToken(courier: String, at now: Instant) throws -> (
        token: StoredPushToken, devices: [StoredDevice]
    )? {
        var token: StoredPushToken?
        var devices: [(device: StoredDevice, access: PushAccess)] = []
        for (cell, reader) in try readers() {
            guard
                let found = try reader.pushToken(courier: courier, at: now, reaching: .any)
            else { continue }
            token = token ?? found.token
            devices += found.devices.filter { cells.cell(of: $0.device.user) == cell }
        }
        guard let token else { return nil }
        let lasting = try self.lasting(among: Set(devices.map(\.access)), at: now)
        return (
            token,
            devices.filter { lasting.contains($0.access) }.map(\.device)
                .sorted { $0.key.rawValue < $1.key.rawValue }
        )
    }

    func devicesWithTokens(of users: Set<UserID>, at now: Instant) throws -> [DeviceTokens] {
        try each(users) { reader, users in
            var accesses: Set<PushAccess> = []
            let all = try reader.devicesWithTokens(of: users, at: now, reaching: .any) {
                accesses.insert($0)
                return true
            }
            let lasting = try self.lasting(among: accesses, at: now)
            guard lasting.count < accesses.count else { return all }
            return try reader.devicesWithTokens(of: users, at: now, reaching: .any) {
                lasting.contains($0)
            }
        }.joined().sorted { $0.user.rawValue < $1.user.rawValue }
    }

    func pushTarget(_ key: PushTargetKey, at now: Instant) throws -> PushTarget? {
        let found = try reader(in: cells.cell(of: key.device)).pushTarget(
            key, at: now, reaching: .any)
        guard let found, try !lasting(among: [found.access], at: now).isEmpty else {
            return nil
        }
        return found.target
    }

    /// Devices are where their users are, sessions where their accounts are. While the cell of a device is away, what its session says
    /// counts: nobody goes on receiving after a sign-out because a cell cannot be asked.
    func listening(among listeners: Set<Listener>, at now: Instant) throws -> Set<Listener> {
        var streams: [CellNumber: Set<DeviceKey>] = [:]
        var sessions: Set<SessionID> = []
        var couriers: Set<String> = []
        var found: Set<Listener> = []
        for listener in listeners {
            switch listener {
            case .stream(let device, let session):
                streams[cells.cell(of: device), default: []].insert(device)
                sessions.insert(session)
            case .apiToken:
                found.formUnion(try catalogue.listening(among: [listener], at: now))
            case .courier(let token): couriers.insert(token)
            }
        }
        let lastingSessions = try self.lastingSessions(sessions, at: now)
        var devices: Set<DeviceKey> = []
        for (cell, keys) in streams {
            let found = try ifReached { try reader(in: cell).users(ofDevices: keys).keys }
            devices.formUnion(found.map { Set($0) } ?? keys)
        }
        var accesses: [(token: String, access: PushAccess)] = []
        var isWhole = true
        for cell in couriers.isEmpty ? [] : cells.numbers {
            let found = try ifReached { try reader(in: cell).accesses(ofCouriers: couriers) }
            isWhole = isWhole && found != nil
            accesses += (found ?? []).filter { cells.cell(of: $0.access.user) == cell }
        }
        let reached = try self.lasting(among: Set(accesses.map(\.access)), at: now)
        let receiving = Set(accesses.filter { reached.contains($0.access) }.map(\.token))
        return found.union(
            listeners.filter { listener in
                switch listener {
                case .stream(let device, let session):
                    devices.contains(device) && lastingSessions.contains(session)
                case .apiToken: false
                case .courier(let token): receiving.contains(token) || !isWhole
                }
            })
    }

    /// What a cell answers; nil where it is away.
    @discardableResult
    func ifReached<Answer>(_ read: () throws -> Answer) throws -> Answer? {
        do {
            return try read()
        } catch {
            guard StoreUnavailable.meant(by: error) is StoreUnavailable else { throw error }
            return nil
        }
    }

    // MARK: Queues of webhooks and push tokens

    func webhookCursor(_ id: WebhookID, of user: UserID) throws -> NotificationSequence? {
        try reader(of: user).webhookCursor(id, of: user)
    }

    func queuedDeliveries(in queue: DeliveryQueue, limit: Int) throws -> [DeliveryPointer] {
        try concatenated(limit: limit, in: { cells.cell(of: $0) }) {
            try $0.queuedDeliveries(in: queue, limit: $1)
        }
    }
}
