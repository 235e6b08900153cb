// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func keptChanges(_ query: KeptChangeQuery, limit: Int) throws -> [KeptChange] {
        let numbers = try connection.numbering().outboxes
        return try connection.rows(
            KeptChange.newest, query.after.map(KeptChange.row) ?? .max, query.container,
            query.environment, query.scope, query.account, query.zoneName,
            query.encodedEvent.map(JSONText.init(bytes:)), limit
        ) { try KeptChange($0, numbers) }
    }

    package func keptChange(_ id: OutboxEntryID) throws -> KeptChange? {
        let numbers = try connection.numbering().outboxes
        return try connection.first(KeptChange.one, numbers.row(of: id), id.database) {
            try KeptChange($0, numbers)
        }
    }

    package func oldestKeptChange() throws -> Instant? {
        try connection.first("SELECT committed_at FROM outbox ORDER BY id LIMIT 1") {
            try $0.value(0)
        }
    }

    package func notifiedMatches(
        of change: OutboxEntryID, to user: UserID?, limit: Int
    ) throws -> [NotifiedMatch] {
        let row = try connection.numbering().outboxes.row(of: change)
        guard let user else {
            return try connection.rows(NotifiedMatch.ofChange, row, limit) {
                try NotifiedMatch($0, of: change)
            }
        }
        return try connection.rows(NotifiedMatch.ofChangeToUser, row, user, limit) {
            try NotifiedMatch($0, of: change)
        }
    }

    package func notifiedMatches(notificationID: String, limit: Int) throws -> [NotifiedMatch] {
        let numbers = try connection.numbering().outboxes
        return try connection.rows(NotifiedMatch.ofNotification, notificationID, limit) {
            try NotifiedMatch(withChange: $0, numbers)
        }
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
    private static let columns =
        "\(OutboxEntry.columns), \(OutboxEntry.isNotified), outbox.database"
    fileprivate static let one = "SELECT \(columns) FROM outbox WHERE id = ? AND database = ?"

    /// Reads backwards from the newest; what does not fit is passed over.
    fileprivate static let newest = """
        SELECT \(columns)
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

    fileprivate init(_ columns: Columns, _ numbers: OutboxNumbers) throws {
        let form = OutboxEntry.Form(
            database: try columns.value(OutboxEntry.columnCount + 1), numbers: numbers)
        self.init(
            entry: try OutboxEntry(columns, as: form),
            isNotified: columns.bool(OutboxEntry.columnCount),
            cursor: KeptChangeCursor(rawValue: String(columns.int(0)))
        )
    }

    /// The row at which a cursor stands: rows are numbered as changes were committed.
    fileprivate static func row(of cursor: KeptChangeCursor) -> Int64 {
        guard let row = Int64(cursor.rawValue) else {
            preconditionFailure("a cursor of kept changes is another engine's")
        }
        return row
    }
}

extension NotifiedMatch {
    private static let columns = """
        told.user, told.subscription_id, told.record_name, told.notification_id, told.sequence,
        told.merged, told.collapse_id, told.background, told.payload_size, told.pruned, told.last
        """
    private static let columnCount: Int32 = 11
    fileprivate static let ofChange = """
        SELECT \(columns) FROM told WHERE change = ? ORDER BY user, number LIMIT ?
        """
    fileprivate static let ofChangeToUser = """
        SELECT \(columns) FROM told WHERE change = ? AND user = ? ORDER BY number LIMIT ?
        """
    fileprivate static let ofNotification = """
        SELECT \(columns), told.change, outbox.database
        FROM told CROSS JOIN outbox ON outbox.id = told.change
        WHERE told.notification_id = ? ORDER BY told.number LIMIT ?
        """

    /// Reads a row that also has its change.
    fileprivate init(withChange columns: Columns, _ numbers: OutboxNumbers) throws {
        let database: DatabaseID = try columns.value(Self.columnCount + 1)
        let position = numbers.position(ofRow: columns.int(Self.columnCount), in: database)
        try self.init(columns, of: OutboxEntryID(database: database, position: position))
    }

    fileprivate init(_ columns: Columns, of change: OutboxEntryID) throws {
        self.init(
            change: change,
            user: try columns.value(0),
            subscriptionID: columns.text(1),
            recordName: columns.optionalText(2),
            notificationID: columns.text(3),
            sequence: try columns.value(4),
            isMerged: columns.bool(5),
            collapseID: columns.optionalText(6).map(CollapseID.init(rawValue:)),
            isBackground: columns.bool(7),
            payloadSize: Int(columns.int(8)),
            pruned: columns.optionalText(9)?.split(separator: ",").map(String.init) ?? [],
            isLast: columns.bool(10)
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
        SELECT \(columns) FROM (
            SELECT \(columns), row_number() OVER (
                PARTITION BY client_id, route ORDER BY at, number
            ) AS place
            FROM delivery WHERE user = ? AND notification >= ? AND answer = ?
        ) AS entry
        WHERE entry.place = 1 ORDER BY at LIMIT ?
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
