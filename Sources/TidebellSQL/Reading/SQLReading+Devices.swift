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

    package func holders(
        ofClientID clientID: String, pushToken token: String?, besides user: UserID
    ) throws -> Set<UserID> {
        let ofClient: [UserID] = try connection.rows(
            """
            SELECT device.user FROM user CROSS JOIN device
                ON device.client_id = ?2 AND device.container = user.container
                AND device.environment = user.environment
            WHERE user.id = ?1 AND device.user <> ?1
            """,
            user, clientID
        ) { try $0.value(0) }
        guard let token else { return Set(ofClient) }
        let notified: [UserID] = try connection.rows(
            """
            SELECT theirs.id FROM push_token_device
                CROSS JOIN device ON device.key = push_token_device.device
                CROSS JOIN user AS theirs ON theirs.id = device.user
                CROSS JOIN user AS own ON own.id = ?1
            WHERE push_token_device.token = ?2 AND theirs.account <> own.account
            """,
            user, token
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
