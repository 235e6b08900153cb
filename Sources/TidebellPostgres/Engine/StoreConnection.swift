// SPDX-License-Identifier: Apache-2.0
import TidebellPostgresClient
import TidebellSQL

/// A part of the store that is not what it can be.
struct PostgresDamage: Error, CustomStringConvertible {
    var message: String
    var sql: String?

    var description: String { sql.map { "\(message) in: \($0)" } ?? message }
}

/// A connection on which the statements of a store run.
///
/// One whose rows matter is one round trip, which takes along what was sent before it without a wait: the
/// BEGIN of its transaction, and the statements that only write.
final class StoreConnection: SQLConnection {
    private let base: PostgresConnection
    /// What begins the transaction, before the first statement; nil once it has begun.
    private var beginning: String?
    private let statements: PostgresStatements
    private let row = StoreRow()
    private var isStepping = false
    private var sentAhead = ReadAhead()

    /// The first error of the server since ``forgetFailure()``, or damage that was met: the
    /// transaction has failed, whatever its body made of that.
    private(set) var failure: (any Error)?
    /// The round trip in which that was met.
    private(set) var failedWait: Int?
    /// Whether a statement failed, or the connection.
    var hasFailed: Bool { failure != nil || base.failure != nil }
    /// Whether anything was sent in the transaction.
    var hasBegun: Bool { beginning == nil }

    var memory: GroupMemory?
    var isRemembering = false
    let guesses: RowGuesses?

    /// Runs statements on a connection.
    ///
    /// - Parameters:
    ///   - guesses: By which statements are sent ahead; nil sends none.
    ///   - beginning: What begins the transaction when there is a first statement; nil where it has begun.
    init(
        _ connection: PostgresConnection, _ statements: PostgresStatements,
        _ guesses: RowGuesses? = nil, beginning: String? = nil
    ) {
        base = connection
        self.beginning = beginning
        self.statements = statements
        self.guesses = guesses
    }

    /// The connection, in its transaction.
    var connection: PostgresConnection {
        if let beginning {
            self.beginning = nil
            base.enqueue(beginning)
        }
        return base
    }

    /// Forgets what failed, and what was read ahead, before another write: that sees all that was committed
    /// before it came.
    func forgetFailure() {
        failure = nil
        failedWait = nil
        sentAhead = ReadAhead()
    }

    func numbering() throws -> Numbering {
        Numbering(notifications: .ahead, outboxes: .shared)
    }

    func send(_ sql: String, _ values: [any Bindable]) throws {
        let statement = spell(sql, values)
        connection.enqueue(statement.sql, statement.values)
    }

    func step(
        _ sql: String, _ values: [any Bindable], _ body: (Columns) throws -> Bool
    ) throws {
        let statement = spell(sql, values)
        if let answer = try arrived(statement, nil) { return try step(answer, body) }
        try step(statement, body)
    }

    /// Runs a statement as it is spelled.
    private func step(_ statement: ReadAhead.Key, _ body: (Columns) throws -> Bool) throws {
        var goesOn = true
        try reading {
            try connection.rows(statement.sql, statement.values) { found in
                guard goesOn else { return }
                row.row = found
                defer { row.row = nil }
                goesOn = try body(Columns(of: row))
            }
        }
    }

    /// Where nobody said how much is taken, with a cursor: whoever stops early gets no more rows than the next
    /// few, whatever the statement finds.
    func scan(
        _ sql: String, _ values: [any Bindable], within bound: ScanBound?,
        _ body: (Columns) throws -> Bool
    ) throws {
        let statement = spell(sql, values)
        if let answer = try arrived(statement, bound) { return try step(answer, body) }
        if let bound { return try step(statement.within(bound), body) }
        try scan(statement.sql, statement.values, body)
    }

    private func scan(
        _ sql: String, _ values: [PostgresValue], _ body: (Columns) throws -> Bool
    ) throws {
        connection.enqueue("DECLARE scan NO SCROLL CURSOR FOR \(sql)", values)
        var limit = Self.firstRows
        var goesOn = true
        // An error of the server's ends the cursor with the transaction.
        defer { if failure == nil { connection.enqueue("CLOSE scan") } }
        while goesOn {
            var found = 0
            try reading {
                try connection.rows("FETCH \(limit) FROM scan") { row in
                    found += 1
                    guard goesOn else { return }
                    self.row.row = row
                    defer { self.row.row = nil }
                    goesOn = try body(Columns(of: self.row))
                }
            }
            if found < limit { break }
            limit = min(limit * 2, Self.mostRows)
        }
    }

    /// Rows that a scan reads at first, and at most at once: some are records with all their fields.
    private static let firstRows = 32
    private static let mostRows = 256

    // MARK: Ahead

    var ahead: (any SQLConnection)? { guesses.map { _ in AheadConnection(self) } }

    /// Sends a statement whose rows are asked for later.
    func sendAhead(_ sql: String, _ values: [any Bindable], _ bound: ScanBound?) {
        let values = values.map(\.sqlValue)
        let spelled = statements.statement(sql, values)
        precondition(!spelled.isWriting && !isStepping, "only what reads is sent ahead")
        let statement = ReadAhead.Key(spelled, values)
        guard !sentAhead.isFull, sentAhead.entry(statement, in: era) == nil else { return }
        let answer = PostgresAnswer()
        sentAhead.add(answer, to: statement, of: spelled.readTables, bound, in: era)
        let sent = bound.map(statement.within) ?? statement
        connection.enqueue(sent.sql, sent.values, keeping: answer)
    }

