// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension SQLReading {
    package func user(
        of account: AccountID, in container: ContainerKey
    ) throws -> StoredUser? {
        try connection.first(
            StoredUser.ofAccount, account, container.container, container.environment,
            read: StoredUser.init
        )
    }

    package func user(recordName: String, in container: ContainerKey) throws -> StoredUser? {
        try connection.first(
            StoredUser.withRecordName, recordName, container.container, container.environment,
            read: StoredUser.init
        )
    }

    package func users(
        recordNames: Set<String>, in container: ContainerKey
    ) throws -> [StoredUser] {
        try connection.rows(
            StoredUser.withRecordNames, SQLList(recordNames), container.container,
            container.environment, read: StoredUser.init
        )
    }

    package func users(_ ids: Set<UserID>) throws -> [UserID: StoredUser] {
        guard !ids.isEmpty else { return [:] }
        let users = try connection.rows(
            StoredUser.withIDs, SQLList(ids.map(\.rawValue)), read: StoredUser.init
        )
        return Dictionary(users.map { ($0.id, $0) }) { first, _ in first }
    }

    package func users(of account: AccountID, limit: Int) throws -> [StoredUser] {
        try connection.rows(StoredUser.allOfAccount, account, limit, read: StoredUser.init)
    }

    package func permission(
        _ permission: ApplicationPermission, of user: UserID
    ) throws -> PermissionAnswer? {
        try connection.first(
            "SELECT status FROM application_permission WHERE user = ? AND permission = ?",
            user, permission
        ) { try $0.value(0) }
    }

    package func roles(of user: UserID) throws -> Set<String> {
        Set(try connection.rows("SELECT role FROM user_role WHERE user = ?", user) { $0.text(0) })
    }

    package func users(
        withRole role: String, in container: ContainerKey, limit: Int
    ) throws -> [StoredUser] {
        try connection.rows(
            """
            SELECT \(StoredUser.columns) FROM user_role CROSS JOIN user ON user.id = user_role.user
            WHERE user_role.role = ? AND user.container = ? AND user.environment = ?
            ORDER BY user.id LIMIT ?
            """,
            role, container.container, container.environment, limit, read: StoredUser.init
        )
    }
}

extension StoredUser {
    package static let columns =
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
    fileprivate static let withRecordNames = """
        SELECT \(columns) FROM json_each(?) AS wanted CROSS JOIN user
        WHERE user.record_name = \(SQLList.text("wanted.value"))
            AND user.container = ? AND user.environment = ?
        """
    fileprivate static let withIDs = """
        SELECT \(columns) FROM json_each(?) AS wanted CROSS JOIN user ON user.id = wanted.value
        """

    private static let hasWebhook = """
        EXISTS (
            SELECT 1 FROM webhook
            WHERE webhook.container = user.container AND webhook.environment = user.environment
        )
        """
    private static let enabled = """
        FROM json_each(?) AS wanted
            CROSS JOIN user ON user.id = wanted.value
            CROSS JOIN account ON account.id = user.account
        WHERE account.disabled = 0
        """
    /// A disabled webhook counts too: enabled again it goes on where it stopped.
    static let reachable = """
        SELECT \(columns) \(enabled) AND (
            EXISTS (SELECT 1 FROM device WHERE device.user = user.id) OR \(hasWebhook)
        )
        """
    /// Whoever may be reached by a device, and whether they are by a webhook.
    static let enabledAndWhetherToldToWebhooks = "SELECT \(columns), \(hasWebhook) \(enabled)"

    /// How many columns there are.
    package static let columnCount: Int32 = 6

    /// Reads a row of a statement above, or columns from `first` on.
    package init(_ columns: Columns) throws { try self.init(columns, from: 0) }

    package init(_ columns: Columns, from first: Int32) throws {
        self.init(
            id: try columns.value(first),
            account: try columns.value(first + 1),
            container: ContainerKey(
                container: columns.text(first + 2), environment: try columns.value(first + 3)
            ),
            recordName: columns.text(first + 4),
            createdAt: try columns.value(first + 5)
        )
    }
}
