// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension SQLReading {
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
            try connection.rows(StoredSubscription.ofUserAmong, SQLList(ids), database, user) {
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
        try connection.rows(
            StoredSubscription.concerned, database, zoneName,
            SQLList(triggers.filter { $0.end == nil }, haveEnds: false), serial, limit,
            SQLList(triggers.filter { $0.end != nil }, haveEnds: true)
        ) { SubscriptionOutline(serial: try $0.value(0), user: try $0.value(1)) }
    }

    package func termFamilies(
        in database: DatabaseID, zoneName: String, recordType: String, limit: Int
    ) throws -> Set<TermFamily>? {
        var families: Set<TermFamily> = []
        for sql in [StoredSubscription.nextTerm, StoredSubscription.nextFurtherTerm] {
            for zone in [StoredSubscription.noZone, zoneName] {
                var start = SubscriptionTerm.never
                // One look for each family: the next one begins after the last of its terms.
                while let term = try connection.first(
                    sql, database, zone, recordType, start,
                    read: { SubscriptionTerm(rawValue: $0.text(0)) })
                {
                    guard let family = TermFamily(of: term) else {
                        // What is nobody's is after what was asked for.
                        start = SubscriptionTerm(rawValue: term.rawValue + " ")
                        continue
                    }
                    families.insert(family)
                    guard families.count <= limit else { return nil }
                    start = family.terms.end
                }
            }
        }
        return families
    }

    package func subscriptions(
        _ serials: [SubscriptionSerial], byteLimit: Int
    ) throws -> (
        subscriptions: [StoredSubscription], damaged: [SubscriptionSerial], bytes: Int
    ) {
        let found = try readSubscriptions(serials, byteLimit: byteLimit)
        return (found.subscriptions, found.undecodable + found.unreadable, found.bytes)
    }

    package func allSubscriptions(
        in database: DatabaseID, limit: Int, byteLimit: Int
    ) throws -> (subscriptions: [StoredSubscription], bytes: Int)? {
        // All of it stands in the index: of a database with many nothing else is read.
        let serials: [SubscriptionSerial] = try connection.rows(
            StoredSubscription.inDatabase, database, limit + 1
        ) { try $0.value(0) }
        guard serials.count <= limit else { return nil }
        let found = try readSubscriptions(serials.sorted(), byteLimit: byteLimit)
        guard found.bytes < byteLimit, found.undecodable.isEmpty, found.unreadable.isEmpty else {
            return nil
        }
        return (found.subscriptions, found.bytes)
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
            StoredSubscription.withSerials, SQLList(serials.map(\.rawValue))
        ) { columns in
            found.bytes += columns.byteCount(2)
            do {
                found.subscriptions.append(try StoredSubscription(columns))
            } catch  where !connection.isOwn(error) {
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
            AND subscription.subscription_id = \(SQLList.text("wanted.value"))
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

    fileprivate static let inDatabase =
        "SELECT serial FROM \(byTrigger) WHERE database = ? LIMIT ?"

    /// The serials of those of a database that go with a zone.
    static let onZone = """
        SELECT serial FROM \(byTrigger)
        WHERE database = ? AND kind IN ('zone', 'query') AND zone_name = ?
        """

    /// Each part is one range of the index `subscription_trigger`, or of the table of further
    /// terms.
    ///
    /// Of one trigger there may be a million. Where it is of one term its range is read no further
    /// than the page may reach; one of several terms is read whole for each page, which is kept only
    /// as far as the page reaches. Only the page's rows are read beyond the index, of which
    /// the JSON is the last column: it is not touched.
    static let concerned = """
        SELECT subscription.serial, subscription.user FROM (
            SELECT DISTINCT serial FROM (
                SELECT serial FROM \(byTrigger)
                WHERE database = ?1 AND kind = 'database' AND serial > ?4
                UNION ALL
                SELECT serial FROM \(byTrigger)
                WHERE database = ?1 AND kind = 'zone' AND zone_name = ?2 AND serial > ?4
                \(concernedQueries)
            ) AS page ORDER BY serial LIMIT ?5
        ) AS page CROSS JOIN subscription ON subscription.serial = page.serial
        ORDER BY page.serial
        """

    /// The first query subscriptions of each trigger. Those of several terms are all looked at
    /// in the index for each page, since it is in the order of the terms and a page in that of
    /// serials: so many pages cost so many times all of them.
    private static let concernedQueries: String = {
        func text(_ index: Int) -> String { SQLList.text("wanted.value ->> \(index)") }
        var parts = ""
        for source in ["\(byTrigger) WHERE kind = 'query' AND", "subscription_term WHERE"] {
            for zoneName in ["'\(noZone)'", "?2"] {
                for (wanted, term) in [
                    ("?3", "term = \(text(1))"),
                    ("?6", "term >= \(text(1)) AND term < \(text(2))"),
                ] {
                    parts += """
                        UNION ALL
                        SELECT found.serial
                        FROM json_each(\(wanted)) AS wanted
                            CROSS JOIN subscription AS found ON found.serial IN (
                                SELECT serial FROM \(source) database = ?1
                                    AND zone_name = \(zoneName) AND record_type = \(text(0))
                                    AND \(term) AND serial > ?4
                                ORDER BY serial LIMIT ?5
                            )

                        """
                }
            }
        }
        return parts
    }()

    /// The first term of query subscriptions that is not before another.
    fileprivate static let nextTerm = """
        SELECT term FROM \(byTrigger)
        WHERE database = ? AND kind = 'query' AND zone_name = ? AND record_type = ? AND term > ?
        ORDER BY term LIMIT 1
        """
    fileprivate static let nextFurtherTerm = """
        SELECT term FROM subscription_term
        WHERE database = ? AND zone_name = ? AND record_type = ? AND term > ?
        ORDER BY term LIMIT 1
        """

    /// Reads a row of a statement above.
    package init(_ columns: Columns) throws {
        try self.init(
            serial: try columns.value(3),
            database: try columns.value(0),
            user: try columns.value(1),
            encoded: columns.bytes(2)
        )
    }

    /// Reads the bytes of a row, of which nobody asks whose it is; nil where they are no
    /// subscription.
    package init?(readable encoded: [UInt8]) {
        let (nobody, nowhere) = (UserID(rawValue: 0), DatabaseID(rawValue: 0))
        let read = try? StoredSubscription(
            serial: .start, database: nowhere, user: nobody, encoded: encoded)
        guard let read else { return nil }
        self = read
    }
}
