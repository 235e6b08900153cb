// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func signIn(named name: String) throws -> StoredSignIn? {
        try connection.first(
            "SELECT id, disabled, password FROM account WHERE name = ?", name
        ) {
            StoredSignIn(
                account: try $0.value(0), isDisabled: $0.bool(1), password: $0.optionalText(2)
            )
        }
    }

    package func disabledAccountNames() throws -> Set<String> {
        Set(try connection.rows("SELECT name FROM account WHERE disabled = 1") { $0.text(0) })
    }

    package func user(recordName: String, in container: ContainerKey) throws -> StoredUser? {
        try connection.first(
            StoredUser.withRecordName, recordName, container.container, container.environment,
            read: StoredUser.init
        )
    }

    package func permission(
        _ permission: ApplicationPermission, of user: UserID
    ) throws -> PermissionAnswer? {
        try connection.first(
            "SELECT status FROM application_permission WHERE user = ? AND permission = ?",
            user, permission
        ) { try $0.value(0) }
    }

    package func account(named name: String) throws -> AccountID? {
        try connection.first("SELECT id FROM account WHERE name = ?", name) { try $0.value(0) }
    }

    package func accountNames() throws -> [String] {
        try connection.rows("SELECT name FROM account ORDER BY name") { $0.text(0) }
    }

    package func user(
        of account: AccountID, in container: ContainerKey
    ) throws -> StoredUser? {
        try connection.first(
            StoredUser.ofAccount, account, container.container, container.environment,
            read: StoredUser.init
        )
    }

    package func users(of account: AccountID, limit: Int) throws -> [StoredUser] {
        try connection.rows(StoredUser.allOfAccount, account, limit, read: StoredUser.init)
    }

    package func users(_ ids: Set<UserID>) throws -> [UserID: StoredUser] {
        guard !ids.isEmpty else { return [:] }
        let users = try connection.rows(
            StoredUser.withIDs, JSONText(ids.map(\.rawValue)), read: StoredUser.init
        )
        return Dictionary(users.map { ($0.id, $0) }) { first, _ in first }
    }
}

extension SQLiteReading {
    package func reachableUsers(among users: Set<UserID>) throws -> [UserID: StoredUser] {
        guard !users.isEmpty else { return [:] }
        let found = try connection.rows(
            StoredUser.reachable, JSONText(users.map(\.rawValue)), read: StoredUser.init
        )
        return Dictionary(found.map { ($0.id, $0) }) { first, _ in first }
    }
}

extension StoredUser {
    private static let columns =
        "user.id, user.account, user.container, user.environment, user.record_name, user.joined_at"
    fileprivate static let ofAccount = """
        SELECT \(columns) FROM user WHERE account = ? AND container = ? AND environment = ?
        """
    fileprivate static let allOfAccount =
        "SELECT \(columns) FROM user WHERE account = ? ORDER BY id LIMIT ?"
    fileprivate static let withRecordName = """
        SELECT \(columns) FROM user
        WHERE record_name = ? AND container = ? AND environment = ?
        """
    fileprivate static let withIDs = """
        SELECT \(columns) FROM json_each(?) AS wanted CROSS JOIN user ON user.id = wanted.value
        """

    /// A disabled webhook counts too: enabled again it goes on where it stopped.
    fileprivate static let reachable = """
        SELECT \(columns) FROM json_each(?) AS wanted
            CROSS JOIN user ON user.id = wanted.value
            CROSS JOIN account ON account.id = user.account
        WHERE account.disabled = 0 AND (
            EXISTS (SELECT 1 FROM device WHERE device.user = user.id)
            OR EXISTS (
                SELECT 1 FROM webhook
                WHERE webhook.container = user.container
                    AND webhook.environment = user.environment
            )
        )
        """

    fileprivate init(_ columns: Columns) throws {
        self.init(
            id: try columns.value(0),
            account: try columns.value(1),
            container: ContainerKey(
                container: columns.text(2), environment: try columns.value(3)
            ),
            recordName: columns.text(4),
            createdAt: try columns.value(5)
        )
    }
}
