// SPDX-License-Identifier: Apache-2.0
import TidebellCore

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
        meter = if case .within(let budget) = length { ReadMeter(budget) } else { nil }
    }

    func note(_ record: StoredRecord) throws {
        try meter?.count(record)
    }
}

/// What is left of the budget of one snapshot.
private final class ReadMeter {
    private var left: ReadBudget

    init(_ budget: ReadBudget) { left = budget }

    func count(_ record: StoredRecord) throws {
        left.records -= 1
        left.bytes -= record.fields.json.count
        guard left.records >= 0, left.bytes >= 0 else { throw ReadBudgetPassed() }
    }
}
