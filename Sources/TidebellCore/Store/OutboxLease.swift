// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// Who processes the changes of databases: one pass of one pipeline. Random, and never used again.
package struct LeaseHolder: RawRepresentable, Sendable, Hashable {
    package let rawValue: UUID
    package init(rawValue: UUID) { self.rawValue = rawValue }
}

/// What a pass asks the queue of databases with pending changes for.
package struct OutboxClaim: Sendable, Hashable {
    package var holder: LeaseHolder
    package var now: Instant
    /// When others may have what is claimed, unless it was given back before.
    package var vestingAt: Instant
    /// The most databases.
    package var limit: Int

    /// Creates a claim.
    package init(holder: LeaseHolder, now: Instant, vestingAt: Instant, limit: Int) {
        self.holder = holder
        self.now = now
        self.vestingAt = vestingAt
        self.limit = limit
    }
}

/// The right to process a database's changes, for one pass, until it is given back or vests and
/// another pass claims it.
package struct OutboxLease: Sendable, Hashable {
    package var database: DatabaseID
    package var holder: LeaseHolder
    /// How many passes over the database failed since the latest that did not.
    package var failures: Int

    /// Creates a lease.
    package init(database: DatabaseID, holder: LeaseHolder, failures: Int) {
        self.database = database
        self.holder = holder
        self.failures = failures
    }
}

/// What a claim gets.
package struct ClaimedOutboxes: Sendable, Hashable {
    /// In the order of the databases' turns.
    package var leases: [OutboxLease]
    /// When the next of the databases that were passed over vests; nil where none was.
    package var nextVesting: Instant?

    /// Creates an answer.
    package init(leases: [OutboxLease], nextVesting: Instant?) {
        self.leases = leases
        self.nextVesting = nextVesting
    }
}

/// A lease that is given back, and what came of it.
package struct ReturnedLease: Sendable, Hashable {
    /// What a pass did with a database.
    package enum Outcome: Sendable, Hashable {
        /// Some of its changes are processed: what failed before counts no more.
        case notified
        /// The pass did not come to it.
        case untouched
        /// The pass failed: nobody may claim the database before this moment.
        case failed(vestingAt: Instant)
    }

    package var lease: OutboxLease
    package var outcome: Outcome

    /// Creates a value.
    package init(_ lease: OutboxLease, _ outcome: Outcome) {
        self.lease = lease
        self.outcome = outcome
    }
}

/// What a database's position in the queue was when it was read: another one once some of
/// its changes are processed.
package struct OutboxVersion: Sendable, Hashable {
    /// All entries up to here are processed.
    package var done: Int64
    /// The turn of the database, which moves whenever some of its changes are processed.
    package var turn: Int64

    /// Creates a version.
    package init(done: Int64, turn: Int64) {
        self.done = done
        self.turn = turn
    }
}

/// The queue of databases with pending changes, which several passes work through at once.
///
/// Outside of transactions: an engine whose store only one process serves keeps the leases in
/// memory, where a claim costs no flush to disk and a crash leaves none behind.
package protocol OutboxLeasing: Sendable {
    /// Claims databases with pending changes that nobody else holds, in the order of their
    /// turns.
    ///
    /// A database over which a pass failed is given out alone, and not before it vests, so
    /// that it fails nobody else's; such ones and the others take turns. A lease that was not
    /// given back vests too: then the next claim may have it. Where the clock goes back behind
    /// the moment of a claim, its lease vests at once.
    func claimOutboxes(_ claim: OutboxClaim) async throws -> ClaimedOutboxes

    /// Gives leases back after what the pass did is visible; those that others hold by now
    /// stay with them.
    func returnOutboxes(_ leases: [ReturnedLease]) async throws
}
