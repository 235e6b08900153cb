// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellSQL

/// Fills a table of subscriptions that was made anew, from what can be read of the old one.
///
/// Whose a subscription is, and what fires it, stands in indexes too. So a row that is lost stays
/// as a damaged subscription, which is listed, and which its user can save anew or delete.
struct SubscriptionMending {
    /// The JSON of a subscription of which no row was found.
    private static let lost = ""

    /// The connections of ``TableMending``; the table is empty.
    let writer: Connection
    let reader: Connection

    /// Fills the table, and notes what is lost.
    func run(_ mend: inout StoreMend) throws {
        let entriesAreComplete = try holdEntries()
        try copyTriggers()
        try copyRows(alsoUnknown: !entriesAreComplete)
        mend.damagedSubscriptions =
            try writer.first("SELECT count(*) FROM subscription WHERE json = ?", Self.lost) {
                Int($0.int(0))
            } ?? 0
    }

    /// Puts a lost subscription where each entry of the index of IDs is; returns whether
    /// all of it could be read.
    private func holdEntries() throws -> Bool {
        try eachFromBothEnds(
            "SELECT serial, database, user, subscription_id FROM subscription "
                + "INDEXED BY sqlite_autoindex_subscription_1",
            order: ["database", "user", "subscription_id"]
        ) { columns in
            try writer.run(
                """
                INSERT OR IGNORE INTO subscription
                    (serial, database, user, subscription_id, kind, zone_name, json)
                VALUES (?, ?, ?, ?, 'query', '', ?)
                """,
                columns.int(0), columns.int(1), columns.int(2), columns.text(3), Self.lost)
        }
    }

    /// What fires them, as the index of triggers knows it.
    private func copyTriggers() throws {
        _ = try eachFromBothEnds(
            "SELECT serial, database, kind, zone_name, record_type, term FROM subscription "
                + "INDEXED BY subscription_trigger",
            order: ["database", "kind", "zone_name", "record_type", "term", "serial"]
        ) { columns in
            try writer.run(
                """
                UPDATE subscription SET kind = ?3, zone_name = ?4, record_type = ?5, term = ?6
                WHERE serial = ?1 AND database = ?2
                """,
                columns.int(0), columns.int(1), columns.text(2), columns.text(3),
                columns.optionalText(4), columns.text(5))
        }
    }

    /// Puts rows where lost ones are: walking from both ends, and by their serials where
    /// neither comes.
    private func copyRows(alsoUnknown: Bool) throws {
        let rows = """
            SELECT serial, database, user, subscription_id, kind, zone_name, record_type, term,
                duplicate_hash, bytes, json
            FROM subscription
            """
        let isComplete = try eachFromBothEnds("\(rows) NOT INDEXED", order: ["serial"]) {
            try restore($0, alsoUnknown: alsoUnknown)
        }
        guard !isComplete else { return }
        let missing = try writer.rows(
            "SELECT serial FROM subscription WHERE json = ?", Self.lost
        ) { $0.int(0) }
        for serial in missing {
            _ = try each("\(rows) WHERE serial = ?", [serial]) {
                try restore($0, alsoUnknown: false)
            }
        }
    }

    /// NB: what the index of IDs does not know was deleted before, where that index is whole.
    private func restore(_ row: Columns, alsoUnknown: Bool) throws {
        let isHeld = try writer.first(
            "SELECT 1 FROM subscription WHERE serial = ?", row.int(0)
        ) { _ in true }
        guard isHeld != nil || alsoUnknown, StoredSubscription(readable: row.bytes(10)) != nil
        else {
            return
        }
        try writer.run(
            """
            INSERT OR IGNORE INTO subscription
                (serial, database, user, subscription_id, kind, zone_name, record_type, term,
                duplicate_hash, bytes, json)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (serial) DO UPDATE SET
                kind = excluded.kind, zone_name = excluded.zone_name,
                record_type = excluded.record_type, term = excluded.term,
                duplicate_hash = excluded.duplicate_hash, bytes = excluded.bytes,
                json = excluded.json
            WHERE database = excluded.database AND user = excluded.user
                AND subscription_id = excluded.subscription_id
            """,
            row.int(0), row.int(1), row.int(2), row.text(3), row.text(4), row.text(5),
            row.optionalText(6), row.text(7), row.int(8), row.int(9), row.text(10))
    }

    /// Calls `body` with all rows that can be read from the first on, and where these are not
    /// all, from the last one back; returns whether they are.
    private func eachFromBothEnds(
        _ sql: String, order: [String], _ body: (Columns) throws -> Void
    ) throws -> Bool {
        for direction in ["", " DESC"] {
            let sorted = order.map { $0 + direction }.joined(separator: ", ")
            if try each("\(sql) ORDER BY \(sorted)", [], body) { return true }
        }
        return false
    }

    /// Calls `body` with rows until one cannot be read; returns whether all could. What `body`
    /// fails with is no failure of reading.
    private func each(
        _ sql: String, _ values: [any Bindable] = [], _ body: (Columns) throws -> Void
    ) throws -> Bool {
        var failure: (any Error)?
        do {
            try reader.each(sql, values: values) { columns in
                do {
                    try body(columns)
                    return true
                } catch {
                    failure = error
                    return false
                }
            }
        } catch DatabaseError.SQLITE_CORRUPT where failure == nil {
            return false
        }
        if let failure { throw failure }
        return true
    }
}
