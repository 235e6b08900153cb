// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL

extension SQLTransaction {
    /// How far the store has come. Reads all databases.
    func progress() throws -> StoreProgress {
        StoreProgress(
            incarnation: try incarnation(),
            position: try connection.first("SELECT ifnull(max(head), 0) FROM database") {
                try $0.value(0)
            } ?? .start,
            notification: try lastNotificationNumber(), quietChanges: try quietChanges()
        )
    }

    /// Names a number of the store that nothing gives out and that could not be counted on;
    /// nil where all are in bounds. Looks at those that a start works with.
    func numberOutOfBounds() throws -> String? {
        for (table, column) in [
            ("store", "incarnation"), ("store", "notification_floor"), ("database", "head"),
            ("sqlite_sequence", "seq"),
        ] {
            if let number = try StoreNumbers.outOfBounds(table, [column], on: connection.sqlite) {
                return number
            }
        }
        return nil
    }

    /// Whether the store lacks the change that was committed last in the same life of it.
    func lacks(_ noted: StoreProgress) throws -> Bool {
        guard let latest = noted.latest, noted.incarnation == (try incarnation()) else {
            return false
        }
        let head: Position? = try connection.first(
            "SELECT head FROM database WHERE id = ?", latest.database
        ) { try $0.value(0) }
        if let head { return head < latest.position }
        // It may have been erased with its account since; a database that was never made is lost.
        let given = try connection.first(
            "SELECT seq FROM sqlite_sequence WHERE name = 'database'"
        ) { $0.int(0) }
        return latest.database.rawValue > given ?? 0
    }

    /// Begins a new life, past what is known of the lost one: see
    /// ``SQLiteStore/beginNewIncarnation(at:)``.
    func beginNewIncarnation(
        past lost: StoreProgress = StoreProgress(), at now: Instant
    ) throws -> Incarnation {
        let begun = max(try incarnation(), lost.incarnation).next(at: now)
        try leaveNumbersOut(past: lost.notification.rawValue, at: now)
        // Counted from the clock wherever that is enough: lives that each began beyond the one
        // before would run away from it, and a backup of before them all would meet them.
        try connection.run(
            """
            UPDATE database SET head =
                CASE WHEN max(head, ?1) < ?2 THEN ?2 ELSE max(head, ?1) + ?3 END
            """,
            lost.position, now.rawValue + Self.changesAheadOfClock, Self.changesAheadOfClock
        )
        try connection.run(
            "UPDATE store SET incarnation = ?, notification_floor = ? WHERE id = 1",
            begun, try lastNotificationNumber()
        )
        return begun
    }

    /// Moves every number that tables give out past all that a lost life may have given out,
    /// also where the table was empty when the store was as it is now.
    private func leaveNumbersOut(past lost: Int64, at now: Instant) throws {
        let tables = try connection.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'"
        ) { $0.text(0) }
        for table in tables {
            let last =
                try connection.first("SELECT seq FROM sqlite_sequence WHERE name = ?", table) {
                    $0.int(0)
                } ?? 0
            try connection.run("DELETE FROM sqlite_sequence WHERE name = ?", table)
            try connection.run(
                "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", table,
                Self.number(ofNewLifeAfter: max(last, lost), at: now)
            )
        }
    }
}
