// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

/// All that can be read on a connection; the calls are in the facets beside
/// this file, one for each topic of ``StoreReader``.
package protocol SQLReading: StoreReader {
    /// The connection of the transaction or snapshot.
    var connection: any SQLConnection { get }

    /// Called with every record of which the fields were read; fails when these
    /// are more than the reader may look at.
    func note(_ record: StoredRecord) throws
}

extension SQLReading {
    /// A transaction may read what it needs.
    package func note(_ record: StoredRecord) throws {}

    package func readAhead(_ reads: (any StoreReader) throws -> Void) {
        sendAhead { try reads($0) }
    }

    /// The same, for what the engines alone read.
    package func sendAhead(_ reads: (AheadReader) throws -> Void) {
        guard let ahead = connection.ahead else { return }
        // Where it cannot guess what comes next, that is read when it is asked for.
        try? reads(AheadReader(ahead))
    }

    /// Whether any webhook is to be told of notifications.
    func hasWebhooks() throws -> Bool { try hasRow("webhook", by: "id") }

    /// Whether any device has a push token.
    func hasPushTargets() throws -> Bool { try hasRow("push_token_device", by: "device") }

    /// Whether a table has a row, which its greatest value in a column with an index shows.
    private func hasRow(_ table: StaticString, by column: StaticString) throws -> Bool {
        try connection.first("SELECT max(\(column)) IS NOT NULL FROM \(table)") { $0.int(0) == 1 }
            ?? false
    }
}

/// Reads on a snapshot.
package struct SQLReader: SQLReading {
    package let connection: any SQLConnection
    private let meter: ReadMeter?

    /// Wraps a connection inside a read transaction.
    package init(_ connection: any SQLConnection, _ length: ReadLength) {
        self.connection = connection
        meter = length == .short ? nil : ReadMeter(length)
    }

    /// Wraps another connection, for what is read there within the budget of a reader.
    package init(_ connection: any SQLConnection, within reader: SQLReader) {
        self.connection = connection
        meter = reader.meter
    }

    package func note(_ record: StoredRecord) throws {
        try meter?.count(records: 1, bytes: record.fields.json.count)
    }

    package func noteWork(_ bytes: Int) throws {
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
