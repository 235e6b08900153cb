// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// `subscriptions/list` (web-services 5.10).
extension ListSubscriptions {
    /// Returns the caller's subscriptions in the database (SUB-39).
    package static func run(
        for call: Call, in reader: some ZoneReading & SubscriptionReading
    ) throws -> SubscriptionsResponse {
        let user = try call.requireUser()
        let access = try call.database()
        guard let database = try reader.database(access.key) else {
            return SubscriptionsResponse(subscriptions: [])
        }
        let stored = try reader.subscriptions(nil, of: user.id, in: database.id)
        return SubscriptionsResponse(
            subscriptions: stored.map { .subscription(access.answered($0.subscription)) }
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
        let ids = Set(request.subscriptionIDs.map { ExactText($0) })
        let access = try call.database()
        let database = try reader.database(access.key)
        let stored = try database.map { try reader.subscriptions(ids, of: user.id, in: $0.id) }
        let byID = Dictionary(
            (stored ?? []).map { ($0.subscription.exactID, $0.subscription) }
        ) { first, _ in first }
        return SubscriptionsResponse(
            subscriptions: request.subscriptionIDs.map { id in
                guard let subscription = byID[ExactText(id)] else {
                    return .failed(subscriptionID: id, .subscriptionNotFound(id))
                }
                return .subscription(access.answered(subscription))
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

extension DatabaseAccess {
    /// Returns the subscription as answers carry it: its zone with the owner's
    /// real name.
    func answered(_ subscription: WireSubscription) -> WireSubscription {
        var subscription = subscription
        subscription.zoneID = subscription.zoneID.map { zoneID($0.zoneName) }
        return subscription
    }
}
