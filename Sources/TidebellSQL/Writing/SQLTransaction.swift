// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

/// Who holds which database's outbox.
package protocol OutboxLeases: Sendable {
    /// Whether nobody else was given the lease since, as a transaction sees it.
    func holds(_ lease: OutboxLease, on connection: any SQLConnection) throws -> Bool
}

/// Looks whether steps keep to their scopes.
package protocol StepScopes: AnyObject {
    /// Notes that a step begins.
    func begin(_ scope: StoreScope, in reader: some SQLReading) throws
    /// Notes that the step has ended.
    func end()
    /// Whether nothing of others comes between the steps of a transaction.
    var areTogether: Bool { get }
    /// Notes that an access ends: writes of whoever had it, which may have begun elsewhere, end before this
    /// one does.
    func waitForOthers()
}

/// The error of a write that names something its store never gave.
package struct MissingRow: Error, CustomStringConvertible {
    let what: String
    package var description: String { "\(what) is not in this store" }
}

/// The latest change of a database.
package struct LatestChange: Sendable, Hashable {
    package var database: DatabaseID
    package var position: Position

    package init(database: DatabaseID, position: Position) {
        self.database = database
        self.position = position
    }
}

/// Reads and writes in one transaction of a connection; the calls are in
/// the facets beside this file, one for each topic of ``StoreTransaction``.
package final class SQLTransaction: StoreTransaction, SQLReading {
    package let connection: any SQLConnection
    /// Who holds what of the queues; nil where nothing is delivered.
    let leases: (any OutboxLeases)?
    /// Looks whether a step keeps to its scope; nil where nobody does.
    package let scopes: (any StepScopes)?
    /// Whether the outbox has entries that the pipeline is to be woken for.
    package var hasAppendedOutbox = false
    /// The users to whose logs notifications were appended.
    package var notifiedUsers: Set<UserID> = []
    /// Whether hierarchies are to be settled that were so before.
    package var hasUnsettled = false
    /// The change that gave out positions last.
    package var latestChange: LatestChange?
    /// The latest notification given out.
    package var lastNotification = NotificationSequence.start
    /// Rows of deleted zones that the transaction has removed.
    package var removedZoneRows = 0

    /// Whether somebody may no longer receive what they received.
    package var hasEndedAccess = false {
        didSet {
            hasQuietChange = true
            scopes?.waitForOthers()
        }
    }
    /// Whether something was changed that neither a position nor a notification shows,
    /// and that must not be lost unnoticed.
    package var hasQuietChange = false

    /// Wraps the writer connection inside a transaction.
    package init(
        _ connection: any SQLConnection, leases: (any OutboxLeases)? = nil,
        scopes: (any StepScopes)? = nil
    ) {
        self.connection = connection
        self.leases = leases
        self.scopes = scopes
    }

    /// What a caller gets who names something this store never gave.
    package func missing(_ what: String) -> MissingRow { MissingRow(what: what) }
}

extension SQLTransaction: StoreSteps {
    package var areTogether: Bool { scopes?.areTogether ?? true }

    /// Runs a step: all steps of a write are in its transaction.
    package func write<Result: Sendable>(
        _ scope: StoreScope, _ body: (any StoreTransaction) throws -> Result
    ) throws -> Result {
        try scopes?.begin(scope, in: self)
        defer { scopes?.end() }
        return try body(self)
    }
}
