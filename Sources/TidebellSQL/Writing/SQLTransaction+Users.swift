// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension SQLTransaction {
    package func makeUser(
        of account: AccountID, in container: ContainerKey, recordName: String, at now: Instant
    ) throws -> StoredUser {
        if let user = try user(of: account, in: container) { return user }
        hasQuietChange = true
        try connection.run(
            """
            INSERT INTO user (account, container, environment, record_name, joined_at)
            VALUES (?, ?, ?, ?, ?)
            """,
            account, container.container, container.environment, recordName, now
        )
        return StoredUser(
            id: UserID(rawValue: connection.lastInsertedID), account: account,
            container: container, recordName: recordName, createdAt: now
        )
    }

    package func setPermission(
        _ permission: ApplicationPermission, of user: UserID, to answer: PermissionAnswer?
    ) throws {
        hasQuietChange = true
        guard let answer else {
            return try connection.run(
                "DELETE FROM application_permission WHERE user = ? AND permission = ?",
                user, permission
            )
        }
        try connection.run(
            """
            INSERT INTO application_permission (user, permission, status) VALUES (?, ?, ?)
            ON CONFLICT (user, permission) DO UPDATE SET status = excluded.status
            """,
            user, permission, answer
        )
    }

    package func setRole(_ role: String, of user: UserID, isGiven: Bool) throws {
        try connection.run(
            isGiven
                ? "INSERT INTO user_role (user, role) VALUES (?, ?) ON CONFLICT DO NOTHING"
                : "DELETE FROM user_role WHERE user = ? AND role = ?",
            user, role
        )
    }
}
