// SPDX-License-Identifier: Apache-2.0

/// A table of a store, as one engine has it and another one gets it.
package struct StoreTable: Sendable, Hashable {
    /// A column of it.
    package struct Column: Sendable, Hashable {
        package var name: String
        package var type: SQLType

        package init(name: String, type: SQLType) {
            self.name = name
            self.type = type
        }
    }

    package var name: String
    /// By name, so that both engines have the same order.
    package var columns: [Column]
    /// The columns of the primary key.
    package var key: [String]

    package init(name: String, columns: [Column], key: [String]) {
        self.name = name
        self.columns = columns
        self.key = key
    }
}

/// A value in a row that is copied.
package enum CopiedValue: Sendable, Hashable {
    case null
    case number(Int64)
    /// A blob, or a text in UTF-8.
    case bytes([UInt8])

    /// Reads a column.
    package init(_ columns: Columns, _ index: Int, _ type: SQLType) {
        let column = Int32(index)
        guard !columns.isNull(column) else {
            self = .null
            return
        }
        switch type {
        case .number: self = .number(columns.int(column))
        case .bytes: self = .bytes(columns.bytes(column))
        }
    }

    /// About how many bytes it takes.
    package var size: Int { if case .bytes(let bytes) = self { bytes.count } else { 8 } }
}

/// A store whose rows are read table by table, while nobody else writes to it.
package protocol TableReading: AnyObject {
    /// All tables, by name.
    func tables() throws -> [StoreTable]
    /// Calls `body` with the rows of a table, in the order of its key.
    func rows(of table: StoreTable, _ body: ([CopiedValue]) throws -> Void) throws
    /// The numbers that tables gave last, by the table's name.
    func lastNumbers() throws -> [String: Int64]
    /// Notes that the cloud is in another store now: nobody serves this one any more.
    func closeAsMigrated() async throws
}

/// A store that gets rows, before it is served for the first time.
package protocol TableWriting: TableReading {
    /// Whether rows may be written: it is new, or a copy was begun and did not end.
    var isUnfinished: Bool { get }
    /// Makes a table empty, has `fill` hand over rows, and keeps all of them or what was there before.
    func replace(
        _ table: StoreTable, with fill: (_ add: ([CopiedValue]) throws -> Void) throws -> Void)
        throws
    /// Sets the numbers that tables gave last. Then the store may be served.
    func finish(_ lastNumbers: [String: Int64]) async throws
}
