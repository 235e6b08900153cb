// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore

/// Who holds which database of the outbox's queue, in memory: one process serves the file, so
/// a claim costs no flush, and with the process its leases are gone.
final class OutboxLeases: Sendable {
    private struct Entry {
        /// Nil where it was given back after a failure.
        var holder: LeaseHolder?
        var since: Instant
        var vestingAt: Instant
        var failures: Int

        func isVested(at now: Instant) -> Bool { now >= vestingAt || now < since }
    }

    private struct State {
        var entries: [DatabaseID: Entry] = [:]
        /// Whether the latest claim got a database that failed before.
        var gaveFailed = false

        /// Forgets databases that left the queue in another way than by being processed.
        mutating func forgetVested(except queue: [DatabaseID], at now: Instant) {
            guard !entries.isEmpty else { return }
            let queued = Set(queue)
            entries = entries.filter { queued.contains($0.key) || !$0.value.isVested(at: now) }
        }
    }

    private let state = Mutex(State())

    /// How many databases are held, or failed: so many of the queue may be passed over.
    var count: Int { state.withLock(\.entries.count) }

    /// Claims databases of the queue, given in the order of their turns.
    ///
    /// - Parameter isWhole: Whether there are no others in the queue.
    func claim(_ claim: OutboxClaim, from queue: [DatabaseID], isWhole: Bool) -> ClaimedOutboxes {
        state.withLock { state in
            if isWhole { state.forgetVested(except: queue, at: claim.now) }
            var free: [DatabaseID] = []
            var failed: (database: DatabaseID, vestingAt: Instant)?
            var next: Instant?
            for database in queue {
                guard let entry = state.entries[database] else {
                    free.append(database)
                    continue
                }
                if !entry.isVested(at: claim.now) {
                    next = min(next ?? entry.vestingAt, entry.vestingAt)
                } else if entry.failures == 0 {
                    free.append(database)
                } else if failed.map({ entry.vestingAt < $0.vestingAt }) ?? true {
                    failed = (database, entry.vestingAt)
                }
            }
            let givesFailed = failed != nil && (free.isEmpty || !state.gaveFailed)
            state.gaveFailed = givesFailed
            let given = givesFailed ? failed.map { [$0.database] } ?? [] : free
            let leases = given.prefix(claim.limit).map { database in
                let failures = state.entries[database]?.failures ?? 0
                state.entries[database] = Entry(
                    holder: claim.holder, since: claim.now, vestingAt: claim.vestingAt,
                    failures: failures
                )
                return OutboxLease(database: database, holder: claim.holder, failures: failures)
            }
            return ClaimedOutboxes(leases: leases, nextVesting: next)
        }
    }

    /// Takes leases back; of those that others hold by now it leaves everything as it is.
    func take(_ returned: [ReturnedLease]) {
        state.withLock { state in
            for item in returned {
                let (lease, database) = (item.lease, item.lease.database)
                guard var entry = state.entries[database], entry.holder == lease.holder else {
                    continue
                }
                entry.holder = nil
                entry.vestingAt = entry.since
                switch item.outcome {
                case .notified: entry.failures = 0
                case .untouched: break
                case .failed(let moment):
                    entry.failures += 1
                    entry.vestingAt = moment
                }
                state.entries[database] = entry.failures == 0 ? nil : entry
            }
        }
    }

    /// Whether nobody else was given the database since.
    func holds(_ lease: OutboxLease) -> Bool {
        state.withLock { $0.entries[lease.database]?.holder == lease.holder }
    }
}
