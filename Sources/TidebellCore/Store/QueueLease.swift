// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// Who works on entries of a queue: one claim of one worker. Random, and never used again.
package struct LeaseHolder: RawRepresentable, Sendable, Hashable {
    package let rawValue: UUID
    package init(rawValue: UUID) { self.rawValue = rawValue }
}

/// What a worker asks a queue for.
package struct LeaseClaim: Sendable, Hashable {
    package var holder: LeaseHolder
    package var now: Instant
    /// When others may have what is claimed, unless it was given back before.
    package var vestingAt: Instant
    /// The most entries.
    package var limit: Int

    /// Creates a claim.
    package init(holder: LeaseHolder, now: Instant, vestingAt: Instant, limit: Int) {
        self.holder = holder
        self.now = now
        self.vestingAt = vestingAt
        self.limit = limit
    }
}

/// The right to work on an entry of a queue, until it is given back or vests and somebody else
/// claims it.
package struct QueueLease<Key: Hashable & Sendable>: Sendable, Hashable {
    /// The entry.
    package var key: Key
    package var holder: LeaseHolder
    /// How often the entry failed since it last did not. Failures are counted on from here: who
    /// got something done before it failed gives the lease back with none.
    package var failures: Int

    /// Creates a lease.
    package init(of key: Key, holder: LeaseHolder, failures: Int) {
        self.key = key
        self.holder = holder
        self.failures = failures
    }
}

/// What a claim gets.
package struct ClaimedLeases<Key: Hashable & Sendable>: Sendable, Hashable {
    /// In the order of the queue.
    package var leases: [QueueLease<Key>]
    /// When the next of the entries that were passed over vests; nil where none was.
    package var nextVesting: Instant?

    /// Creates an answer.
    package init(leases: [QueueLease<Key>], nextVesting: Instant?) {
        self.leases = leases
        self.nextVesting = nextVesting
    }
}

/// A lease that is given back, and what came of it.
package struct ReturnedLease<Key: Hashable & Sendable>: Sendable, Hashable {
    package var lease: QueueLease<Key>
    package var outcome: LeaseOutcome

    /// Creates a value.
    package init(_ lease: QueueLease<Key>, _ outcome: LeaseOutcome) {
        self.lease = lease
        self.outcome = outcome
    }
}

/// What was done with an entry of a queue.
package enum LeaseOutcome: Sendable, Hashable {
    /// Something of it, or all: what failed before counts no more.
    case done
    /// Nothing was tried.
    case untouched
    /// It failed: nobody may claim it before this moment.
    case failed(vestingAt: Instant)
}
