// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

/// What is known of the entries of one queue that are held, or that failed, and what follows from it: a
/// value, wherever it is kept.
package struct LeaseTable<Key: Hashable & Sendable>: Sendable {
    /// An entry of the queue that somebody holds, or that failed.
    package struct Entry: Sendable, Hashable {
        /// Nil where it was given back after a failure.
        package var holder: LeaseHolder?
        /// When it was claimed.
        package var since: Instant
        /// From when on others may have it.
        package var vestingAt: Instant
        /// How often it failed since it last did not.
        package var failures: Int

        /// Creates an entry.
        package init(holder: LeaseHolder?, since: Instant, vestingAt: Instant, failures: Int) {
            self.holder = holder
            self.since = since
            self.vestingAt = vestingAt
            self.failures = failures
        }
    }

    /// What is known of entries; nobody holds the others, and none of them failed.
    package var entries: [Key: Entry]
    /// Whether the latest claim got an entry that failed before.
    package var gaveFailed = false
    private let givesFailedAlone: Bool
    private let clockTolerance: Duration

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - givesFailedAlone: Whether an entry that failed is given out alone.
    ///   - clockTolerance: By how much a claim may seem to be later than now without its having vested: what
    ///     the clocks of those who claim may differ by.
    package init(
        _ entries: [Key: Entry] = [:], givesFailedAlone: Bool, clockTolerance: Duration = .zero
    ) {
        self.entries = entries
        self.givesFailedAlone = givesFailedAlone
        self.clockTolerance = clockTolerance
    }

    private func isVested(_ entry: Entry, at now: Instant) -> Bool {
        now >= entry.vestingAt || now.advanced(by: clockTolerance) < entry.since
    }

    /// Whether all entries could be claimed, and nobody did. A table without any is about to
    /// be used.
    func isAbandoned(at now: Instant) -> Bool {
        !entries.isEmpty && entries.values.allSatisfy { isVested($0, at: now) }
    }

    /// Forgets entries that left the queue in another way than by being done.
    private mutating func forgetVested(except queue: [Key], at now: Instant) {
        guard !entries.isEmpty else { return }
        let queued = Set(queue)
        entries = entries.filter {
            queued.contains($0.key) || ($0.value.holder != nil && !isVested($0.value, at: now))
        }
    }

    /// Claims entries of the queue, given in the order of their turns.
    ///
    /// - Parameter isWhole: Whether there are no others in the queue.
    package mutating func claim(
        _ claim: LeaseClaim, from queue: [Key], isWhole: Bool
    ) -> ClaimedLeases<Key> {
        if isWhole { forgetVested(except: queue, at: claim.now) }
        var free: [Key] = []
        var failed: (key: Key, vestingAt: Instant)?
        var next: Instant?
        for key in queue {
            guard let entry = entries[key] else {
                free.append(key)
                continue
            }
            if !isVested(entry, at: claim.now) {
                next = min(next ?? entry.vestingAt, entry.vestingAt)
            } else if entry.failures == 0 || !givesFailedAlone {
                free.append(key)
            } else if failed.map({ entry.vestingAt < $0.vestingAt }) ?? true {
                failed = (key, entry.vestingAt)
            }
        }
        let givesFailed = failed != nil && (free.isEmpty || !gaveFailed)
        gaveFailed = givesFailed
        let given = givesFailed ? failed.map { [$0.key] } ?? [] : free
        let leases = given.prefix(claim.limit).map { key in
            let failures = entries[key]?.failures ?? 0
            entries[key] = Entry(
                holder: claim.holder, since: claim.now, vestingAt: claim.vestingAt,
                failures: failures
            )
            return QueueLease(of: key, holder: claim.holder, failures: failures)
        }
        return ClaimedLeases(leases: leases, nextVesting: next)
    }

    /// Takes a lease back; where somebody else holds the entry by now it stays with them.
    package mutating func take(_ returned: ReturnedLease<Key>) {
        let key = returned.lease.key
        guard var entry = entries[key], entry.holder == returned.lease.holder else { return }
        entry.holder = nil
        entry.vestingAt = entry.since
        switch returned.outcome {
        case .done: entry.failures = 0
        case .untouched: break
        case .failed(let moment):
            entry.failures = returned.lease.failures + 1
            entry.vestingAt = moment
        }
        entries[key] = entry.failures == 0 ? nil : entry
    }
}
