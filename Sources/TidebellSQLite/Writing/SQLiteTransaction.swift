// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore

/// Reads and writes in one transaction of the writer connection; the calls are in
/// the facets beside this file, one for each topic of ``StoreTransaction``.
final class SQLiteTransaction: StoreTransaction, SQLiteReading {
    let connection: Connection
    /// Who holds what of the queues; nil where nothing is delivered.
    let leases: QueueLeases?
    /// Looks whether a step keeps to its scope; nil where nobody does.
    private let scopes: ScopeCheck?
    /// Whether the outbox has entries that the pipeline is to be woken for.
    var hasAppendedOutbox = false
    /// Whether hierarchies are to be settled that were so before.
    var hasUnsettled = false
    /// The change that gave out positions last.
    var latestChange: LatestChange?
    /// The latest notification given out.
    var lastNotification = NotificationSequence.start
    /// Rows of deleted zones that the transaction has removed.
    var removedZoneRows = 0

    /// Whether somebody may no longer receive what they received.
    var hasEndedAccess = false {
        didSet { hasQuietChange = true }
    }
    /// Whether something was changed that neither a position nor a notification shows,
    /// and that must not be lost unnoticed.
    var hasQuietChange = false

    /// Wraps the writer connection inside a transaction.
    init(
        _ connection: Connection, leases: QueueLeases? = nil, scopes: ScopeCheck? = nil
    ) {
        self.connection = connection
        self.leases = leases
        self.scopes = scopes
    }

    /// Whether a table has a row, which its greatest value in a column with an index shows.
    func hasRow(_ table: StaticString, by column: StaticString) throws -> Bool {
        try connection.first("SELECT max(\(column)) IS NOT NULL FROM \(table)") { $0.int(0) == 1 }
            ?? false
    }

    /// What a caller gets who names something this store never gave.
    func missing(_ what: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_NOTFOUND, message: "\(what) is not in this store")
    }
}

extension SQLiteTransaction: StoreSteps {
    var areTogether: Bool { true }

    /// Runs a step: all steps of a write are in its transaction.
    func write<Result: Sendable>(
        _ scope: StoreScope, _ body: (any StoreTransaction) throws -> Result
    ) throws -> Result {
        try scopes?.begin(scope, in: self)
        defer { scopes?.end() }
        return try body(self)
    }

    /// Runs what makes tables anew, which takes the triggers of the check along.
    func remakingTables<Result>(_ body: () throws -> Result) throws -> Result {
        try scopes?.detach(from: connection.database)
        let result = try body()
        try scopes?.attach(to: connection.database)
        return result
    }
}
