// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient
import TidebellSQL

/// The rows of a subject's databases in two cells, between which they are copied.
///
/// Rows are compared in parts, by checksums, and parts that differ are replaced, so that a second copy costs what changed
/// since the first. Both sides are in a transaction meanwhile.
struct MovedRows {
    /// How the rows of a table are found that are in databases ($1) and zones ($2).
    private static let tables: [(name: String, rows: String)] = [
        ("database", "id = ANY($1)"),
        ("zone", "database = ANY($1)"),
        ("subscription", "database = ANY($1)"),
        ("subscription_term", "database = ANY($1)"),
        ("shared_zone", "database = ANY($1)"),
        ("outbox", "database = ANY($1)"),
        ("removed_zone", inZones), ("record", inZones), ("reference", inZones),
        ("asset_use", inZones),
        ("zone_key", inZones), ("unsealed_record", inZones), ("share", inZones),
        ("share_grant", inZones), ("share_outsider", inZones), ("shared_record", inZones),
        ("unsettled_record", inZones), ("ended_hierarchy", inZones),
        ("earlier_departure", inZones), ("field_index", inZones),
        (
            "field_index_entry",
            "field_index IN (SELECT id FROM field_index WHERE zone = ANY($2))"
        ),
    ]
    private static let inZones = "zone = ANY($2)"
    /// About how many rows of a table are compared together, and the most parts.
    private static let rowsInPart: Int64 = 64
    private static let mostParts: Int64 = 1 << 16
    /// Numbers between what either cell gave and what is copied: others take some meanwhile.
    private static let leap: Int64 = 1_000_000
    /// Rows that are removed at once.
    private static let rowsRemoved = 5000

    private let subject: CellMove.Subject
    private let old: PostgresConnection
    private let new: PostgresConnection
    private let target: CellNumber
    private let known: [String: StoreTable]
    /// The databases and zones in either cell.
    private let databases: [Int64]
    private let zones: [Int64]

    init(
        of subject: CellMove.Subject, from old: PostgresConnection, to new: PostgresConnection,
        in target: CellNumber
    ) throws {
        self.subject = subject
        self.target = target
        self.old = old
        self.new = new
        known = Dictionary(
            uniqueKeysWithValues: try old.storeTables().map { ($0.name, $0) })
        var (databases, zones): (Set<Int64>, Set<Int64>) = ([], [])
        for connection in [old, new] {
            let found = try Self.databases(of: subject, on: connection)
            databases.formUnion(found)
            try connection.rows(
                "SELECT key FROM zone WHERE database = ANY($1)", [.int64Array(found)]
            ) { zones.insert($0.int(0)) }
        }
        self.databases = databases.sorted()
        self.zones = zones.sorted()
    }

    /// The databases of a subject in a cell.
    static func databases(
        of subject: CellMove.Subject, on connection: PostgresConnection
    ) throws -> [Int64] {
        var found: [Int64] = []
        try connection.rows(
            "SELECT id FROM database WHERE \(CellMove.Subject.isWanted) ORDER BY id",
            subject.values
        ) { found.append($0.int(0)) }
        return found
    }

    private var ids: [PostgresValue] { [.int64Array(databases), .int64Array(zones)] }

    private func table(_ name: String) throws -> StoreTable {
        guard let table = known[name] else {
            throw PostgresDamage(message: "there is no table \(name)")
        }
        return table
    }

    // MARK: - Copying

    /// Copies what differs; returns how many rows.
    func copy() throws -> Int {
        try copyUsers()
        return try Self.tables.reduce(0) { try $0 + copy($1.name, where: $1.rows) }
    }

    /// Fails where something is not the same in both cells.
    func verify() throws {
        for (name, rows) in Self.tables where try !differing(name, where: rows, in: 1).isEmpty {
            throw CellMove.Refusal.differs(table: name)
        }
    }

    private func copy(_ name: String, where rows: String) throws -> Int {
        let table = try table(name)
        let count = try parts(of: name, where: rows)
        let parts = try differing(name, where: rows, in: count)
        guard !parts.isEmpty else { return 0 }
        let wanted = "\(rows) AND \(Self.part(of: table, in: count)) = ANY($3)"
        let values = ids + [.int64Array(parts)]
        try new.execute("DELETE FROM \"\(name)\" WHERE \(wanted)", values)
        return try old.storeRows(of: table, where: wanted, values) {
            try new.insert($0, into: table)
        }
    }

    /// The parts of a table that are not the same in both cells.
    private func differing(
        _ name: String, where rows: String, in parts: Int64
    ) throws -> [Int64] {
        let table = try table(name)
        let columns = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
        let sql = """
            SELECT \(Self.part(of: table, in: parts)), count(*),
                sum(('x' || substr(md5(ROW(\(columns))::text), 1, 15))::bit(60)::bigint)::text::bytea
            FROM "\(name)" WHERE \(rows) GROUP BY 1
            """
        func sums(_ connection: PostgresConnection) throws -> [Int64: [String]] {
            var sums: [Int64: [String]] = [:]
            try connection.rows(sql, ids) { sums[$0.int(0)] = ["\($0.int(1))", $0.string(2)] }
            return sums
        }
        let (before, after) = (try sums(old), try sums(new))
        return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
    }

    /// In how many parts a table is compared.
    private func parts(of name: String, where rows: String) throws -> Int64 {
        var count: Int64 = 0
        try old.rows(
            "SELECT count(*) FROM \"\(name)\" WHERE \(rows) AND $1 IS NOT NULL AND $2 IS NOT NULL",
            ids
        ) {
            count = $0.int(0)
        }
        var parts: Int64 = 1
        while parts < Self.mostParts, parts * Self.rowsInPart < count { parts *= 2 }
        return parts
    }

