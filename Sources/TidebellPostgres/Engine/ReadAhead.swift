// SPDX-License-Identifier: Apache-2.0
import TidebellPostgresClient
import TidebellSQL

/// What was sent ahead of whoever will ask for it, and not been overtaken by a write.
struct ReadAhead {
    /// A statement with its values.
    struct Key: Hashable {
        var sql: String
        var values: [PostgresValue]

        init(_ sql: String, _ values: [PostgresValue]) {
            self.sql = sql
            self.values = values
        }

        init(_ statement: PostgresStatement, _ values: [SQLValue]) {
            sql = statement.sql
            self.values = statement.parameters.map { $0.value(of: values) }
        }

        /// The query without the rows beyond a bound.
        func within(_ bound: ScanBound) -> Key {
            let rows = "$\(values.count + 1)"
            guard bound.bytes < .max else {
                return Key(
                    "SELECT * FROM (\(sql)) AS found LIMIT \(rows)",
                    values + [.int64(Int64(bound.rows))])
            }
            // Up to the row before there is no more than the bound.
            return Key(
                """
                SELECT * FROM (
                    SELECT found.*, sum(field_bytes) OVER up_to - field_bytes
                        - lag(field_bytes, 1, 0) OVER up_to AS bytes_before
                    FROM (
                        SELECT *, coalesce(octet_length(fields), 0) AS field_bytes
                        FROM (\(sql)) AS found LIMIT \(rows)
                    ) AS found WINDOW up_to AS (ROWS UNBOUNDED PRECEDING)
                ) AS found WHERE bytes_before <= $\(values.count + 2)
                """,
                values + [.int64(Int64(bound.rows)), .int64(Int64(bound.bytes))])
        }
    }

    struct Entry {
        var answer: PostgresAnswer
        /// The tables it is about.
        var tables: Set<String>
        /// How many of its rows there are at most; nil for all.
        var bound: ScanBound?
        /// What the transaction's memory had forgotten when it was sent.
        var era: Int

        /// Whether whoever takes so much has all in it.
        func suffices(_ wanted: ScanBound?) -> Bool {
            guard answer.hasCome else { return false }
            guard let bound else { return true }
            return wanted.map(bound.covers) == true
                || bound.bytes == .max && answer.count < bound.rows
        }
    }

    /// Rows of a query of which nobody said how many are taken.
    static let mostRows = 64
    /// The most statements that are sent ahead, of a request that names very much.
    private static let mostStatements = 64

    private var entries: [Key: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }
    var isFull: Bool { entries.count >= Self.mostStatements }

    mutating func add(
        _ answer: PostgresAnswer, to key: Key, of tables: Set<String>, _ bound: ScanBound?,
        in era: Int
    ) {
        entries[key] = Entry(answer: answer, tables: tables, bound: bound, era: era)
    }

    /// What was sent ahead of a statement, and may be still to come.
    func entry(_ key: Key, in era: Int) -> Entry? {
        entries[key].flatMap { $0.era == era ? $0 : nil }
    }

    /// Drops what a write makes untrue; nil where it is not known which table it changes.
    mutating func drop(table: String?) {
        guard let table else { return entries = [:] }
        entries = entries.filter { !$0.value.tables.contains(table) }
    }
}

/// Sends what is read on it ahead, and returns no rows.
final class AheadConnection: SQLConnection {
    private let base: StoreConnection

    init(_ base: StoreConnection) { self.base = base }

    var memory: GroupMemory? {
        get { base.memory }
        set {}
    }
    var isRemembering: Bool {
        get { base.isRemembering }
        set {}
    }
    var guesses: RowGuesses? { base.guesses }

    func numbering() throws -> Numbering { try base.numbering() }

    func step(
        _ sql: String, _ values: [any Bindable], _ body: (Columns) throws -> Bool
    ) throws {
        base.sendAhead(sql, values, nil)
    }

    func scan(
        _ sql: String, _ values: [any Bindable], within bound: ScanBound?,
        _ body: (Columns) throws -> Bool
    ) throws {
        base.sendAhead(sql, values, bound ?? ScanBound(rows: ReadAhead.mostRows, bytes: .max))
    }

    var lastInsertedID: Int64 { 0 }
    func lastNumber(of table: String) throws -> Int64 { throw NotAhead() }
    func numberStepExpression(of table: String) throws -> String {
        try base.numberStepExpression(of: table)
    }

    func lastNumberExpression(of table: String) throws -> String {
        try base.lastNumberExpression(of: table)
    }
    func takeNumbers(_ count: Int, of table: String) throws -> [Int64] { throw NotAhead() }
    var indexesNotificationIDs: Bool { base.indexesNotificationIDs }
    var indexesMayMissRows: Bool { base.indexesMayMissRows }
    func hasTable(_ name: String) throws -> Bool { true }
    func isOwn(_ error: any Error) -> Bool { base.isOwn(error) }
    func isDamage(_ error: any Error) -> Bool { base.isDamage(error) }
    func damage(_ message: String) -> any Error { NotAhead() }
    func damaged(_ message: String, _ sql: String) -> any Error { NotAhead() }
    func unlessDamaged<Value>(_ read: () throws -> Value) throws -> Value? { try read() }
}

/// What cannot be known before rows have come.
private struct NotAhead: Error {}
