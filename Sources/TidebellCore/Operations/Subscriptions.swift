// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// `subscriptions/list` (web-services 5.10).
extension ListSubscriptions {
    /// Returns the caller's subscriptions in the database (SUB-39); a damaged one fails alone.
    package static func run(
        for call: Call, in reader: some ZoneReading & SubscriptionReading
    ) throws -> SubscriptionsResponse {
        let user = try call.requireUser()
        let access = try call.database()
        guard let database = try reader.database(access.key) else {
            return SubscriptionsResponse(subscriptions: [])
        }
        let found = try reader.subscriptions(nil, of: user.id, in: database.id).byID
        return SubscriptionsResponse(
            subscriptions: try reader.subscriptionIDs(of: user.id, in: database.id).map { id in
                guard let subscription = found[id] else {
                    return .failed(subscriptionID: id.text, call.damage(ofSubscription: id))
                }
                return .subscription(access.answered(subscription))
            }
        )
    }
}

extension LookupSubscriptions {
    /// Returns subscriptions in the order asked for; a missing one is a
    /// `NOT_FOUND` item (SUB-38), a damaged one an `INTERNAL_ERROR`.
    package static func run(
        _ request: Request, for call: Call, in reader: some ZoneReading & SubscriptionReading
    ) throws -> SubscriptionsResponse {
        let user = try call.requireUser()
        let ids = Set(request.subscriptionIDs.map { ExactText($0) })
        let access = try call.database()
        let database = try reader.database(access.key)
        let found =
            try database.map { try reader.subscriptions(ids, of: user.id, in: $0.id).byID } ?? [:]
        var damaged: Set<ExactText> = []
        if let database, found.count < ids.count {
            damaged = ids.subtracting(found.keys).intersection(
                try reader.subscriptionIDs(of: user.id, in: database.id))
        }
        return SubscriptionsResponse(
            subscriptions: request.subscriptionIDs.map { text in
                let id = ExactText(text)
                if let subscription = found[id] {
                    return .subscription(access.answered(subscription))
                }
                return .failed(
                    subscriptionID: text,
                    damaged.contains(id)
                        ? call.damage(ofSubscription: id) : .subscriptionNotFound(text))
            }
        )
    }
}

extension WireError {
    /// No subscription of the caller has this ID in this database (SUB-37, 38).
    static func subscriptionNotFound(_ id: String) -> WireError {
        WireError(.notFound, "subscription '\(WireError.shortened(id))' does not exist")
    }
}

extension [StoredSubscription] {
    fileprivate var byID: [ExactText: WireSubscription] {
        Dictionary(map { ($0.subscription.exactID, $0.subscription) }) { first, _ in first }
    }
}

extension Call {
    /// Returns what callers get for a subscription that is there and cannot be read, and
    /// reports it.
    fileprivate func damage(ofSubscription id: ExactText) -> WireError {
        reportDamagedSubscription(id.text)
        return WireError(
            .internalError,
            "subscription '\(WireError.shortened(id.text))' is damaged on the server's disk and "
                + "fires no more; its operator finds it \(damageSearch.whereabouts); saving it "
                + "anew, or deleting it, mends it"
        )
    }
}

extension DatabaseAccess {
    /// Returns the subscription as answers carry it: its zone with the owner's
    /// real name.
    func answered(_ subscription: WireSubscription) -> WireSubscription {
        var subscription = subscription
        subscription.zoneID = subscription.zoneID.map { zoneID($0.zoneName) }
        return subscription
    }
}
