// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Which subscriptions may be saved.
enum SubscriptionRules {
    /// Checks everything about a subscription that needs no look at the store.
    static func check(
        _ subscription: WireSubscription, in scope: DatabaseScope, limits: Limits
    ) throws {
        try checkLegality(of: subscription.kind, in: scope)
        if let type = subscription.recordType, !(subscription.kind == .query && type == "Users") {
            try Names.checkRecordType(type, limits: limits)
        }
        switch subscription.kind {
        case .query: try checkQuery(subscription, limits: limits)
        case .zone: try checkZone(subscription)
        case .database: break
        }
        try NotificationInfoRules.check(subscription, limits: limits)
    }

    /// The nine cells of SUB-2 to SUB-5.
    private static func checkLegality(
        of kind: WireSubscription.Kind, in scope: DatabaseScope
    ) throws {
        let isLegal =
            switch (kind, scope) {
            case (.query, .public), (.query, .private): true
            case (.zone, .private): true
            case (.database, .private), (.database, .shared): true
            default: false
            }
        guard isLegal else {
            throw WireError.badRequest(
                "a \(kind) subscription cannot be saved in the \(scope) database"
            )
        }
    }

    private static func checkQuery(
        _ subscription: WireSubscription, limits: Limits
    ) throws {
        guard let type = subscription.recordType, !type.isEmpty else {
            throw WireError.badRequest("a query subscription needs a record type")
        }
        guard type != "Users" else {
            throw WireError.badRequest("records of the system type 'Users' cannot be queried")
        }
        guard !subscription.firesOn.isEmpty else {
            throw WireError.badRequest(
                "a query subscription needs at least one of create, update and delete in firesOn"
            )
        }
        let size = JSONWriter.write { writer in
            writer.array(subscription.filters) { $1.write(to: &$0) }
        }.count
        guard size <= limits.filterBytes else {
            throw WireError.badRequest(
                "filterBy takes \(size) bytes as JSON; at most \(limits.filterBytes) are stored",
                ckCode: CKErrorCode.limitExceeded
            ).naming(.filterBytes)
        }
    }

    private static func checkZone(_ subscription: WireSubscription) throws {
        guard let zoneID = subscription.zoneID else {
            throw WireError.badRequest("a zone subscription needs a zoneID")
        }
        // SUB-6: the zone must track changes.
        guard !zoneID.isDefault else {
            throw WireError.badRequest("a zone subscription cannot watch the default zone")
        }
    }
}
