// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func devices(of user: UserID) throws -> [StoredDevice] {
        try connection.rows(
            StoredDevice.ofUser, user, read: StoredDevice.init
        )
    }

    package func registeredDevices(of user: UserID) throws -> [RegisteredDevice] {
        try connection.rows(StoredDevice.ofUserWithDate, user) { columns in
            RegisteredDevice(
                device: try StoredDevice(columns), registeredAt: try columns.value(4)
            )
        }
    }

    package func reachableUsers(among users: Set<UserID>) throws -> [UserID: StoredUser] {
        guard !users.isEmpty else { return [:] }
        let found = try connection.rows(
            StoredUser.reachable, SQLList(users.map(\.rawValue).sorted()), read: StoredUser.init
        )
        return Dictionary(found.map { ($0.id, $0) }) { first, _ in first }
    }

    /// Those of the users who have a device.
    package func usersWithDevices(among users: Set<UserID>) throws -> Set<UserID> {
        guard !users.isEmpty else { return [] }
        return Set(
            try connection.rows(
                """
                SELECT wanted.value FROM json_each(?) AS wanted
                WHERE EXISTS (SELECT 1 FROM device WHERE device.user = wanted.value)
                """, SQLList(users.map(\.rawValue).sorted())
            ) { try $0.value(0) })
    }

    /// ``reachableUsers(among:)`` where devices are in another database.
    package func reachableUsers(
        among users: Set<UserID>, withDevices: Set<UserID>
    ) throws -> [UserID: StoredUser] {
        guard !users.isEmpty else { return [:] }
        let found = try connection.rows(
            StoredUser.enabledAndWhetherToldToWebhooks, SQLList(users.map(\.rawValue).sorted())
        ) { (user: try StoredUser($0), isTold: $0.bool(StoredUser.columnCount)) }
        return Dictionary(
            found.filter { $0.isTold || withDevices.contains($0.user.id) }
                .map { ($0.user.id, $0.user) }
        ) { first, _ in first }
    }

    /// Those of the devices that there are, each with its user.
    package func users(ofDevices devices: Set<DeviceKey>) throws -> [DeviceKey: UserID] {
        guard !devices.isEmpty else { return [:] }
        let found: [(DeviceKey, UserID)] = try connection.rows(
            """
            SELECT device.key, device.user
            FROM json_each(?) AS wanted CROSS JOIN device ON device.key = wanted.value
            """, SQLList(devices.map(\.rawValue).sorted())
        ) { (try $0.value(0), try $0.value(1)) }
        return Dictionary(found) { first, _ in first }
    }

    /// Whether a client ID is a user's device's, which the push token reaches if there is one.
    package func holds(
        _ user: UserID, clientID: String, pushToken token: String?
    ) throws -> Bool {
        try connection.first(
            """
            SELECT 1 FROM device WHERE client_id = ?1 AND user = ?2
                AND (?3 IS NULL OR EXISTS (
                    SELECT 1 FROM push_token_device
                    WHERE push_token_device.token = ?3 AND push_token_device.device = device.key
                ))
            LIMIT 1
            """, clientID, user, token
        ) { _ in true } ?? false
    }

    package func holders(
        ofClientID clientID: String, pushToken token: String?, besides user: StoredUser
    ) throws -> Set<UserID> {
        let ofClient: [UserID] = try connection.rows(
            """
            SELECT user FROM device
            WHERE client_id = ? AND container = ? AND environment = ? AND user <> ?
            """,
            clientID, user.container.container, user.container.environment, user.id
        ) { try $0.value(0) }
        guard let token else { return Set(ofClient) }
        let notified: [UserID] = try connection.rows(
            """
            SELECT theirs.id FROM push_token_device
                CROSS JOIN device ON device.key = push_token_device.device
                CROSS JOIN user AS theirs ON theirs.id = device.user
            WHERE push_token_device.token = ? AND theirs.account <> ?
            """,
            token, user.account
        ) { try $0.value(0) }
        return Set(ofClient + notified)
    }
}

extension StoredDevice {
    private static let columns =
        "device.key, device.user, device.client_id, device.acknowledged"
    fileprivate static let ofUser = "SELECT \(columns) FROM device WHERE user = ? ORDER BY key"
    /// The devices of a user, each with the moment of its registration.
    fileprivate static let ofUserWithDate = """
        SELECT \(columns), device.registered_at FROM device WHERE user = ? ORDER BY key
        """
    /// The device of a client in a container.
    static let ofClient = """
        SELECT \(columns) FROM device
        WHERE client_id = ? AND container = ? AND environment = ?
        """

    /// Whether the user has more devices than a number: a key if so.
    static let beyond = "SELECT key FROM device WHERE user = ? LIMIT 1 OFFSET ?"

    /// Reads a row of a statement above.
    package init(_ columns: Columns) throws {
        self.init(
            key: try columns.value(0),
            user: try columns.value(1),
            clientID: columns.text(2),
            acknowledged: try columns.value(3)
        )
    }
}
