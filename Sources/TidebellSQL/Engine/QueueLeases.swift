// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import TidebellCore

/// Who holds what of the queues, in memory: one process serves the store, so a claim costs no
/// commit, and with the process its leases are gone.
package final class QueueLeases: Sendable {
    /// Nobody holds anything.
    package init() {}

    /// The databases with pending changes. One that failed is given out alone, so that it fails
    /// no pass over others.
    package let outboxes = Leases<DatabaseID>(givesFailedAlone: true)
    /// What routes have to deliver, by queue.
    private let deliveries = Mutex<[DeliveryQueue: Leases<DeliveryPointer>]>([:])

    /// The leases of a queue, for a claim.
    private func deliveries(in queue: DeliveryQueue, at now: Instant) -> Leases<DeliveryPointer> {
        deliveries.withLock { tables in
            if let known = tables[queue] { return known }
            // What failed of webhooks that were removed: nobody claims there any more.
            tables = tables.filter { !$0.value.isAbandoned(at: now) }
            let new = Leases<DeliveryPointer>(givesFailedAlone: false)
            tables[queue] = new
            return new
        }
    }

    /// Takes leases back.
    package func takeDeliveries(_ returned: [ReturnedLease<DeliveryPointer>]) {
        let tables = deliveries.withLock { $0 }
        for (queue, leases) in Dictionary(grouping: returned, by: \.lease.key.queue) {
            tables[queue]?.take(leases)
        }
    }
}

/// Who holds which entry of a queue, in the memory of one process.
package final class Leases<Key: Hashable & Sendable>: Sendable {
    private let state: Mutex<LeaseTable<Key>>

    /// Creates a table in which nobody holds anything.
    init(givesFailedAlone: Bool) {
        state = Mutex(LeaseTable(givesFailedAlone: givesFailedAlone))
    }

    /// How many entries are held, or failed: so many of a queue may be passed over.
    package var count: Int { state.withLock { $0.entries.count } }

    /// Whether all entries could be claimed, and nobody did. A table without any is about to
    /// be used.
    func isAbandoned(at now: Instant) -> Bool { state.withLock { $0.isAbandoned(at: now) } }

    /// Claims entries of the queue, given in the order of their turns.
    ///
    /// - Parameter isWhole: Whether there are no others in the queue.
    package func claim(_ claim: LeaseClaim, from queue: [Key], isWhole: Bool) -> ClaimedLeases<Key>
    {
        state.withLock { $0.claim(claim, from: queue, isWhole: isWhole) }
    }

    /// Takes leases back; where others hold an entry by now it stays with them.
    package func take(_ returned: [ReturnedLease<Key>]) {
        state.withLock { state in
            for item in returned { state.take(item) }
        }
    }

    /// Whether nobody else was given the entry since.
    func holds(_ key: Key, _ holder: LeaseHolder) -> Bool {
        state.withLock { $0.entries[key]?.holder == holder }
    }
}

extension QueueLeases: OutboxLeases {
    package func holds(_ lease: OutboxLease, on connection: any SQLConnection) -> Bool {
        outboxes.holds(lease.key, lease.holder)
    }
}

extension QueueLeases {
    /// Claims databases with pending changes, and reads on in the same snapshot.
    package func claimOutboxes<Pending: Sendable>(
        _ claim: LeaseClaim, in store: some Store,
        reading body: @escaping @Sendable ([OutboxLease], any StoreReader) -> Pending
    ) async throws -> (claimed: ClaimedLeases<DatabaseID>, pending: Pending?) {
        let outboxes = outboxes
        return try await store.read { reader in
            while true {
                // All that are held may stand before the first that is not.
                let limit = claim.limit + outboxes.count
                let queue = try reader.queuedDatabases(limit: limit)
                let isWhole = queue.count < limit
                let claimed = outboxes.claim(claim, from: queue, isWhole: isWhole)
                guard claimed.leases.isEmpty else {
                    // Nothing fails from here on, so that no lease is lost.
                    return (claimed, body(claimed.leases, reader))
                }
                // Otherwise others claimed all of these since they were counted.
                if isWhole { return (claimed, nil) }
            }
        }
    }

    /// Claims what a route has to deliver.
    package func claimDeliveries(
        _ claim: LeaseClaim, in queue: DeliveryQueue, of store: some Store
    ) async throws -> ClaimedLeases<DeliveryPointer> {
        let leases = deliveries(in: queue, at: claim.now)
        while true {
            let limit = claim.limit + leases.count
            let waiting = try await store.read { try $0.queuedDeliveries(in: queue, limit: limit) }
            let isWhole = waiting.count < limit
            let claimed = leases.claim(claim, from: waiting, isWhole: isWhole)
            if isWhole || !claimed.leases.isEmpty { return claimed }
        }
    }
}
