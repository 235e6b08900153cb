// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension SQLTransaction {
    package func putSubscriptions(_ subscriptions: [StoredSubscription]) throws {
        hasQuietChange = true
        for stored in subscriptions {
            let keys = stored.keys
            let encoded = stored.encoded
            let serial: SubscriptionSerial? = try connection.first(
                """
                INSERT INTO subscription
                    (database, user, subscription_id, kind, zone_name, record_type, term,
                    duplicate_hash, bytes, json)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (database, user, subscription_id) DO UPDATE SET
                    kind = excluded.kind, zone_name = excluded.zone_name,
                    record_type = excluded.record_type, term = excluded.term,
                    duplicate_hash = excluded.duplicate_hash, bytes = excluded.bytes,
                    json = excluded.json
                RETURNING serial
                """,
                stored.database, stored.user, stored.subscription.subscriptionID, keys.kind,
                keys.zoneName ?? StoredSubscription.noZone, keys.recordType,
                keys.terms.first ?? .none, Int64(bitPattern: keys.duplicateHash), encoded.count,
                JSONText(bytes: encoded)
            ) { try $0.value(0) }
            guard let serial else { preconditionFailure("what was saved has a serial") }
            try connection.run(Self.forgetTerms("serial = ?"), serial)
            try keys.putFurtherTerms(of: serial, in: stored.database, connection)
        }
        for database in Set(subscriptions.map(\.database)) { try countKinds(in: database) }
    }

    package func removeSubscriptions(
        _ ids: Set<ExactText>, of user: UserID, in database: DatabaseID
    ) throws {
        hasQuietChange = true
        for id in ids {
            let which = "database = ? AND user = ? AND subscription_id = ?"
            try connection.run(Self.forgetTerms(which), database, user, id.text)
            try connection.run("DELETE FROM subscription WHERE \(which)", database, user, id.text)
        }
        try countKinds(in: database)
    }

    package func removeSubscriptions(
        onZone name: String, in database: DatabaseID
    ) throws -> [StoredSubscription] {
        let serials: [SubscriptionSerial] = try connection.rows(
            StoredSubscription.onZone, database, name
        ) { try $0.value(0) }
        guard !serials.isEmpty else { return [] }
        let found = try readSubscriptions(serials)
        // NB: with one on a damaged page the zone stays: SQLite writes no more then.
        let removed = serials.filter { !found.unreadable.contains($0) }
        let which = "serial IN (SELECT wanted.value FROM json_each(?) AS wanted)"
        for sql in [Self.forgetTerms(which), "DELETE FROM subscription WHERE \(which)"] {
            try connection.run(sql, SQLList(removed.map(\.rawValue)))
        }
        try countKinds(in: database)
        return found.subscriptions
    }

    /// Removes what the account's users subscribed to, in databases of whomever; returns
    /// how many subscriptions went.
    package func removeSubscriptions(of account: AccountID) throws -> Int {
        let databases: [DatabaseID] = try connection.rows(
            """
            SELECT DISTINCT subscription.database
            FROM user
            CROSS JOIN database ON database.container = user.container
                AND database.environment = user.environment
                AND database.owner IN (0, user.id)
            CROSS JOIN subscription ON subscription.database = database.id
                AND subscription.user = user.id
            WHERE user.account = ?
            """,
            account
        ) { try $0.value(0) }
        var count = 0
        for database in databases {
            let which = "database = ? AND user IN (SELECT id FROM user WHERE account = ?)"
            try connection.run(Self.forgetTerms(which), database, account)
            count += try connection.rows(
                "DELETE FROM subscription WHERE \(which) RETURNING 1", database, account
            ) { $0.int(0) }.count
            try countKinds(in: database)
        }
        return count
    }

    /// Makes the database's kinds those that exist: one look into the index each.
    private func countKinds(in database: DatabaseID) throws {
        try connection.run(Self.countKinds, database)
    }

    /// What takes the further terms of some subscriptions away, before these go.
    static func forgetTerms(_ which: String) -> String {
        """
        DELETE FROM subscription_term
        WHERE serial IN (SELECT serial FROM subscription WHERE \(which))
        """
    }

    private static let countKinds: String = {
        let kinds = WireSubscription.Kind.allCases.map { kind in
            """
            CASE WHEN EXISTS (SELECT 1 FROM \(StoredSubscription.byTrigger)
                WHERE subscription.database = database.id AND kind = '\(kind.rawValue)')
                THEN \(kind.bit) ELSE 0 END
            """
        }
        return """
            UPDATE database SET subscription_kinds = \(kinds.joined(separator: " + "))
            WHERE id = ?
            """
    }()
}

extension SubscriptionKeys {
    /// Files a subscription under its terms but the first.
    package func putFurtherTerms(
        of serial: SubscriptionSerial, in database: DatabaseID, _ connection: any SQLConnection
    ) throws {
        guard let recordType else { return }
        for term in terms.dropFirst() {
            try connection.run(
                """
                INSERT INTO subscription_term (database, zone_name, record_type, term, serial)
                VALUES (?, ?, ?, ?, ?)
                """,
                database, zoneName ?? StoredSubscription.noZone, recordType, term, serial)
        }
    }
}
