// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLTransaction {
    package func createAccount(named name: String, at now: Instant) throws -> AccountID {
        try createAccount(named: name, at: now, numberedFrom: nil)
    }

    /// Creates an account whose number is that of the store's next one behind `first`; nil for the next one itself.
    package func createAccount(
        named name: String, at now: Instant, numberedFrom first: Int64?
    ) throws -> AccountID {
        guard try account(named: name) == nil else {
            throw WireError(.exists, "an account named '\(name)' exists already")
        }
        hasQuietChange = true
        if let first {
            let account = AccountID(
                rawValue: first + (try connection.takeNumbers(1, of: "account")[0]))
            try connection.run(
                "INSERT INTO account (id, name, created_at) VALUES (?, ?, ?)", account, name, now)
            return account
        }
        try connection.run("INSERT INTO account (name, created_at) VALUES (?, ?)", name, now)
        return AccountID(rawValue: connection.lastInsertedID)
    }

    /// Makes the row by which the sessions of an account are good, whose name and password another database has.
    package func putAccountCopy(
        _ account: AccountID, isDisabled: Bool, at now: Instant
    ) throws {
        hasQuietChange = true
        try connection.run(
            """
            INSERT INTO account (id, name, created_at, disabled) VALUES (?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET disabled = excluded.disabled
            WHERE account.disabled <> excluded.disabled
            """,
            account, "\(account.rawValue)", now, isDisabled)
    }

    /// Removes the sessions of an account, with the row by which they are good.
    package func removeSessions(of account: AccountID) throws {
        hasEndedAccess = true
        try connection.run("DELETE FROM web_token WHERE account = ?", account)
        try connection.run("DELETE FROM account WHERE id = ?", account)
    }

    package func putIdentity(_ identity: ForeignIdentity, of account: AccountID) throws {
        hasQuietChange = true
        try connection.run(
            "INSERT INTO account_identity (issuer, subject, account) VALUES (?, ?, ?)",
            identity.issuer, identity.subject, account
        )
    }

    package func removeAccount(_ account: AccountID, at now: Instant) throws {
        hasEndedAccess = true
        try connection.run(
            """
            INSERT INTO removed_account (account, name, removed_at)
            SELECT id, name, ? FROM account
            WHERE id = ? AND EXISTS (SELECT 1 FROM user WHERE user.account = account.id)
            """,
            now, account
        )
        try removeAwaitedUploads(of: account)
        try noteErased(.devices, try removeDevices(of: account), of: account)
        try noteErased(.subscriptions, try removeSubscriptions(of: account), of: account)
        try connection.run("DELETE FROM server_key WHERE account = ?", account)
        try connection.run("DELETE FROM account_address WHERE account = ?", account)
        try connection.run("DELETE FROM account_identity WHERE account = ?", account)
        try connection.run("DELETE FROM device_sign_in WHERE account = ?", account)
        try removeSessions(of: account)
    }

    /// Removes the devices of a person, with their push tokens; returns how many there were.
    package func removeDevices(of account: AccountID) throws -> Int {
        let devices: [DeviceKey] = try connection.rows(
            """
            SELECT device.key FROM user CROSS JOIN device ON device.user = user.id
            WHERE user.account = ?
            """,
            account
        ) { try $0.value(0) }
        for device in devices { try removeDeviceWithTokens(device) }
        return devices.count
    }

    package func setPassword(_ hash: String?, of account: AccountID) throws {
        hasQuietChange = true
        try connection.run("UPDATE account SET password = ? WHERE id = ?", hash, account)
    }

    package func setDisabled(_ isDisabled: Bool, _ account: AccountID) throws {
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
}
