// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// `subscriptions/list` (web-services 5.10).
extension ListSubscriptions {
    /// Returns the caller's subscriptions in the database (SUB-39).
    package static func run(
        for call: Call, in reader: some ZoneReading & SubscriptionReading
    ) throws -> SubscriptionsResponse {
        let user = try call.requireUser()
        guard let database = try reader.database(try call.databaseKey()) else {
            return SubscriptionsResponse(subscriptions: [])
        }
        let stored = try reader.subscriptions(nil, of: user.id, in: database.id)
        return SubscriptionsResponse(
            subscriptions: stored.map { .subscription(call.answered($0.subscription)) }
        )
    }
}

extension LookupSubscriptions {
    /// Returns subscriptions in the order asked for; a missing one is a
    /// `NOT_FOUND` item (SUB-38).
    package static func run(
        _ request: Request, for call: Call, in reader: some ZoneReading & SubscriptionReading
    ) throws -> SubscriptionsResponse {
        let user = try call.requireUser()
        let ids = Set(request.subscriptionIDs)
        let database = try reader.database(try call.databaseKey())
        let stored = try database.map { try reader.subscriptions(ids, of: user.id, in: $0.id) }
        let byID = Dictionary(
            uniqueKeysWithValues: (stored ?? []).map {
                ($0.subscription.subscriptionID, $0.subscription)
            }
        )
        return SubscriptionsResponse(
            subscriptions: request.subscriptionIDs.map { id in
                guard let subscription = byID[id] else {
                    return .failed(subscriptionID: id, .subscriptionNotFound(id))
                }
                return .subscription(call.answered(subscription))
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

extension Call {
    /// Returns the subscription as answers carry it: its zone with the owner's
    /// real name.
    func answered(_ subscription: WireSubscription) -> WireSubscription {
        var subscription = subscription
        subscription.zoneID = subscription.zoneID.map { answered($0.zoneName) }
        return subscription
    }
}
