// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore

/// Who holds what of the queues, in memory: one process serves the file, so a claim costs no
/// flush, and with the process its leases are gone.
final class QueueLeases: Sendable {
    /// The databases with pending changes. One that failed is given out alone, so that it fails
    /// no pass over others.
    let outboxes = Leases<DatabaseID>(givesFailedAlone: true)
    /// What routes have to deliver.
    let deliveries = Leases<DeliveryPointer>(givesFailedAlone: false)
}

/// Who holds which entry of a queue.
final class Leases<Key: Hashable & Sendable>: Sendable {
    /// What was claimed.
    struct Claimed: Sendable {
        var keys: [(key: Key, failures: Int)]
        var nextVesting: Instant?
    }

    /// What became of an entry.
    enum Outcome {
        case done, untouched
        case failed(vestingAt: Instant)
    }

    private struct Entry {
        /// Nil where it was given back after a failure.
        var holder: LeaseHolder?
        var since: Instant
        var vestingAt: Instant
        var failures: Int

        func isVested(at now: Instant) -> Bool { now >= vestingAt || now < since }
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// Whether the latest claim got an entry that failed before.
        var gaveFailed = false

        /// Forgets entries that left the queue in another way than by being done.
        mutating func forgetVested(
            except queue: [Key], at now: Instant, among belongs: (Key) -> Bool
        ) {
            guard !entries.isEmpty else { return }
            let queued = Set(queue)
            entries = entries.filter {
                !belongs($0.key) || queued.contains($0.key) || !$0.value.isVested(at: now)
            }
        }
    }

    private let givesFailedAlone: Bool
    private let state = Mutex(State())

    /// Creates a table in which nobody holds anything.
    init(givesFailedAlone: Bool) {
        self.givesFailedAlone = givesFailedAlone
    }

    /// How many of the entries are held, or failed: so many of a queue may be passed over.
    func count(where belongs: (Key) -> Bool) -> Int {
        state.withLock { state in state.entries.keys.count { belongs($0) } }
    }

    /// Claims entries of a queue, given in the order of their turns.
    ///
    /// - Parameters:
    ///   - isWhole: Whether there are no others in the queue.
    ///   - belongs: Whether an entry is of this queue.
    func claim(
        as holder: LeaseHolder, at now: Instant, vestingAt: Instant, limit: Int,
        from queue: [Key], isWhole: Bool, where belongs: (Key) -> Bool
    ) -> Claimed {
        state.withLock { state in
            if isWhole { state.forgetVested(except: queue, at: now, among: belongs) }
            var free: [Key] = []
            var failed: (key: Key, vestingAt: Instant)?
            var next: Instant?
            for key in queue {
                guard let entry = state.entries[key] else {
                    free.append(key)
                    continue
                }
                if !entry.isVested(at: now) {
                    next = min(next ?? entry.vestingAt, entry.vestingAt)
                } else if entry.failures == 0 || !givesFailedAlone {
                    free.append(key)
                } else if failed.map({ entry.vestingAt < $0.vestingAt }) ?? true {
                    failed = (key, entry.vestingAt)
                }
            }
            let givesFailed = failed != nil && (free.isEmpty || !state.gaveFailed)
            state.gaveFailed = givesFailed
            let given = givesFailed ? failed.map { [$0.key] } ?? [] : free
            let keys = given.prefix(limit).map { key in
                let failures = state.entries[key]?.failures ?? 0
                state.entries[key] = Entry(
                    holder: holder, since: now, vestingAt: vestingAt, failures: failures
                )
                return (key: key, failures: failures)
            }
            return Claimed(keys: keys, nextVesting: next)
        }
    }

    /// Takes an entry back; where others hold it by now everything is left as it is.
    func take(_ key: Key, from holder: LeaseHolder, _ outcome: Outcome) {
        state.withLock { state in
            guard var entry = state.entries[key], entry.holder == holder else { return }
            entry.holder = nil
            entry.vestingAt = entry.since
            switch outcome {
            case .done: entry.failures = 0
            case .untouched: break
            case .failed(let moment):
                entry.failures += 1
                entry.vestingAt = moment
            }
            state.entries[key] = entry.failures == 0 ? nil : entry
        }
    }

    /// Whether nobody else was given the entry since.
    func holds(_ key: Key, _ holder: LeaseHolder) -> Bool {
        state.withLock { $0.entries[key]?.holder == holder }
    }
}

extension Leases<DatabaseID> {
    /// Claims databases of the queue, given in the order of their turns.
    func claim(_ claim: OutboxClaim, from queue: [DatabaseID], isWhole: Bool) -> ClaimedOutboxes {
        let claimed = self.claim(
            as: claim.holder, at: claim.now, vestingAt: claim.vestingAt, limit: claim.limit,
            from: queue, isWhole: isWhole, where: { _ in true }
        )
        return ClaimedOutboxes(
            leases: claimed.keys.map {
                OutboxLease(database: $0.key, holder: claim.holder, failures: $0.failures)
            },
            nextVesting: claimed.nextVesting
        )
    }

    /// Takes leases back.
    func take(_ returned: [ReturnedLease]) {
        for item in returned {
            let outcome: Outcome =
                switch item.outcome {
                case .notified: .done
                case .untouched: .untouched
                case .failed(let moment): .failed(vestingAt: moment)
                }
            take(item.lease.database, from: item.lease.holder, outcome)
        }
    }
}

extension Leases<DeliveryPointer> {
    /// Claims pointers of a queue, given in its order.
    func claim(
        _ claim: DeliveryClaim, from queue: [DeliveryPointer], isWhole: Bool
    ) -> ClaimedDeliveries {
        let claimed = self.claim(
            as: claim.holder, at: claim.now, vestingAt: claim.vestingAt, limit: claim.limit,
            from: queue, isWhole: isWhole, where: claim.queue.isOf
        )
        return ClaimedDeliveries(
            leases: claimed.keys.map {
                DeliveryLease(pointer: $0.key, holder: claim.holder, failures: $0.failures)
            },
            nextVesting: claimed.nextVesting
        )
    }

    /// Takes leases back.
    func take(_ returned: [ReturnedDelivery]) {
        for item in returned {
            let outcome: Outcome =
                switch item.outcome {
                case .delivered: .done
                case .untouched: .untouched
                case .failed(let moment): .failed(vestingAt: moment)
                }
            take(item.lease.pointer, from: item.lease.holder, outcome)
        }
    }
}

extension DeliveryQueue {
    /// Whether a pointer stands in this queue, if it waits.
    func isOf(_ pointer: DeliveryPointer) -> Bool {
        switch (self, pointer) {
        case (.webhook(let id), .webhook(let webhook, _)): id == webhook
        case (.pushTargets(let own), .pushTarget(_, in: let container)): own == container
        default: false
        }
    }
}
