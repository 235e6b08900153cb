// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A user's subscriptions in one database while a request changes them.
struct SubscriptionSet {
    private var byID: [String: WireSubscription] = [:]
    private var owners: [DuplicateKey: [String]] = [:]
    private let limits: Limits

    /// Takes over what is stored.
    init(_ stored: [StoredSubscription], limits: Limits) {
        self.limits = limits
        for stored in stored { save(stored.subscription) }
    }

    /// Fails where saving the subscription would break the policy on duplicates
    /// or the bound on their number.
    ///
    /// - Parameter isCreated: Whether the client says it is new.
    func check(_ subscription: WireSubscription, isCreated: Bool, in scope: DatabaseScope) throws {
        let known = byID[subscription.subscriptionID]
        if limits.duplicateSubscriptions == .strict, isCreated, known == subscription {
            throw WireError.duplicate(of: subscription.subscriptionID)
        }
        if let twin = twin(of: subscription) { throw WireError.duplicate(of: twin) }
        guard known != nil || byID.count < limits.subscriptionsPerUser else {
            throw WireError.badRequest(
                "more than \(limits.subscriptionsPerUser) subscriptions in the \(scope) database; "
                    + "delete some first",
                ckCode: CKErrorCode.limitExceeded
            )
        }
    }

    /// The ID of another subscription that fires on the same changes; the first
    /// in alphabetical order, where the policy was another when they were saved.
    private func twin(of subscription: WireSubscription) -> String? {
        guard let key = DuplicateKey(subscription, limits.duplicateSubscriptions) else {
            return nil
        }
        return owners[key]?.filter { $0 != subscription.subscriptionID }.min()
    }

    /// Adds a subscription, in place of the one with its ID.
    mutating func save(_ subscription: WireSubscription) {
        remove(subscription.subscriptionID)
        byID[subscription.subscriptionID] = subscription
        guard let key = DuplicateKey(subscription, limits.duplicateSubscriptions) else { return }
        owners[key, default: []].append(subscription.subscriptionID)
    }

    /// Takes a subscription away; returns whether it was there.
    @discardableResult
    mutating func remove(_ id: String) -> Bool {
        guard let known = byID.removeValue(forKey: id) else { return false }
        if let key = DuplicateKey(known, limits.duplicateSubscriptions) {
            owners[key]?.removeAll { $0 == id }
        }
        return true
    }
}

extension WireError {
    /// SUB-34: CloudKit's own words, which clients match, and its own code.
    fileprivate static func duplicate(of id: String) -> WireError {
        .badRequest(
            "subscription is duplicate of '\(id)'", ckCode: CKErrorCode.serverRejectedRequest
        )
    }
}
