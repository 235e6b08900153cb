// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension SQLTransaction {
    package func makeUser(
        of account: AccountID, in container: ContainerKey, recordName: String, at now: Instant
    ) throws -> StoredUser {
        try makeUser(
            of: account, in: container, recordName: recordName, at: now, numberedFrom: nil)
    }

    /// Makes a user whose number is that of the store's next one behind `first`; nil for the next one itself.
    package func makeUser(
        of account: AccountID, in container: ContainerKey, recordName: String, at now: Instant,
        numberedFrom first: Int64?
    ) throws -> StoredUser {
        if let user = try user(of: account, in: container) { return user }
        hasQuietChange = true
        if let first {
            let number = try connection.takeNumbers(1, of: "user")[0]
            let user = StoredUser(
                id: UserID(rawValue: first + number), account: account, container: container,
                recordName: recordName, createdAt: now)
            try putUsers([user])
            return user
        }
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

    /// Makes rows of users who were made elsewhere, where there are none yet.
    package func putUsers(_ users: some Sequence<StoredUser>) throws {
        for user in users {
            try connection.run(
                """
                INSERT OR IGNORE INTO user
                    (id, account, container, environment, record_name, joined_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                user.id, user.account, user.container.container, user.container.environment,
                user.recordName, user.createdAt
            )
        }
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
