// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func subscriptions(
        _ ids: Set<ExactText>?, of user: UserID, in database: DatabaseID
    ) throws -> [StoredSubscription] {
        guard let ids else {
            return try readSubscriptions(
                try connection.rows(StoredSubscription.ofUser, database, user) { try $0.value(0) }
            ).subscriptions
        }
        guard !ids.isEmpty else { return [] }
        return try readSubscriptions(
            try connection.rows(StoredSubscription.ofUserAmong, JSONText(ids), database, user) {
                try $0.value(0)
            }
        ).subscriptions
    }

    package func subscriptionIDs(of user: UserID, in database: DatabaseID) throws -> [ExactText] {
        // All of it stands in the index, which pages of the table do not touch.
        try connection.rows(
            """
            SELECT subscription_id FROM subscription WHERE database = ? AND user = ?
            ORDER BY subscription_id
            """,
            database, user
        ) { ExactText($0.text(0)) }
    }

    package func subscriptionSummaries(
        of user: UserID, in database: DatabaseID
    ) throws -> [SubscriptionSummary] {
        try connection.rows(
            """
            SELECT subscription_id, kind, duplicate_hash, bytes FROM subscription
            WHERE database = ? AND user = ?
            """,
            database, user
        ) { columns in
            SubscriptionSummary(
                id: columns.text(0), kind: try columns.value(1),
                duplicateHash: UInt64(bitPattern: columns.int(2)), bytes: Int(columns.int(3))
            )
        }
    }

    package func subscriptionOutlines(
        in database: DatabaseID, zoneName: String, triggers: Set<SubscriptionTrigger>,
        after serial: SubscriptionSerial, limit: Int
    ) throws -> [SubscriptionOutline] {
        let beginnings = triggers.filter(\.isBeginning)
        var terms = triggers
        if !beginnings.isEmpty {
            // What a beginning finds is not to be found twice.
            terms = triggers.filter { trigger in
                guard !trigger.isBeginning else { return false }
                guard let beginning = trigger.term.beginning else { return true }
                return !beginnings.contains(
                    SubscriptionTrigger(
                        recordType: trigger.recordType, term: beginning, isBeginning: true))
            }
        }
        return try connection.rows(
            StoredSubscription.concerned, database, zoneName, JSONText(terms: terms), serial,
            limit, JSONText(beginnings: beginnings)
        ) { SubscriptionOutline(serial: try $0.value(0), user: try $0.value(1)) }
    }

    package func subscriptions(
        _ serials: [SubscriptionSerial], byteLimit: Int
    ) throws -> (
        subscriptions: [StoredSubscription], damaged: [SubscriptionSerial], bytes: Int
    ) {
        let found = try readSubscriptions(serials, byteLimit: byteLimit)
        return (found.subscriptions, found.undecodable + found.unreadable, found.bytes)
    }

    /// Reads subscriptions in the order of `serials`, one by one where a page of one cannot
    /// be read, so that it is alone in that.
    func readSubscriptions(
        _ serials: [SubscriptionSerial], byteLimit: Int = .max
    ) throws -> FoundSubscriptions {
        var found = FoundSubscriptions()
        guard !serials.isEmpty else { return found }
        let whole = try connection.unlessDamaged {
            var page = FoundSubscriptions()
            try read(serials, into: &page, byteLimit: byteLimit)
            return page
        }
        if let whole { return whole }
        for serial in serials where found.bytes < byteLimit {
            let one = try connection.unlessDamaged {
                var next = found
                try read([serial], into: &next, byteLimit: byteLimit)
                return next
            }
            if let one { found = one } else { found.unreadable.append(serial) }
        }
        return found
    }

    private func read(
        _ serials: [SubscriptionSerial], into found: inout FoundSubscriptions, byteLimit: Int
    ) throws {
        try connection.each(
            StoredSubscription.withSerials, JSONText(serials.map(\.rawValue))
        ) { columns in
            found.bytes += columns.byteCount(2)
            do {
                found.subscriptions.append(try StoredSubscription(columns))
            } catch let error where !(error is DatabaseError) {
                found.undecodable.append(try columns.value(3))
            }
            return found.bytes < byteLimit
        }
    }

    package func querySubscriptions(
        of container: ContainerKey, after serial: SubscriptionSerial, limit: Int
    ) throws -> [SubscriptionSerial] {
        try connection.rows(
            """
            SELECT subscription.serial FROM subscription
                CROSS JOIN database ON database.id = subscription.database
            WHERE subscription.serial > ? AND subscription.kind = 'query'
                AND database.container = ? AND database.environment = ?
            ORDER BY subscription.serial LIMIT ?
            """,
            serial, container.container, container.environment, limit
        ) { try $0.value(0) }
    }

    package func subscribers(in database: DatabaseID, limit: Int) throws -> [UserID] {
        try connection.rows(
            "SELECT DISTINCT user FROM subscription WHERE database = ? ORDER BY user LIMIT ?",
            database, limit
        ) { try $0.value(0) }
    }
}

