// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLTransaction {
    package func adoptLostDatabases(limit: Int) throws {
        for owner in try lostOwners(limit: limit) { try adopt(owner) }
        try connection.run(
            """
            INSERT OR IGNORE INTO removed_account (account, removed_at)
            SELECT DISTINCT account, 0 FROM user WHERE account NOT IN (SELECT id FROM account)
            """
        )
    }

    /// Brings back the row of a user who is gone and has databases.
    package func adopt(_ owner: LostOwner) throws {
        // The number of an account that never was: no account gets it later.
        try connection.run("INSERT INTO account (name, created_at) VALUES ('', 0)")
        let account = AccountID(rawValue: connection.lastInsertedID)
        try connection.run("DELETE FROM account WHERE id = ?", account)
        for recordName in [owner.recordName, "_lost-\(owner.id.rawValue)"].compactMap({ $0 }) {
            try connection.run(
                """
                INSERT OR IGNORE INTO user (id, account, container, environment, record_name)
                VALUES (?, ?, ?, ?, ?)
                """,
                owner.id, account, owner.container.container, owner.container.environment,
                recordName
            )
        }
    }

    package func beginErasing(_ account: AccountID, _ erasure: RemovedAccount.Erasure) throws {
        try connection.run(
            "UPDATE removed_account SET erasure = ? WHERE account = ?", erasure, account
        )
    }

    package func setErasurePosition(_ position: Position, of account: AccountID) throws {
        try connection.run(
            "UPDATE removed_account SET position = ? WHERE account = ?", position, account
        )
    }

    package func noteErased(_ kind: ErasedKind, _ count: Int, of account: AccountID) throws {
        guard count > 0 else { return }
        try connection.run(
            """
            INSERT INTO erased (account, kind, count) VALUES (?, ?, ?)
            ON CONFLICT (account, kind) DO UPDATE SET count = erased.count + excluded.count
            """,
            account, kind, count
        )
    }

    /// Takes out what was noted as erased of an account, to be noted elsewhere.
    package func takeErased(of account: AccountID) throws -> [ErasedKind: Int] {
        let erased = try erased(of: account)
        try connection.run("DELETE FROM erased WHERE account = ?", account)
        return erased
    }

    package func eraseRows(of user: StoredUser, at now: Instant, limit: Int) throws -> Bool {
        // What the person deleted before may still be there, of zones without a trace too.
        guard try removeDeletedZones(limit: limit, at: now) < limit else { return false }
        let databases: [DatabaseID] = try connection.rows(
            "SELECT id FROM database WHERE owner = ?", user.id
        ) { try $0.value(0) }
        for database in databases {
            guard try eraseZones(of: database, user, at: now, limit: limit) else { return false }
            try eraseDatabase(database)
        }
        for (kind, statement) in Self.ownRows {
            let count = try connection.rows(statement, user.id, limit) { $0.int(0) }.count
            if let kind { try noteErased(kind, count, of: user.account) }
            guard count < limit else { return false }
        }
        // Who made a change that others are still to be notified of is nobody now.
        try connection.run(
            "UPDATE outbox SET origin_user = NULL WHERE origin_user = ?", user.id
        )
        try connection.run("DELETE FROM webhook_queue WHERE user = ?", user.id)
        try connection.run("DELETE FROM user WHERE id = ?", user.id)
        try noteErased(.users, 1, of: user.account)
        return true
    }

    /// Removes about `limit` rows of the zones of a database; returns whether all are gone.
    private func eraseZones(
        of database: DatabaseID, _ user: StoredUser, at now: Instant, limit: Int
    ) throws -> Bool {
        let zones: [(key: ZoneKey, lives: Bool)] = try connection.rows(
            "SELECT key, deletion IS NULL FROM zone WHERE database = ? LIMIT ?", database, limit
        ) { (try $0.value(0), $0.bool(1)) }
        var left = limit
        for zone in zones {
            let records = try connection.rows(Self.zoneRecords, zone.key, left) { $0.bool(0) }
            try noteErased(.records, records.count { $0 }, of: user.account)
            left -= records.count
            guard left > 0 else { return false }
            let files: [(String, AssetContent)] = try connection.rows(
                Self.zoneFiles, zone.key, left
            ) { ($0.text(0), try $0.value(1)) }
            for file in files { try markUnused(file.1, since: now) }
            try noteErased(.files, files.count, of: user.account)
            left -= files.count
            guard left > 0 else { return false }
            left -= try connection.rows(Self.zoneReferences, zone.key, left) { $0.int(0) }.count
            guard left > 0 else { return false }
            left -= try removeShareRows(of: zone.key, limit: left)
            guard left > 0 else { return false }
            left -= try removeFieldIndexes(of: zone.key, limit: left)
            guard left > 0 else { return false }
            try removeFieldKey(of: zone.key)
            try connection.run("DELETE FROM zone WHERE key = ?", zone.key)
            try noteErased(.zones, zone.lives ? 1 : 0, of: user.account)
            left -= 1
            guard left > 0 else { return false }
        }
        return zones.count < limit
    }

    /// Removes a database without zones, with what else refers to it.
    private func eraseDatabase(_ database: DatabaseID) throws {
        try connection.run("DELETE FROM outbox WHERE database = ?", database)
        try connection.run("DELETE FROM outbox_queue WHERE database = ?", database)
        try connection.run(Self.forgetTerms("database = ?"), database)
        try connection.run("DELETE FROM subscription WHERE database = ?", database)
        try connection.run("DELETE FROM shared_zone WHERE database = ?", database)
        try connection.run("DELETE FROM database WHERE id = ?", database)
    }

    private static let zoneRecords = """
        DELETE FROM record WHERE zone = ?1 AND position IN
            (SELECT position FROM record WHERE zone = ?1 ORDER BY position LIMIT ?2)
        RETURNING deleted = 0
        """
    private static let zoneFiles = """
        DELETE FROM asset_use WHERE zone = ?1 AND (record, content) IN
            (SELECT record, content FROM asset_use WHERE zone = ?1 LIMIT ?2)
        RETURNING record, content
        """
    private static let zoneReferences = """
        DELETE FROM reference WHERE zone = ?1 AND (source, target, kind) IN
            (SELECT source, target, kind FROM reference WHERE zone = ?1 LIMIT ?2)
        RETURNING 1
        """

    /// The size of a user's kept answers, which are gone by then.
    private static let answerSize = """
        DELETE FROM kept_answer_size WHERE user IN
            (SELECT user FROM kept_answer_size WHERE user = ? LIMIT ?) RETURNING 1
        """

    /// What else belongs to a user; each removes at most so many rows.
    private static let ownRows: [(kind: ErasedKind?, statement: String)] = [
        (
            .notifications,
            """
            DELETE FROM notification WHERE sequence IN
                (SELECT sequence FROM notification WHERE user = ? LIMIT ?) RETURNING 1
            """
        ),
        (
            .answers,
            """
            DELETE FROM kept_answer WHERE number IN
                (SELECT number FROM kept_answer WHERE user = ? LIMIT ?) RETURNING 1
            """
        ),
        (
            .explanations,
            """
            DELETE FROM told WHERE number IN
                (SELECT number FROM told WHERE user = ? LIMIT ?) RETURNING 1
            """
        ),
        (
            .explanations,
            """
            DELETE FROM delivery WHERE number IN
                (SELECT number FROM delivery WHERE user = ? LIMIT ?) RETURNING 1
            """
        ),
        (
            .permissions,
            """
            DELETE FROM application_permission WHERE (user, permission) IN
                (SELECT user, permission FROM application_permission WHERE user = ? LIMIT ?)
            RETURNING 1
            """
        ),
        (
            nil,
            """
            DELETE FROM private_field WHERE (user, record_type, field) IN
                (SELECT user, record_type, field FROM private_field WHERE user = ? LIMIT ?)
            RETURNING 1
            """
        ),
        (
            nil,
            """
            DELETE FROM user_role WHERE (user, role) IN
                (SELECT user, role FROM user_role WHERE user = ? LIMIT ?)
            RETURNING 1
            """
        ),
        (
            nil,
            """
            DELETE FROM awaited_upload WHERE token_hash IN
                (SELECT token_hash FROM awaited_upload WHERE owner = ? LIMIT ?) RETURNING 1
            """
        ),
        (
            nil,
            """
            DELETE FROM awaited_upload WHERE token_hash IN
                (SELECT token_hash FROM awaited_upload WHERE user = ? LIMIT ?) RETURNING 1
            """
        ),
        (
            nil,
            """
            DELETE FROM share_grant WHERE (zone, user, share) IN
                (SELECT zone, user, share FROM share_grant WHERE user = ? LIMIT ?) RETURNING 1
            """
        ),
        (
            nil,
            """
            DELETE FROM share_outsider WHERE (zone, share, user) IN
                (SELECT zone, share, user FROM share_outsider WHERE user = ? LIMIT ?) RETURNING 1
            """
        ),
        (
            nil,
            "DELETE FROM badge WHERE user IN (SELECT user FROM badge WHERE user = ? LIMIT ?) RETURNING 1"
        ),
        (nil, answerSize),
    ]

    package func endErasing(_ account: AccountID) throws {
        try connection.run("DELETE FROM removed_account WHERE account = ?", account)
    }
}
