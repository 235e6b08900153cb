// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite
import TidebellCore
import TidebellSQL

/// A connection on which statements run, each prepared once and kept.
///
/// GRDB owns the connections, their queues, snapshots and statement caches;
/// binding and stepping talk to SQLite directly, because a record has a dozen
/// columns and its fields are copied once this way.
///
/// Only valid inside the access that gave its `database`.
final class Connection: SQLConnection {
    /// GRDB's side of the connection.
    let database: Database
    /// The first error of SQLite since ``forgetFailure()``.
    ///
    /// After an error the engine may have undone more than the statement that
    /// failed, so a transaction must not be committed even if its body caught
    /// the error.
    private(set) var failure: DatabaseError?
    /// Whether a statement that may write ran since ``forgetFailure()``.
    private(set) var hasWritten = false

    /// The first damage met since ``forgetDamage()``. NB: SQLite refuses to write in a
    /// transaction that met damage, and to commit it.
    private(set) var damage: DatabaseError?

    var memory: GroupMemory?
    var isRemembering = false
    /// What the statement that steps now stands on.
    private let row = SQLiteRow()

    private var knownNumbering: Numbering?

    /// Wraps a connection, which finds out itself how its store numbers unless it is told.
    init(_ database: Database, numbering: Numbering? = nil) {
        self.database = database
        knownNumbering = numbering
    }

    /// Returns how notifications and outbox entries are numbered.
    func numbering() throws -> Numbering {
        if let knownNumbering { return knownNumbering }
        let numbering = try Numbering(of: self)
        knownNumbering = numbering
        return numbering
    }

    /// Forgets an earlier failure, before another transaction.
    func forgetFailure() {
        failure = nil
        hasWritten = false
    }

    /// Forgets damage that another transaction met.
    func forgetDamage() {
        damage = nil
    }

    /// How many rows the last statement that changes any has changed.
    var changeCount: Int { database.changesCount }

    /// The ID given to the row inserted last.
    var lastInsertedID: Int64 { database.lastInsertedRowID }

    /// Whether a transaction is open; SQLite ends it by itself after some errors.
    var isInTransaction: Bool { database.isInsideTransaction }

    /// Ends a transaction that has read only.
    func endRead() {
        do {
            try run("COMMIT")
        } catch {
            // The reader was cancelled just now; what is stopped can be undone.
            try? run("ROLLBACK")
        }
    }

    // NB: SQLite refuses to write in a transaction that met damage, until it ends; it may go on
    // reading.
    func unlessDamaged<Value>(_ read: () throws -> Value) throws -> Value? {
        let earlier = failure
        do {
            return try read()
        } catch DatabaseError.SQLITE_CORRUPT {
            failure = earlier
            return nil
        }
    }

    func step(
        _ sql: String, _ values: [any Bindable], _ body: (Columns) throws -> Bool
    ) throws {
        let statement = try database.cachedStatement(sql: sql).sqliteStatement
        if sqlite3_stmt_readonly(statement) == 0 {
            hasWritten = true
            if !isRemembering { memory?.forget() }
        }
        // Whoever reads a row may run another statement.
        let outer = row.statement
        row.statement = statement
        defer {
            row.statement = outer
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        var index: Int32 = 0
        for value in values {
            index += 1
            let code = value.sqlValue.bind(to: statement, at: index)
            guard code == SQLITE_OK else { throw failed(code, sql) }
        }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                guard try body(Columns(of: row)) else { return }
            case SQLITE_DONE: return
            case let code: throw failed(code, sql)
            }
        }
    }

    func lastNumber(of table: String) throws -> Int64 {
        try first("SELECT seq FROM sqlite_sequence WHERE name = ?", table) { $0.int(0) } ?? 0
    }

    var indexesNotificationIDs: Bool { false }
    var indexesMayMissRows: Bool { true }

    func lastNumberExpression(of table: String) -> String {
        "coalesce((SELECT seq FROM sqlite_sequence WHERE name = '\(table)'), 0)"
    }

    func takeNumbers(_ count: Int, of table: String) throws -> [Int64] {
        let last = try first(
            "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = ? RETURNING seq", count, table
        ) { $0.int(0) }
        guard let last else { preconditionFailure("\(table) never gave a number") }
        return Array(last - Int64(count) + 1..<last + 1)
    }

    func hasTable(_ name: String) throws -> Bool { try database.tableExists(name) }

    func isOwn(_ error: any Error) -> Bool { error is DatabaseError }

    func isDamage(_ error: any Error) -> Bool {
        if case DatabaseError.SQLITE_CORRUPT = error { true } else { false }
    }

    func damage(_ message: String) -> any Error { row.damage(message) }

    private func failed(_ code: Int32, _ sql: String) -> DatabaseError {
        let code = ResultCode(rawValue: code)
        let message =
            code.primaryResultCode == .SQLITE_FULL
            ? "the disk is full, nothing was stored" : database.lastErrorMessage
        let error = DatabaseError(resultCode: code, message: message, sql: sql)
        note(error)
        return error
    }

    func damaged(_ message: String, _ sql: String) -> any Error {
        let error = DatabaseError(resultCode: .SQLITE_CORRUPT, message: message, sql: sql)
        note(error)
        return error
    }

    private func note(_ error: DatabaseError) {
        failure = failure ?? error
        if error.resultCode == .SQLITE_CORRUPT { damage = damage ?? error }
    }
}

extension SQLConnection {
    /// The connection of SQLite that it is: a store hands out no others.
    var sqlite: Connection {
        guard let connection = self as? Connection else {
            preconditionFailure("a SQLite store has connections of its own only")
        }
        return connection
    }
}
