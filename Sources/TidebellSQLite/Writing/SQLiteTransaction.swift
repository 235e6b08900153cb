// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore

/// Reads and writes in one savepoint of the writer connection; the calls are in
/// the facets beside this file, one for each topic of ``StoreTransaction``.
final class SQLiteTransaction: StoreTransaction, SQLiteReading {
    let connection: Connection
    /// Who holds what of the queues; nil where nothing is delivered.
    let leases: QueueLeases?
    /// Whether the outbox has entries that the pipeline is to be told of.
    var hasAppendedOutbox = false
    /// The change that gave out positions last.
    var latestChange: LatestChange?
    /// The latest notification given out.
    var lastNotification = NotificationSequence.start
    /// Rows of deleted zones that the transaction has removed.
    var removedZoneRows = 0

    /// Whether somebody may not hear any more what they heard.
    var hasEndedAccess = false {
        didSet { hasQuietChange = true }
    }
    /// Whether something was changed that neither a position nor a notification tells of,
    /// and that must not be lost unnoticed.
    var hasQuietChange = false

    /// Wraps the writer connection inside a transaction.
    init(_ connection: Connection, leases: QueueLeases? = nil) {
        self.connection = connection
        self.leases = leases
    }

    /// What a caller gets who names something this store never gave.
    func missing(_ what: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_NOTFOUND, message: "\(what) is not in this store")
    }
}
