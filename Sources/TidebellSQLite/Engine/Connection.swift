// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite

/// A connection on which statements run, each prepared once and kept.
///
/// GRDB owns the connections, their queues, snapshots and statement caches;
/// binding and stepping talk to SQLite directly, because a record has a dozen
/// columns and its fields are copied once this way.
///
/// Only valid inside the access that gave its `database`.
final class Connection {
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

    /// What the writes of the transaction have read; nil outside of one that several share.
    var memory: GroupMemory?
    /// Whether what runs leaves the memory true.
    private var isRemembering = false

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

    /// Runs what writes to none of the tables that the memory is about, or tells it what.
    func remembering<Result>(_ body: () throws -> Result) rethrows -> Result {
        let earlier = isRemembering
        isRemembering = true
        defer { isRemembering = earlier }
        return try body()
    }

    /// How many rows the last statement that changes any has changed.
    var changeCount: Int { database.changesCount }

    /// The ID given to the row inserted last.
    var lastInsertedID: Int64 { database.lastInsertedRowID }

    /// Whether a transaction is open; SQLite ends it by itself after some errors.
    var isInTransaction: Bool { database.isInsideTransaction }

    /// Runs a statement whose rows, if any, do not matter.
    func run(_ sql: String, _ values: any Bindable...) throws {
        try run(sql, values: values)
    }

    /// Runs a statement with any number of values, whose rows do not matter.
    func run(_ sql: String, values: [any Bindable]) throws {
        try step(sql, values) { _ in true }
    }

    /// Returns what `read` makes of each row.
    func rows<Element>(
        _ sql: String, _ values: any Bindable..., read: (Columns) throws -> Element
    ) throws -> [Element] {
        var elements: [Element] = []
        try step(sql, values) { columns in
            elements.append(try read(columns))
            return true
        }
        return elements
    }

    /// Returns what `read` makes of the first row, or nil if there is none.
    func first<Element>(
        _ sql: String, _ values: any Bindable..., read: (Columns) throws -> Element
    ) throws -> Element? {
        var element: Element?
        try step(sql, values) { columns in
            // The statement is stepped to its end all the same: one with
            // RETURNING has not happened before.
            if element == nil { element = try read(columns) }
            return true
        }
        return element
    }

    /// Calls `body` with each row until it returns false; `body` runs no
    /// statements.
    func each(
        _ sql: String, _ values: any Bindable..., body: (Columns) throws -> Bool
    ) throws {
        try step(sql, values, body)
    }

    /// Calls `body` likewise, with any number of values.
    func each(
        _ sql: String, values: [any Bindable], body: (Columns) throws -> Bool
    ) throws {
        try step(sql, values, body)
    }

    /// Ends a transaction that has read only.
    func endRead() {
        do {
            try run("COMMIT")
        } catch {
            // The reader was cancelled just now; what is stopped can be undone.
            try? run("ROLLBACK")
        }
    }

    /// Returns what `read`, which must change nothing, returns; nil where that stands on a
    /// damaged page. Such a failure undoes nothing. NB: SQLite refuses to write in a
    /// transaction that met damage, until it ends; it may go on reading.
    func unlessDamaged<Value>(_ read: () throws -> Value) throws -> Value? {
        let earlier = failure
        do {
            return try read()
        } catch DatabaseError.SQLITE_CORRUPT {
            failure = earlier
            return nil
        }
    }

    private func step(
        _ sql: String, _ values: [any Bindable], _ body: (Columns) throws -> Bool
    ) throws {
        let statement = try database.cachedStatement(sql: sql).sqliteStatement
        if sqlite3_stmt_readonly(statement) == 0 {
            hasWritten = true
            if !isRemembering { memory?.forget() }
        }
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        var index: Int32 = 0
        for value in values {
            index += 1
            let code = value.bind(to: statement, at: index)
            guard code == SQLITE_OK else { throw failed(code, sql) }
        }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                guard try body(Columns(statement: statement)) else { return }
            case SQLITE_DONE: return
            case let code: throw failed(code, sql)
            }
        }
    }

    private func failed(_ code: Int32, _ sql: String) -> DatabaseError {
        let code = ResultCode(rawValue: code)
        let message =
            code.primaryResultCode == .SQLITE_FULL
            ? "the disk is full, nothing was stored" : database.lastErrorMessage
        let error = DatabaseError(resultCode: code, message: message, sql: sql)
        note(error)
        return error
    }

    /// Returns what to throw where a row that was read cannot be right.
    func damaged(_ message: String, _ sql: String) -> DatabaseError {
        let error = DatabaseError(resultCode: .SQLITE_CORRUPT, message: message, sql: sql)
        note(error)
        return error
    }

    private func note(_ error: DatabaseError) {
        failure = failure ?? error
        if error.resultCode == .SQLITE_CORRUPT { damage = damage ?? error }
    }
}
