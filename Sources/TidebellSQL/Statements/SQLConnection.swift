// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// A connection of an engine, on which the statements of this target run.
///
/// Statements are written as SQLite has them; another engine's connection spells them as it needs
/// (``SQLList`` says how lists are taken). Only valid inside the access that it was opened for.
package protocol SQLConnection: AnyObject {
    /// What the writes of the transaction have read; nil outside of one that several share.
    var memory: GroupMemory? { get set }
    /// Whether what runs leaves the memory true.
    var isRemembering: Bool { get set }
    /// What is guessed of rows, where statements are sent ahead.
    var guesses: RowGuesses? { get }
    /// Sends statements for whoever will ask for their rows, and returns none; nil where nothing waits for a
    /// network.
    var ahead: (any SQLConnection)? { get }

    /// How notifications and outbox entries are numbered.
    func numbering() throws -> Numbering

    /// Runs a statement with these values and calls `body` with each row until it returns false;
    /// `body` runs no statements.
    func step(
        _ sql: String, _ values: [any Bindable], _ body: (Columns) throws -> Bool
    ) throws

    /// The same of a query with more rows than `body` may look at, or than the bound.
    func scan(
        _ sql: String, _ values: [any Bindable], within bound: ScanBound?,
        _ body: (Columns) throws -> Bool
    ) throws

    /// Calls `body` with each row of a statement that was sent ahead; returns false where it was not, or where the
    /// rows may have changed since.
    func stepAhead(
        _ sql: String, _ values: [any Bindable], _ body: (Columns) throws -> Void
    ) throws -> Bool

    /// Runs a statement whose rows, if any, do not matter. An engine over a network may go on before the
    /// answer is there; then a later call throws the statement's error.
    func send(_ sql: String, _ values: [any Bindable]) throws

    /// The ID given to the row inserted last.
    var lastInsertedID: Int64 { get }

    /// The number that a table gave last, even if its row is gone; 0 before the first.
    func lastNumber(of table: String) throws -> Int64
    /// The same number, as an expression for a statement: it needs no look of its own.
    func lastNumberExpression(of table: String) throws -> String
    /// An expression for the distance from one number that a table gives to the next.
    func numberStepExpression(of table: String) throws -> String
    /// Takes so many numbers of a table's, and returns them in ascending order.
    func takeNumbers(_ count: Int, of table: String) throws -> [Int64]
    /// Whether the log of notifications has an index of their IDs.
    var indexesNotificationIDs: Bool { get }
    /// Whether an index may know a row that its table does not have, as in a damaged file; then both are looked at.
    var indexesMayMissRows: Bool { get }
    /// Whether the store has a table: a copy of an older version may lack some.
    func hasTable(_ name: String) throws -> Bool

    /// Whether an error is the engine's, and not one of what it was asked to read.
    func isOwn(_ error: any Error) -> Bool
    /// Whether an error says that a part of the store cannot be read.
    func isDamage(_ error: any Error) -> Bool
    /// What to throw where a row that was read cannot be right.
    func damage(_ message: String) -> any Error
    /// The same of a statement's row, after which the transaction must not be committed.
    func damaged(_ message: String, _ sql: String) -> any Error
    /// Returns what `read`, which must change nothing, returns; nil where that stands on a
    /// damaged page. Such a failure undoes nothing.
    func unlessDamaged<Value>(_ read: () throws -> Value) throws -> Value?
}

extension SQLConnection {
    /// Runs what writes to none of the tables that the memory is about, or tells it what.
    func remembering<Result>(_ body: () throws -> Result) rethrows -> Result {
        let earlier = isRemembering
        isRemembering = true
        defer { isRemembering = earlier }
        return try body()
    }

    package func send(_ sql: String, _ values: [any Bindable]) throws {
        try step(sql, values) { _ in true }
    }

    package func scan(
        _ sql: String, _ values: [any Bindable], within bound: ScanBound?,
        _ body: (Columns) throws -> Bool
    ) throws {
        try step(sql, values, body)
    }

    package var guesses: RowGuesses? { nil }
    package var ahead: (any SQLConnection)? { nil }

    package func stepAhead(
        _ sql: String, _ values: [any Bindable], _ body: (Columns) throws -> Void
    ) throws -> Bool { false }

    /// Runs a statement whose rows, if any, do not matter.
    package func run(_ sql: String, _ values: any Bindable...) throws { try send(sql, values) }

    /// Runs a statement with any number of values, whose rows do not matter.
    package func run(_ sql: String, values: [any Bindable]) throws { try send(sql, values) }

    /// Returns what `read` makes of each row.
    package func rows<Element>(
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
    package func first<Element>(
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
    ///
    /// - Parameter bound: How much it takes at most; nil where that shows only by and by.
    package func each(
        _ sql: String, _ values: any Bindable..., within bound: ScanBound? = nil,
        body: (Columns) throws -> Bool
    ) throws {
        try scan(sql, values, within: bound, body)
    }

    /// Calls `body` likewise, with any number of values.
    package func each(
        _ sql: String, values: [any Bindable], body: (Columns) throws -> Bool
    ) throws {
        try scan(sql, values, within: nil, body)
    }
}

extension SQLConnection {
    /// One counter gives them, one after the other.
    package func numberStepExpression(of table: String) throws -> String { "1" }
}
