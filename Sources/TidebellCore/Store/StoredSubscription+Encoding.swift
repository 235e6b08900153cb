// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// How a subscription stands in the store: bytes without meaning to an engine, and what it
/// is found by.
extension StoredSubscription {
    /// The subscription as an engine keeps it.
    package var encoded: [UInt8] { subscription.json }

    /// Reads what ``encoded`` wrote.
    package init(
        serial: SubscriptionSerial, database: DatabaseID, user: UserID, encoded: [UInt8]
    ) throws {
        self.init(
            serial: serial, database: database, user: user,
            subscription: try JSONReader.read(encoded) { reader in
                try SubscriptionParts(from: &reader).subscription()
            }
        )
    }

    /// What the subscription is found by.
    package var keys: SubscriptionKeys { SubscriptionKeys(of: subscription) }
}

/// What an engine finds a subscription by, and knows of it without its content.
package struct SubscriptionKeys: Sendable, Hashable {
    package var kind: WireSubscription.Kind
    /// The only zone it is about; nil for all.
    package var zoneName: String?
    /// Of a query subscription.
    package var recordType: String?
    /// Of a query subscription: a record that it is about has one of them; never empty.
    package var terms: [SubscriptionTerm]
    /// See ``WireSubscription/duplicateHash``.
    package var duplicateHash: UInt64

    /// Creates the keys of a subscription.
    package init(of subscription: WireSubscription) {
        kind = subscription.kind
        zoneName = subscription.zoneID?.zoneName
        recordType = subscription.recordType
        terms = SubscriptionTerms(of: subscription.filters).terms
        duplicateHash = subscription.duplicateHash
    }
}
