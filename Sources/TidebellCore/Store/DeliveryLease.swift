// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// What waits to be delivered by a route: a pointer to a part of one user's log.
package enum DeliveryPointer: Sendable, Hashable {
    /// Notifications of a user, for a webhook.
    case webhook(WebhookID, UserID)
    /// Notifications for one device of a container, for a native push token.
    case pushTarget(PushTargetKey, in: ContainerKey)
}

/// The queues that pointers stand in: one for each webhook, one for the native push tokens of
/// each container.
package enum DeliveryQueue: Sendable, Hashable {
    case webhook(WebhookID)
    case pushTargets(ContainerKey)
}

/// What a route asks a queue for.
package struct DeliveryClaim: Sendable, Hashable {
    package var queue: DeliveryQueue
    package var holder: LeaseHolder
    package var now: Instant
    /// When others may have what is claimed, unless it was given back before.
    package var vestingAt: Instant
    /// The most pointers.
    package var limit: Int

    /// Creates a claim.
    package init(
        _ queue: DeliveryQueue, holder: LeaseHolder, now: Instant, vestingAt: Instant, limit: Int
    ) {
        self.queue = queue
        self.holder = holder
        self.now = now
        self.vestingAt = vestingAt
        self.limit = limit
    }
}

/// The right to deliver what a pointer points to, until it is given back or vests and somebody
/// else claims it.
package struct DeliveryLease: Sendable, Hashable {
    package var pointer: DeliveryPointer
    package var holder: LeaseHolder
    /// How many deliveries failed since the latest that did not.
    package var failures: Int

    /// Creates a lease.
    package init(pointer: DeliveryPointer, holder: LeaseHolder, failures: Int) {
        self.pointer = pointer
        self.holder = holder
        self.failures = failures
    }
}

/// What a claim of a queue gets.
package struct ClaimedDeliveries: Sendable, Hashable {
    /// In the order of the queue.
    package var leases: [DeliveryLease]
    /// When the next of the pointers that were passed over vests; nil where none was.
    package var nextVesting: Instant?

    /// Creates an answer.
    package init(leases: [DeliveryLease], nextVesting: Instant?) {
        self.leases = leases
        self.nextVesting = nextVesting
    }
}

/// A lease that is given back, and what came of it.
package struct ReturnedDelivery: Sendable, Hashable {
    /// What a route did with a pointer.
    package enum Outcome: Sendable, Hashable {
        /// Something was delivered: what failed before counts no more.
        case delivered
        /// Nothing was tried.
        case untouched
        /// The delivery failed: nobody may claim the pointer before this moment.
        case failed(vestingAt: Instant)
    }

    package var lease: DeliveryLease
    package var outcome: Outcome

    /// Creates a value.
    package init(_ lease: DeliveryLease, _ outcome: Outcome) {
        self.lease = lease
        self.outcome = outcome
    }
}

/// The queues of users who have something to be delivered, which several processes may work
/// through at once. Like ``OutboxLeasing``, and outside of transactions for the same reason.
///
/// A lease spares work that is done twice, and is not asked about again: what is delivered is
/// delivered at least once, and a cursor moves only forward, to what its holder delivered.
///
/// A pointer stands in a queue from the transaction that appends to the user's log until the
/// transaction that moves the cursor to the end of it.
package protocol DeliveryLeasing: Sendable {
    /// Claims pointers that nobody else holds and that are not postponed, in the order of the
    /// queue. A lease that was not given back vests.
    func claimDeliveries(_ claim: DeliveryClaim) async throws -> ClaimedDeliveries

    /// Gives leases back after what was done is visible; those that others hold by now stay
    /// with them.
    func returnDeliveries(_ leases: [ReturnedDelivery]) async throws
}
