// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// What waits to be delivered by a route: a pointer to a part of one user's log.
package enum DeliveryPointer: Sendable, Hashable {
    /// Notifications of a user, for a webhook.
    case webhook(WebhookID, UserID)
    /// Notifications for one device of a container, for a native push token.
    case pushTarget(PushTargetKey, in: ContainerKey)

    /// The queue that the pointer stands in while it waits.
    package var queue: DeliveryQueue {
        switch self {
        case .webhook(let id, _): .webhook(id)
        case .pushTarget(_, in: let container): .pushTargets(container)
        }
    }
}

/// The queues that pointers stand in: one for each webhook, one for the native push tokens of
/// each container.
package enum DeliveryQueue: Sendable, Hashable {
    case webhook(WebhookID)
    case pushTargets(ContainerKey)
}

/// The right to deliver what a pointer points to.
package typealias DeliveryLease = QueueLease<DeliveryPointer>

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
    func claimDeliveries(
        _ claim: LeaseClaim, in queue: DeliveryQueue
    ) async throws -> ClaimedLeases<DeliveryPointer>

    /// Gives leases back after what was done is visible; those that others hold by now stay
    /// with them.
    func returnDeliveries(_ leases: [ReturnedLease<DeliveryPointer>]) async throws
}
