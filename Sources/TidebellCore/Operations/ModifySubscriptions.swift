// SPDX-License-Identifier: Apache-2.0
import Foundation
package import TidebellWire

extension ModifySubscriptions {
    /// Saves and deletes subscriptions of the caller; each operation succeeds or
    /// fails alone (SUB-44). A saved subscription is active when this returns
    /// (SUB-40).
    package static func run(
        _ request: Request, for call: Call,
        in transaction: some ZoneWriting & ShareReading & SubscriptionWriting & SchemaReading
            & UserReading
    ) throws -> SubscriptionsResponse {
        let user = try call.requireUser()
        let operations = request.operations.enumerated().map { index, operation in
            operation.named(call.uuids[index])
        }
        if let twice = operations.map({ ExactText($0.subscriptionID) }).firstDuplicate {
            throw WireError.badRequest(
                "subscription '\(WireError.shortened(twice.text))' is in the request twice"
            )
        }
        let zones = try RequestZones(
            operations.compactMap(\.subscription?.zoneID), for: call, in: transaction
        )
        let schema = try transaction.schema(
            of: Set(operations.lazy.compactMap(\.subscription?.queriedType)),
            inDatabaseOf: zones.database.key.owner, for: call
        )
        let database = try transaction.makeDatabase(zones.database.key)
        var subscriptions = SubscriptionSet(
            try transaction.subscriptionSummaries(of: user.id, in: database.id),
            in: call.scope, limits: call.limits,
            fetch: { try transaction.subscriptions($0, of: user.id, in: database.id) }
        )
        var saved: [WireSubscription] = []
        var removed: Set<ExactText> = []
        let results = try operations.map { operation -> SubscriptionResult in
            let id = operation.subscriptionID
            do {
                try Names.checkSubscriptionID(id, limits: call.limits)
                if let subscription = operation.subscription {
                    try check(subscription, zones, schema, for: call, in: transaction)
                    try subscriptions.save(subscription, isCreated: operation.isCreation)
                    saved.append(subscription)
                    call.queryUses.note(QueryUse(subscription), in: call.container)
                    return .subscription(zones.database.answered(subscription))
                }
                // SUB-37: deleting what does not exist is an error.
                let exact = ExactText(id)
                guard subscriptions.remove(exact) else { throw WireError.subscriptionNotFound(id) }
                removed.insert(exact)
                return .deleted(subscriptionID: id)
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

    /// Announces what saving and deleting reads (``ReadingAhead/readAhead(_:)``).
    package static func readAhead(
        _ request: Request, for call: Call, in reader: some StoreReader
    ) throws {
        let user = try call.requireUser()
        let zones = try RequestZones(
            request.operations.compactMap(\.subscription?.zoneID), for: call, in: reader)
        _ = try reader.schema(
            of: Set(request.operations.lazy.compactMap(\.subscription?.queriedType)),
            inDatabaseOf: zones.database.key.owner, for: call)
        guard let database = try reader.database(zones.database.key) else { return }
        _ = try reader.subscriptionSummaries(of: user.id, in: database.id)
    }

    private static func check(
        _ subscription: WireSubscription, _ zones: RequestZones, _ schema: ContainerSchema,
        for call: Call, in reader: some UserReading
    ) throws {
        try SubscriptionRules.check(subscription, in: call.scope, limits: call.limits)
        if let zoneID = subscription.zoneID, !zoneID.isDefault {
            _ = try zones.access(to: zoneID)
        }
        try call.hold(
            AppleRules.breach(by: subscription),
            of: "subscription '\(WireError.shortened(subscription.subscriptionID))'"
        )
        guard let type = subscription.queriedType.map(schema.awaited) else { return }
        try type.requireDeployed()
        if call.scope.isOpenToEverybody {
            let rights = try PublicRights(of: call.user, among: [type.grants], in: reader)
            guard rights.rights(by: type.grants).contains(.read) else {
                throw WireError.notReadable(type.name, type.grants)
            }
        }
        try FilterRules.check(
            subscription.filters,
            of: "subscription '\(WireError.shortened(subscription.subscriptionID))'", on: type,
            call.limits
        )
        try type.requireIndexes(of: subscription)
        try NotificationInfoRules.checkFields(of: subscription, on: type)
    }
}

extension WireSubscription {
    /// The type of the records that its predicate is about; nil without one.
    fileprivate var queriedType: String? { kind == .query ? recordType : nil }
}

extension ModifySubscriptions.Operation {
    /// What is to be saved; nil for a deletion.
    fileprivate var subscription: WireSubscription? {
        switch self {
        case .create(let subscription), .update(let subscription): subscription
        case .delete: nil
        }
    }

    /// Returns the operation, with this ID for a new subscription that came without one
    /// (SUB-28).
    fileprivate func named(_ uuid: UUID) -> ModifySubscriptions.Operation {
        guard case .create(var subscription) = self, subscription.subscriptionID.isEmpty else {
            return self
        }
        subscription.subscriptionID = uuid.uuidString
        return .create(subscription)
    }

    /// Whether the client calls the subscription new.
    fileprivate var isCreation: Bool {
        if case .create = self { true } else { false }
    }
}
