// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient
import TidebellSQL

/// The rows of a subject in two cells, between which they are copied: those of its databases, and of a user the log and devices.
///
/// Rows are compared in parts, by checksums, and parts that differ are replaced, so that a second copy costs what changed
/// since the first. Both sides are in a transaction meanwhile.
struct MovedRows {
    /// How the rows of a table are found that are in databases ($1) and zones ($2), or a user's ($3) or their devices' ($4).
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
        ("badge", ofUser), ("application_permission", ofUser), ("user_role", ofUser),
        ("notification", ofUser), ("device", ofUser), ("push_token_device", ofDevices),
    ]
    /// What is only ever appended, and removed by age: what came of changes, what is known of pushes, and the answers to writes
    /// of whoever may have written there. Rows get numbers of the new cell.
    private static let journals: [(name: String, rows: String)] = [
        ("told", "change IN (SELECT id FROM outbox WHERE database = ANY($1))"),
        ("delivery", ofUser),
        ("kept_answer", ofWriters),
    ]
    private static let ofWriters = """
        ($3 = 0 OR "user" = $3 OR "user" IN (SELECT "user" FROM share_grant WHERE zone = ANY($2)))
        """
    /// What waits somewhere, which is copied when nobody takes it any more.
    private static let queues = [
        ("outbox_queue", "database = ANY($1)"), ("webhook_queue", ofUser),
        ("push_queue", ofDevices),
    ]
    private static let inZones = "zone = ANY($2)"
    private static let ofUser = "\"user\" = $3"
    private static let ofDevices = "device = ANY($4)"
    /// The tokens of the user's devices, which may be those of others as well.
    private static let tokens = "token IN (SELECT token FROM push_token_device WHERE \(ofDevices))"
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
    /// The databases, zones and devices in either cell: what is gone from the old one goes from the new one, too.
    private let databases: [Int64]
    private let zones: [Int64]
    private let devices: [Int64]

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
        var (databases, zones, devices): (Set<Int64>, Set<Int64>, Set<Int64>) = ([], [], [])
        for connection in [old, new] {
            let found = try Self.databases(of: subject, on: connection)
            databases.formUnion(found)
            try connection.rows(
                "SELECT key FROM zone WHERE database = ANY($1)", [.int64Array(found)]
            ) { zones.insert($0.int(0)) }
            try connection.rows(
                "SELECT key FROM device WHERE \"user\" = $1",
                [.int64(subject.owner?.rawValue ?? 0)]
            ) { devices.insert($0.int(0)) }
        }
        self.databases = databases.sorted()
        self.zones = zones.sorted()
        self.devices = devices.sorted()
    }

    /// Whether a cell has anything of a subject.
    static func hasAny(of subject: CellMove.Subject, on connection: PostgresConnection) throws
        -> Bool
    {
        if try !databases(of: subject, on: connection).isEmpty { return true }
        guard let owner = subject.owner else { return false }
        var found = false
        try connection.rows(
            """
            SELECT EXISTS (SELECT 1 FROM device WHERE "user" = $1)
                OR EXISTS (SELECT 1 FROM notification WHERE "user" = $1)
                OR EXISTS (SELECT 1 FROM badge WHERE "user" = $1)
                OR EXISTS (SELECT 1 FROM user_role WHERE "user" = $1)
                OR EXISTS (SELECT 1 FROM application_permission WHERE "user" = $1)
            """, [.int64(owner.rawValue)]
        ) { found = $0.bool(0) }
        return found
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

    private var ids: [PostgresValue] {
        [
            .int64Array(databases), .int64Array(zones), .int64(subject.owner?.rawValue ?? 0),
            .int64Array(devices),
        ]
    }

    private func table(_ name: String) throws -> StoreTable {
        guard let table = known[name] else {
            throw PostgresDamage(message: "there is no table \(name)")
        }
        return table
    }

    // MARK: - Copying

    /// Copies what differs; returns how many rows.
    ///
    /// - Parameter verifies: Whether it fails where something is not the same in both cells afterwards.
    func copy(verifies: Bool) throws -> Int {
        try copyUsers()
        try copyPushTokens()
        return try Self.tables.reduce(0) {
            try $0 + copy($1.name, where: $1.rows, verifies: verifies)
        }
    }

    private func copy(_ name: String, where rows: String, verifies: Bool) throws -> Int {
        let table = try table(name)
        let count = try parts(of: name, where: rows)
        let parts = try differing(name, where: rows, in: count)
        guard !parts.isEmpty else { return 0 }
        let wanted = "\(rows) AND \(Self.part(of: table, in: count)) = ANY($5)"
        let values = ids + [.int64Array(parts)]
        try new.execute("DELETE FROM \"\(name)\" WHERE \(wanted)", values)
        let copied = try old.storeRows(of: table, where: wanted, values) {
            try new.insert($0, into: table)
        }
        // What did not differ is the same still: nobody writes there.
        if verifies, try !differing(name, where: wanted, values, in: count).isEmpty {
            throw CellMove.Refusal.differs(table: name)
        }
        return copied
    }

    /// The parts of a table that are not the same in both cells, which both look through at once.
    ///
    /// - Parameter values: Those of the condition; nil for ``ids``.
    private func differing(
        _ name: String, where rows: String, _ values: [PostgresValue]? = nil, in parts: Int64
    ) throws -> [Int64] {
        let table = try table(name)
        let columns = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
        let sql = """
            SELECT \(Self.part(of: table, in: parts)), count(*),
                sum(('x' || substr(md5(ROW(\(columns))::text), 1, 15))::bit(60)::bigint)::text::bytea
            FROM "\(name)" WHERE \(rows) GROUP BY 1
            """
        var (before, after): ([Int64: [String]], [Int64: [String]]) = ([:], [:])
        new.enqueue(sql, values ?? ids) { after[$0.int(0)] = ["\($0.int(1))", $0.string(2)] }
        new.sendOff()
        let looked = Result {
            try old.rows(sql, values ?? ids) { before[$0.int(0)] = ["\($0.int(1))", $0.string(2)] }
        }
        try new.sync()
        _ = try looked.get()
        return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
    }

    /// In how many parts a table is compared.
    private func parts(of name: String, where rows: String) throws -> Int64 {
        var count: Int64 = 0
        try old.rows(
            "SELECT count(*) FROM \"\(name)\" WHERE \(rows)", ids
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

    /// Brings the rows of the user, and of those who have something in the databases. The directory has all of them.
    private func copyUsers() throws {
        let table = try table("user")
        let wanted = """
            id IN (
                SELECT $3 UNION SELECT "user" FROM subscription WHERE database = ANY($1)
                UNION SELECT "user" FROM share_grant WHERE zone = ANY($2)
                UNION SELECT "user" FROM share_outsider WHERE zone = ANY($2)
            )
            """
        _ = try old.storeRows(of: table, where: wanted, ids) {
            try new.insert($0, into: table, unlessThere: true)
        }
    }

    /// Brings the push tokens of the user's devices, each of which may be there for somebody else: whoever registered it
    /// later knows more of it.
    private func copyPushTokens() throws {
        let table = try table("push_token")
        _ = try old.storeRows(of: table, where: Self.tokens, ids) { rows in
            try new.insert(rows, into: table, unlessThere: true)
        }
        var registered: [(token: [UInt8], at: Int64)] = []
        try old.rows(
            "SELECT token, registered_at FROM push_token WHERE \(Self.tokens)", ids
        ) { registered.append((Array($0.bytes(0)), $0.int(1))) }
        for (token, moment) in registered {
            new.enqueue(
                "DELETE FROM push_token WHERE token = $1 AND registered_at < $2",
                [.bytea(token), .int64(moment)])
        }
        _ = try old.storeRows(of: table, where: Self.tokens, ids) { rows in
            try new.insert(rows, into: table, unlessThere: true)
        }
    }

    /// The last numbers that the old cell gave rows of the journals. Of those that the subject's writes got, none is still to come
    /// where the subject's locks are held.
    static func lastOfJournals(on connection: PostgresConnection) throws -> [String: Int64] {
        var last: [String: Int64] = [:]
        for (name, _) in journals {
            try connection.rows(
                "SELECT \(PostgresSchema.lastNumber(of: PostgresSchema.sequence(of: name)))"
            ) { last[name] = $0.int(0) }
        }
        return last
    }

    /// Copies what was appended to the journals; returns how many rows.
    ///
    /// - Parameter copied: The last numbers that were copied before; nil where nothing was.
    func copyJournals(after copied: [String: Int64]?, through last: [String: Int64]) throws -> Int {
        try Self.journals.reduce(0) { count, journal in
            let (name, rows) = journal
            if copied == nil, name != "kept_answer" {
                try new.execute("DELETE FROM \"\(name)\" WHERE \(rows)", ids)
            }
            var table = try table(name)
            table.columns.removeAll { $0.name == "number" }
            return try count
                + old.storeRows(
                    of: table, where: "\(rows) AND number > $5 AND number <= $6",
                    ids + [.int64(copied?[name] ?? 0), .int64(last[name] ?? 0)]
                ) {
                    // Answers may be there of other databases.
                    try new.insert($0, into: table, unlessThere: name == "kept_answer")
                }
        }
    }

    // MARK: - What is copied at the end

    /// Copies what is pending, and how far the log was cut off, while nobody writes; returns how many rows.
    func copyRest() throws -> Int {
        for table in CellNumber.steppedTables { try numberBehind(table) }
        try copyFloor()
        try countAnswers()
        return try Self.queues.reduce(0) { try $0 + replace($1.0, where: $1.1) }
    }

    /// Has the new cell number rows of a table behind those that were copied.
    private func numberBehind(_ table: String) throws {
        let sequence = PostgresSchema.sequence(of: table)
        // Also where it has given none yet, it will give none before this.
        func lastNumber(_ connection: PostgresConnection) throws -> Int64 {
            var last: Int64 = 0
            try connection.rows("SELECT last_value FROM \(sequence)") { last = $0.int(0) }
            return last
        }
        let before = try lastNumber(old)
        guard before >= (try lastNumber(new)) else { return }
        try new.execute(
            "SELECT setval('\(sequence)', $1)",
            [.int64(target.steppedNumber(after: before + Self.leap))])
    }

    /// How far the user's log was cut off, by their own row or by the cell's.
    private func copyFloor() throws {
        guard let owner = subject.owner else { return }
        var floor: Int64 = 0
        try old.rows(
            """
            SELECT greatest(store.notification_floor, "user".notification_floor)
            FROM store LEFT JOIN "user" ON "user".id = $1
            """, [.int64(owner.rawValue)]
        ) { floor = $0.int(0) }
        try new.execute(
            "UPDATE \"user\" SET notification_floor = $2 WHERE id = $1",
            [.int64(owner.rawValue), .int64(floor)])
    }

    /// Copies rows as they are.
    private func replace(_ name: String, where wanted: String) throws -> Int {
        try new.execute("DELETE FROM \"\(name)\" WHERE \(wanted)", ids)
        let table = try table(name)
        return try old.storeRows(of: table, where: wanted, ids) { try new.insert($0, into: table) }
    }

    /// Counts the answers that are kept for those who may have written there: those that are kept for nothing go by age, as the
    /// old cell's do.
    func countAnswers() throws {
        new.enqueue("DELETE FROM kept_answer_size WHERE \(Self.ofWriters)", ids)
        try new.execute(
            """
            INSERT INTO kept_answer_size ("user", bytes)
            SELECT "user", sum(length(body) + \(KeptAnswer.rowSize)) FROM kept_answer
            WHERE \(Self.ofWriters) GROUP BY "user"
            """, ids)
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
        try read(.fieldIndex, "SELECT id FROM field_index WHERE zone = ANY($2)")
        try read(.subscription, "SELECT serial FROM subscription WHERE database = ANY($1)")
        try read(.device, "SELECT key FROM device WHERE \(Self.ofUser)")
        return numbers
    }

    /// Removes the rows of the old cell, those last by which the others are found.
    func removeOld() throws {
        try remove("told", "change IN (SELECT id FROM outbox WHERE database = ANY($1))")
        for (name, rows) in Self.queues { try remove(name, rows) }
        try remove("delivery", Self.ofUser)
        try removePushTokens()
        for (name, rows) in Self.tables.reversed() { try remove(name, rows) }
    }

    /// Removes what push tokens delivered to the user's devices, and those that reach nobody else.
    private func removePushTokens() throws {
        var tokens: [PostgresValue] = []
        try old.rows("SELECT token FROM push_token WHERE \(Self.tokens)", ids) {
            tokens.append(.bytea(Array($0.bytes(0))))
        }
        old.enqueue("BEGIN")
        old.enqueue("DELETE FROM push_token_device WHERE \(Self.ofDevices)", ids)
        for token in tokens {
            old.enqueue(
                """
                DELETE FROM push_token WHERE token = $1
                    AND NOT EXISTS (SELECT 1 FROM push_token_device WHERE token = $1)
                """, [token])
        }
        try old.commitOrThrow()
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
                    WHERE \(rows) LIMIT \(Self.rowsRemoved)
                ) RETURNING 1
                """, ids
            ) { _ in }
        } while count > 0
    }
}
