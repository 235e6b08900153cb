// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// All that can be read on a connection; the calls are in the facets beside
/// this file, one for each topic of ``StoreReader``.
protocol SQLiteReading: StoreReader {
    /// The connection of the transaction or snapshot.
    var connection: Connection { get }

    /// Called with every record of which the fields were read; fails when these
    /// are more than the reader may look at.
    func note(_ record: StoredRecord) throws
}

extension SQLiteReading {
    /// A transaction may read what it needs.
    func note(_ record: StoredRecord) throws {}
}

/// Reads on a snapshot.
struct SQLiteReader: SQLiteReading {
    let connection: Connection
    private let meter: ReadMeter?

    /// Wraps a connection inside a read transaction.
    init(_ connection: Connection, _ length: ReadLength) {
        self.connection = connection
        meter = length == .short ? nil : ReadMeter(length)
    }

    func note(_ record: StoredRecord) throws {
        try meter?.count(records: 1, bytes: record.fields.json.count)
    }

    func noteWork(_ bytes: Int) throws {
        try meter?.count(records: 0, bytes: bytes)
    }
}

/// What is left of the budget of one snapshot, and whether somebody waits for it.
private final class ReadMeter {
    /// Nil for a long read.
    private var left: ReadBudget?

    init(_ length: ReadLength) {
        left = if case .within(let budget) = length { budget } else { nil }
    }

    func count(records: Int, bytes: Int) throws {
        // SQLite, which is interrupted, does not see what is done between two records.
        guard var left else { return try Task.checkCancellation() }
        left.records -= records
        left.bytes -= bytes
        self.left = left
        guard left.records >= 0, left.bytes >= 0 else { throw ReadBudgetPassed() }
    }
}
