// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension ModifySubscriptions {
    /// Saves and deletes subscriptions of the caller; each operation succeeds or
    /// fails alone (SUB-44). A saved subscription is active when this returns
    /// (SUB-40).
    package static func run(
        _ request: Request, for call: Call, in transaction: any StoreTransaction
    ) throws -> SubscriptionsResponse {
        let user = try call.requireUser()
        if let twice = request.operations.map(\.subscriptionID).firstDuplicate {
            throw WireError.badRequest(
                "subscription '\(Names.shortened(twice))' stands twice in the request"
            )
        }
        let database = try transaction.makeDatabase(try call.databaseKey())
        let stored = try transaction.subscriptions(nil, of: user.id, in: database.id)
        var existing = stored.map(\.subscription)
        var saved: [WireSubscription] = []
        var removed: Set<String> = []
        let results = try request.operations.map { operation -> SubscriptionResult in
            let id = operation.subscriptionID
            do {
                try Names.checkSubscriptionID(id, limits: call.limits)
                switch operation {
                case .create(let subscription), .update(let subscription):
                    try check(subscription, among: existing, for: call, in: transaction)
                    existing.removeAll { $0.subscriptionID == id }
                    existing.append(subscription)
                    saved.append(subscription)
                    return .subscription(call.answered(subscription))
                case .delete:
                    // SUB-37: deleting what does not exist is an error.
                    guard existing.contains(where: { $0.subscriptionID == id }) else {
                        throw WireError.subscriptionNotFound(id)
                    }
                    existing.removeAll { $0.subscriptionID == id }
                    removed.insert(id)
                    return .deleted(subscriptionID: id)
                }
            } catch let error as WireError {
                return .failed(subscriptionID: id, error.visible(to: call))
            }
        }
        if !removed.isEmpty {
            try transaction.removeSubscriptions(removed, of: user.id, in: database.id)
        }
        if !saved.isEmpty {
            try transaction.putSubscriptions(
                saved.map {
                    StoredSubscription(database: database.id, user: user.id, subscription: $0)
                }
            )
        }
        return SubscriptionsResponse(subscriptions: results)
    }

    private static func check(
        _ subscription: WireSubscription, among existing: [WireSubscription], for call: Call,
        in reader: any StoreReader
    ) throws {
        try SubscriptionRules.check(subscription, in: call.scope, limits: call.limits)
        if let zoneID = subscription.zoneID, !zoneID.isDefault {
            _ = try call.zone(zoneID, in: reader)
        }
        try NotificationInfoRules.checkFields(of: subscription, in: reader, for: call)
        if let twin = existing.first(where: { SubscriptionRules.isDuplicate(subscription, of: $0) })
        {
            // SUB-34: CloudKit's own words, which clients match, and its own code.
            throw WireError.badRequest(
                "subscription is duplicate of '\(twin.subscriptionID)'",
                ckCode: CKErrorCode.serverRejectedRequest
            )
        }
        let isNew = !existing.contains { $0.subscriptionID == subscription.subscriptionID }
        guard !isNew || existing.count < call.limits.subscriptionsPerUser else {
            throw WireError.badRequest(
                "more than \(call.limits.subscriptionsPerUser) subscriptions in the "
                    + "\(call.scope) database; delete some first",
                ckCode: CKErrorCode.limitExceeded
            )
        }
    }
}
