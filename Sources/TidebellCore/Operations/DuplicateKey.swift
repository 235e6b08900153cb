// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// What makes two subscriptions of a user and database duplicates, whatever
/// their IDs: they fire on the same changes (SUB-32 to 34).
struct DuplicateKey: Sendable, Hashable {
    private let kind: WireSubscription.Kind
    private let zoneName: String?
    private let recordType: String?
    private let firesOn: WireSubscription.Events
    private let firesOnce: Bool
    private let predicate: Set<CanonicalFilter>

    /// Creates the key of a subscription; nil where the policy lets several of
    /// the kind stand beside one another.
    init?(_ subscription: WireSubscription, _ policy: DuplicatePolicy) {
        switch policy {
        case .lenient: return nil
        case .standard where subscription.kind == .database: return nil
        case .standard, .strict: break
        }
        kind = subscription.kind
        zoneName = subscription.zoneID?.zoneName
        recordType = subscription.recordType
        firesOn = subscription.firesOn
        firesOnce = subscription.firesOnce
        predicate = subscription.filters.canonical
    }
}

extension WireSubscription {
    /// A number that duplicates have in common, by which they are found; stored, so
    /// that it must stay as it is.
    package var duplicateHash: UInt64 {
        var hash = StableHash()
        for text in [kind.rawValue, zoneID?.zoneName, recordType] {
            hash.combine(UInt64(text?.utf8.count ?? Int.max))
            hash.combine((text ?? "").utf8)
        }
        hash.combine(UInt64(firesOn.rawValue) << 1 | (firesOnce ? 1 : 0))
        // A sum, because the filters have no order.
        hash.combine(filters.canonical.reduce(0) { $0 &+ $1.stableHash })
        return hash.value
    }
}