    /// An expression for the part that a row is in, by its key.
    private static func part(of table: StoreTable, in parts: Int64) -> String {
        let key = table.key.map { "\"\($0)\"" }.joined(separator: ", ")
        return
            "(('x' || substr(md5(ROW(\(key))::text), 1, 8))::bit(32)::bigint & \(parts - 1))"
    }

    /// Brings the rows of users who have something in the databases. The directory has all of them.
    private func copyUsers() throws {
        let table = try table("user")
        let wanted = """
            id IN (
                SELECT $3 UNION SELECT "user" FROM subscription WHERE database = ANY($1)
                UNION SELECT "user" FROM share_grant WHERE zone = ANY($2)
                UNION SELECT "user" FROM share_outsider WHERE zone = ANY($2)
            )
            """
        _ = try old.storeRows(
            of: table, where: wanted, ids + [.int64(subject.owner?.rawValue ?? 0)]
        ) { try new.insert($0, into: table, unlessThere: true) }
    }

    // MARK: - What is copied at the end

    /// Copies what is pending, what explains changes, and answers that are kept, while nobody writes; returns how many
    /// rows.
    func copyRest() throws -> Int { try copyQueue() + copyMatches() + copyAnswers() }

    /// Copies the place in the queue, and has the new cell number its entries behind those that were copied.
    private func copyQueue() throws -> Int {
        let sequence = CellNumber.outboxSequence
        func lastNumber(_ connection: PostgresConnection) throws -> Int64 {
            var last: Int64 = 0
            try connection.rows("SELECT \(PostgresSchema.lastNumber(of: sequence))") {
                last = $0.int(0)
            }
            return last
        }
        let before = try lastNumber(old)
        if before >= (try lastNumber(new)) {
            try new.execute(
                "SELECT setval('\(sequence)', $1)",
                [.int64(target.outboxNumber(after: before + Self.leap))])
        }
        let wanted = "database = ANY($1)"
        try new.execute("DELETE FROM outbox_queue WHERE \(wanted)", [.int64Array(databases)])
        let queue = try table("outbox_queue")
        return try old.storeRows(of: queue, where: wanted, [.int64Array(databases)]) {
            try new.insert($0, into: queue)
        }
    }

    /// Copies what came of changes, under numbers of the new cell.
    private func copyMatches() throws -> Int {
        let wanted = "change IN (SELECT id FROM outbox WHERE database = ANY($1))"
        try new.execute("DELETE FROM told WHERE \(wanted)", [.int64Array(databases)])
        var told = try table("told")
        told.columns.removeAll { $0.name == "number" }
        return try old.storeRows(of: told, where: wanted, [.int64Array(databases)]) {
            try new.insert($0, into: told)
        }
    }

    /// Copies the answers to writes of whoever may have written there: those that are kept for nothing go by age, as the
    /// old cell's do.
    private func copyAnswers() throws -> Int {
        var answers = try table("kept_answer")
        answers.columns.removeAll { $0.name == "number" }
        let owner = PostgresValue.int64(subject.owner?.rawValue ?? 0)
        let wanted = """
            ($1 = 0 OR "user" = $1
                OR "user" IN (SELECT "user" FROM share_grant WHERE zone = ANY($2)))
            """
        let values = [owner, .int64Array(zones)]
        let rows = try old.storeRows(of: answers, where: wanted, values) {
            try new.insert($0, into: answers, unlessThere: true)
        }
        new.enqueue("DELETE FROM kept_answer_size WHERE \(wanted)", values)
        new.enqueue(
            """
            INSERT INTO kept_answer_size ("user", bytes)
            SELECT "user", sum(length(body) + \(KeptAnswer.rowSize)) FROM kept_answer
            WHERE \(wanted) GROUP BY "user"
            """, values)
        return rows
    }

    // MARK: - What there is

    /// The numbers by which what is moved is known.
    func numbers() throws -> [CellMap.Kind: [Int64]] {
        var numbers: [CellMap.Kind: [Int64]] = [.database: databases, .zone: zones]
        func read(_ kind: CellMap.Kind, _ sql: String) throws {
            var found: [Int64] = []
            try new.rows(sql, ids) { found.append($0.int(0)) }
            numbers[kind] = found
        }
        try read(.fieldIndex, "SELECT id FROM field_index WHERE zone = ANY($2) AND $1 IS NOT NULL")
        try read(
            .subscription,
            "SELECT serial FROM subscription WHERE database = ANY($1) AND $2 IS NOT NULL")
        return numbers
    }

    /// Removes the rows of the old cell, those last by which the others are found.
    func removeOld() throws {
        try remove("told", "change IN (SELECT id FROM outbox WHERE database = ANY($1))")
        try remove("outbox_queue", "database = ANY($1)")
        for (name, rows) in Self.tables.reversed() { try remove(name, rows) }
    }

    private func remove(_ name: String, _ rows: String) throws {
        let table = try table(name)
        let key = table.key.map { "\"\($0)\"" }.joined(separator: ", ")
        var count: Int
        repeat {
            count = try old.rows(
                """
                DELETE FROM "\(name)" WHERE (\(key)) IN (
                    SELECT \(key) FROM "\(name)"
                    WHERE \(rows) AND $1 IS NOT NULL AND $2 IS NOT NULL LIMIT \(Self.rowsRemoved)
                ) RETURNING 1
                """, ids
            ) { _ in }
        } while count > 0
    }
}