/// Subscriptions as the store holds them, with those that are damaged.
struct FoundSubscriptions {
    var subscriptions: [StoredSubscription] = []
    /// Those whose JSON is not that of a subscription.
    var undecodable: [SubscriptionSerial] = []
    /// Those on pages that cannot be read: they cannot be removed either.
    var unreadable: [SubscriptionSerial] = []
    /// The bytes of JSON that were read.
    var bytes = 0
}

extension StoredSubscription {
    /// What stands for the zone of a subscription without one.
    static let noZone = ""

    private static let columns =
        "subscription.database, subscription.user, subscription.json, subscription.serial"

    fileprivate static let ofUser = """
        SELECT serial FROM subscription WHERE database = ? AND user = ?
        ORDER BY subscription_id
        """
    fileprivate static let ofUserAmong = """
        SELECT subscription.serial FROM json_each(?) AS wanted CROSS JOIN subscription
        WHERE subscription.database = ? AND subscription.user = ?
            AND subscription.subscription_id = \(JSONText.string("wanted.value"))
        ORDER BY subscription.subscription_id
        """

    fileprivate static let withSerials = """
        SELECT \(columns) FROM json_each(?) AS wanted
            CROSS JOIN subscription ON subscription.serial = wanted.value
        ORDER BY wanted.key
        """

    /// What is found by its trigger names the index: without statistics SQLite
    /// takes the primary key instead and reads all subscriptions of the database.
    static let byTrigger = "subscription INDEXED BY subscription_trigger"

    /// The serials of those of a database that go with a zone.
    static let onZone = """
        SELECT serial FROM \(byTrigger)
        WHERE database = ? AND kind IN ('zone', 'query') AND zone_name = ?
        """

    /// Each part is one range of the index `subscription_trigger`.
    ///
    /// Of one trigger there may be a million: each range is read no further than
    /// the page may reach, and only the page's rows are read beyond the index, of which
    /// the JSON is the last column: it is not touched.
    static let concerned = """
        SELECT subscription.serial, subscription.user FROM (
            SELECT serial FROM \(byTrigger)
            WHERE database = ?1 AND kind = 'database' AND serial > ?4
            UNION ALL
            SELECT serial FROM \(byTrigger)
            WHERE database = ?1 AND kind = 'zone' AND zone_name = ?2 AND serial > ?4
            UNION ALL
            \(concernedQueries(zoneName: "'\(noZone)'"))
            UNION ALL
            \(concernedQueries(zoneName: "?2"))
            UNION ALL
            \(concernedQueries(zoneName: "'\(noZone)'", areBeginnings: true))
            UNION ALL
            \(concernedQueries(zoneName: "?2", areBeginnings: true))
            ORDER BY serial LIMIT ?5
        ) AS page CROSS JOIN subscription ON subscription.serial = page.serial
        ORDER BY page.serial
        """

    /// The first query subscriptions of each trigger. Those of a beginning are all looked at
    /// in the index, since it is in the order of the terms.
    private static func concernedQueries(zoneName: String, areBeginnings: Bool = false) -> String {
        func text(_ index: Int) -> String { JSONText.string("wanted.value ->> \(index)") }
        let term =
            areBeginnings ? "term >= \(text(1)) AND term < \(text(2))" : "term = \(text(1))"
        let wanted = areBeginnings ? "?6" : "?3"
        return """
            SELECT found.serial
            FROM json_each(\(wanted)) AS wanted CROSS JOIN subscription AS found ON found.serial IN (
                SELECT serial FROM \(byTrigger)
                WHERE database = ?1 AND kind = 'query' AND zone_name = \(zoneName)
                    AND record_type = \(text(0)) AND \(term)
                    AND serial > ?4
                ORDER BY serial LIMIT ?5
            )
            """
    }

    /// Reads a row of a statement above.
    init(_ columns: Columns) throws {
        try self.init(
            serial: try columns.value(3),
            database: try columns.value(0),
            user: try columns.value(1),
            encoded: columns.bytes(2)
        )
    }

    /// Whether the bytes of a row are a subscription.
    static func isReadable(_ encoded: [UInt8]) -> Bool {
        let (nobody, nowhere) = (UserID(rawValue: 0), DatabaseID(rawValue: 0))
        let read = try? StoredSubscription(
            serial: .start, database: nowhere, user: nobody, encoded: encoded)
        return read != nil
    }
}
