// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteTransaction {
    func createAccount(named name: String, at now: Instant) throws -> AccountID {
        guard try account(named: name) == nil else {
            throw WireError(.exists, "an account named '\(name)' exists already")
        }
        try connection.run("INSERT INTO account (name, created_at) VALUES (?, ?)", name, now)
        return AccountID(rawValue: connection.lastInsertedID)
    }

    func removeAccount(_ account: AccountID, at now: Instant) throws {
        hasEndedAccess = true
        try connection.run(
            """
            INSERT INTO removed_account (account, name, removed_at)
            SELECT id, name, ? FROM account
            WHERE id = ? AND EXISTS (SELECT 1 FROM user WHERE user.account = account.id)
            """,
            now, account
        )
        let devices: [DeviceKey] = try connection.rows(
            """
            SELECT device.key FROM user CROSS JOIN device ON device.user = user.id
            WHERE user.account = ?
            """,
            account
        ) { try $0.value(0) }
        for device in devices { try removeDeviceWithTokens(device) }
        try removeAwaitedUploads(of: account)
        try noteErased(.devices, devices.count, of: account)
        try noteErased(.subscriptions, try removeSubscriptions(of: account), of: account)
        try connection.run("DELETE FROM web_token WHERE account = ?", account)
        try connection.run("DELETE FROM account WHERE id = ?", account)
    }

    func setPassword(_ hash: String?, of account: AccountID) throws {
        try connection.run("UPDATE account SET password = ? WHERE id = ?", hash, account)
    }

    func setDisabled(_ isDisabled: Bool, _ account: AccountID) throws {
        hasEndedAccess = true
        if isDisabled { try removeAwaitedUploads(of: account) }
        try connection.run("UPDATE account SET disabled = ? WHERE id = ?", isDisabled, account)
    }

    /// Forgets the uploads that an account asked for: their URLs carry no token that
    /// could have ended.
    private func removeAwaitedUploads(of account: AccountID) throws {
        try connection.run(
            "DELETE FROM awaited_upload WHERE user IN (SELECT id FROM user WHERE account = ?)",
            account
        )
    }

    func removeDevice(clientID: String, of user: UserID) throws {
        let devices: [DeviceKey] = try connection.rows(
            "SELECT key FROM device WHERE user = ? AND client_id = ?", user, clientID
        ) { try $0.value(0) }
        for device in devices { try removeDeviceWithTokens(device) }
    }

    func setPermission(
        _ permission: ApplicationPermission, of user: UserID, to answer: PermissionAnswer?
    ) throws {
        guard let answer else {
            return try connection.run(
                "DELETE FROM application_permission WHERE user = ? AND permission = ?",
                user, permission
            )
        }
        try connection.run(
            """
            INSERT OR REPLACE INTO application_permission (user, permission, status)
            VALUES (?, ?, ?)
            """,
            user, permission, answer
        )
    }

    func makeUser(
        of account: AccountID, in container: ContainerKey, recordName: String, at now: Instant
    ) throws -> StoredUser {
        if let user = try user(of: account, in: container) { return user }
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
}