    func stepAhead(
        _ sql: String, _ values: [any Bindable], _ body: (Columns) throws -> Void
    ) throws -> Bool {
        guard let answer = try arrived(spell(sql, values), nil) else { return false }
        try step(answer) { columns in
            try body(columns)
            return true
        }
        return true
    }

    /// The rows of a statement that was sent ahead; waits for them, and for whatever else is to come.
    private func arrived(
        _ statement: ReadAhead.Key, _ bound: ScanBound?
    ) throws -> PostgresAnswer? {
        guard !sentAhead.isEmpty, let entry = sentAhead.entry(statement, in: era) else {
            return nil
        }
        if !entry.answer.hasCome { try reading { try connection.sync() } }
        return entry.suffices(bound) ? entry.answer : nil
    }

    private func step(_ answer: PostgresAnswer, _ body: (Columns) throws -> Bool) throws {
        var goesOn = true
        try reading {
            try answer.rows { found in
                guard goesOn else { return }
                row.row = found
                defer { row.row = nil }
                goesOn = try body(Columns(of: row))
            }
        }
    }

    /// What the memory had forgotten by now.
    private var era: Int { memory?.era ?? 0 }

    /// Runs what reads rows, and notes its failure.
    private func reading(_ body: () throws -> Void) throws {
        isStepping = true
        defer { isStepping = false }
        do {
            try body()
        } catch {
            if error is PostgresError { note(error) }
            throw error
        }
    }

    /// Returns a statement as PostgreSQL gets it, and notes what it may change.
    private func spell(_ sql: String, _ values: [any Bindable]) -> ReadAhead.Key {
        precondition(!isStepping, "a statement runs while the rows of another are read")
        let values = values.map(\.sqlValue)
        let statement = statements.statement(sql, values)
        if statement.isWriting {
            if !isRemembering { memory?.forgetAtWrite() }
            if !sentAhead.isEmpty { sentAhead.drop(table: statement.writtenTable) }
        }
        return ReadAhead.Key(statement, values)
    }

    var lastInsertedID: Int64 {
        var number: Int64 = 0
        do {
            try connection.rows("SELECT lastval()") { number = $0.int(0) }
        } catch {
            // The transaction has failed, and what was to be made of the number with it.
            note(error)
        }
        return number
    }

    func lastNumber(of table: String) throws -> Int64 {
        var number: Int64 = 0
        let last = try lastNumberExpression(of: table)
        try reading { try connection.rows("SELECT \(last)") { number = $0.int(0) } }
        return number
    }

    func numberStepExpression(of table: String) throws -> String {
        "(SELECT seqincrement FROM pg_sequence WHERE seqrelid = to_regclass('\(try Self.sequence(of: table))'))"
    }

    func lastNumberExpression(of table: String) throws -> String {
        PostgresSchema.lastNumber(of: try Self.sequence(of: table))
    }

    func takeNumbers(_ count: Int, of table: String) throws -> [Int64] {
        var numbers: [Int64] = []
        let sql = "SELECT nextval('\(try Self.sequence(of: table))') FROM generate_series(1, $1)"
        try reading {
            try connection.rows(sql, [.int64(Int64(count))]) { numbers.append($0.int(0)) }
        }
        return numbers
    }

    /// What numbers the rows of a table.
    private static func sequence(of table: String) throws -> String {
        guard let sequence = PostgresSchema.sequences[table] else {
            throw PostgresDamage(message: "\(table) gives no numbers")
        }
        return sequence
    }

    /// Nodes look for each notification, which another may have appended.
    var indexesNotificationIDs: Bool { true }

    /// The server's business.
    var indexesMayMissRows: Bool { false }

    /// All tables are made at once.
    func hasTable(_ name: String) throws -> Bool { true }

    func isOwn(_ error: any Error) -> Bool { error is PostgresError || error is PostgresDamage }

    /// A server that cannot read a page says so by codes of its own (XX001, XX002).
    func isDamage(_ error: any Error) -> Bool {
        if let error = error as? PostgresError { return ["XX001", "XX002"].contains(error.code) }
        return error is PostgresDamage
    }

    func damage(_ message: String) -> any Error { row.damage(message) }

    func damaged(_ message: String, _ sql: String) -> any Error {
        let damage = PostgresDamage(message: message, sql: sql)
        note(damage)
        return damage
    }

    private func note(_ error: any Error) {
        guard failure == nil else { return }
        (failure, failedWait) = (error, connection.roundTrips)
    }

    /// A transaction in which a statement failed reads nothing more: there is no second look.
    func unlessDamaged<Value>(_ read: () throws -> Value) throws -> Value? { try read() }
}

/// The row that a statement stands on.
private final class StoreRow: SQLRow {
    /// Nil where none steps.
    var row: PostgresRow?

    func int(_ column: Int32) -> Int64 { row?.int(Int(column)) ?? 0 }

    func buffer(_ column: Int32) -> UnsafeRawBufferPointer? {
        guard let row, !row.isNull(Int(column)) else { return nil }
        return row.bytes(Int(column))
    }

    func isNull(_ column: Int32) -> Bool { row?.isNull(Int(column)) ?? true }

    func damage(_ message: String) -> any Error { PostgresDamage(message: message) }
}
