// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func keptChanges(_ query: KeptChangeQuery, limit: Int) throws -> [KeptChange] {
        try connection.rows(
            KeptChange.newest, query.before ?? .max, query.container, query.environment,
            query.scope, query.account, query.zoneName, query.encodedEvent.map(JSONText.init),
            limit, read: KeptChange.init
        )
    }

    package func oldestKeptChange() throws -> Instant? {
        try connection.first("SELECT committed_at FROM outbox ORDER BY id LIMIT 1") {
            try $0.value(0)
        }
    }

    package func notifiedMatches(
        of change: Int64, to user: UserID?, limit: Int
    ) throws -> [NotifiedMatch] {
        guard let user else {
            return try connection.rows(
                NotifiedMatch.ofChange, change, limit, read: NotifiedMatch.init)
        }
        return try connection.rows(
            NotifiedMatch.ofChangeToUser, change, user, limit, read: NotifiedMatch.init
        )
    }

    package func notifiedMatches(notificationID: String, limit: Int) throws -> [NotifiedMatch] {
        try connection.rows(
            NotifiedMatch.ofNotification, notificationID, limit, read: NotifiedMatch.init
        )
    }

    package func deliveries(
        of notification: NotificationSequence, to user: UserID, limit: Int
    ) throws -> [Delivery] {
        let attempts = try connection.rows(
            Delivery.ofNotification, user, notification, Delivery.acknowledged, limit,
            read: Delivery.init
        )
        return attempts
            + (try connection.rows(
                Delivery.acknowledgements, user, notification, Delivery.acknowledged, limit,
                read: Delivery.init
            ))
    }

    package func replacement(
        of match: NotifiedMatch, in database: DatabaseID, origin client: String?
    ) throws -> String? {
        guard let collapseID = match.collapseID else { return nil }
        return try connection.first(
            """
            SELECT notification_id FROM notification
            WHERE user = ? AND database = ? AND subscription_id = ? AND collapse_id = ?
                AND origin_client IS ? AND sequence > ?
            ORDER BY sequence DESC LIMIT 1
            """,
            match.user, database, match.subscriptionID, collapseID, client, match.sequence
        ) { $0.text(0) }
    }
}

extension KeptChange {
    /// Reads backwards from the newest; what does not fit is passed over.
    fileprivate static let newest = """
        SELECT \(OutboxEntry.columns),
            \(OutboxEntry.isNotified)
        FROM outbox CROSS JOIN database ON database.id = outbox.database
        WHERE outbox.id < ?1
            AND (?2 IS NULL OR database.container = ?2)
            AND (?3 IS NULL OR database.environment = ?3)
            AND (?4 IS NULL OR database.scope = ?4)
            AND (?5 IS NULL OR database.owner = \(StoredDatabase.noOwner)
                OR database.owner IN (SELECT user.id FROM user WHERE user.account = ?5))
            AND (?6 IS NULL OR outbox.zone_name = ?6)
            AND (?7 IS NULL OR instr(outbox.event, ?7) > 0)
        ORDER BY outbox.id DESC LIMIT ?8
        """

    fileprivate init(_ columns: Columns) throws {
        self.init(entry: try OutboxEntry(columns), isNotified: columns.bool(10))
    }
}

extension NotifiedMatch {
    private static let columns = """
        change, user, subscription_id, record_name, notification_id, sequence, merged,
        collapse_id, background, payload_size, pruned, last
        """
    fileprivate static let ofChange = """
        SELECT \(columns) FROM told WHERE change = ? ORDER BY user, number LIMIT ?
        """
    fileprivate static let ofChangeToUser = """
        SELECT \(columns) FROM told WHERE change = ? AND user = ? ORDER BY number LIMIT ?
        """
    fileprivate static let ofNotification = """
        SELECT \(columns) FROM told WHERE notification_id = ? ORDER BY number LIMIT ?
        """

    fileprivate init(_ columns: Columns) throws {
        self.init(
            change: columns.int(0),
            user: try columns.value(1),
            subscriptionID: columns.text(2),
            recordName: columns.optionalText(3),
            notificationID: columns.text(4),
            sequence: try columns.value(5),
            isMerged: columns.bool(6),
            collapseID: columns.optionalText(7).map(CollapseID.init(rawValue:)),
            isBackground: columns.bool(8),
            payloadSize: Int(columns.int(9)),
            pruned: columns.optionalText(10)?.split(separator: ",").map(String.init) ?? [],
            isLast: columns.bool(11)
        )
    }
}

extension Delivery {
    private static let columns = "notification, user, client_id, route, at, answer"
    fileprivate static let ofNotification = """
        SELECT \(columns) FROM delivery
        WHERE user = ? AND notification = ? AND answer <> ? ORDER BY at, number LIMIT ?
        """
    /// An acknowledgement covers all before it.
    fileprivate static let acknowledgements = """
        SELECT notification, user, client_id, route, min(at), answer FROM delivery
        WHERE user = ? AND notification >= ? AND answer = ?
        GROUP BY client_id, route ORDER BY 5 LIMIT ?
        """

    fileprivate init(_ columns: Columns) throws {
        self.init(
            notification: try columns.value(0),
            user: try columns.value(1),
            clientID: columns.optionalText(2),
            route: try columns.value(3),
            at: try columns.value(4),
            answer: columns.text(5)
        )
    }
}
