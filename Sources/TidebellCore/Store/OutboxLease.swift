// SPDX-License-Identifier: Apache-2.0

/// The right to process a database's changes, for one pass.
package typealias OutboxLease = QueueLease<DatabaseID>

/// What a database's position in the queue was when it was read: another one once some of
/// its changes are processed.
package struct OutboxVersion: Sendable, Hashable {
    /// All entries up to here are processed.
    package var done: OutboxPosition
    /// The turn of the database, which moves whenever some of its changes are processed.
    package var turn: Int64

    /// Creates a version.
    package init(done: OutboxPosition, turn: Int64) {
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
    /// the moment of a claim, by more than the clocks of those who claim may differ, its lease vests at once.
    ///
    /// - Parameter body: Reads what the pass needs of the databases it got, in a snapshot that was
    ///   not taken before the claim; no lease may be lost for what it fails in. Not called where
    ///   nothing was claimed.
    func claimOutboxes<Pending: Sendable>(
        _ claim: LeaseClaim,
        reading body: @escaping @Sendable ([OutboxLease], any StoreReader) -> Pending
    ) async throws -> (claimed: ClaimedLeases<DatabaseID>, pending: Pending?)

    /// Gives leases back after what the pass did is visible; those that others hold by now
    /// stay with them.
    func returnOutboxes(_ leases: [ReturnedLease<DatabaseID>]) async throws
}
