// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A subscription in the form in which many changes are held against it.
struct PreparedSubscription: Sendable {
    /// What a subscription is known by while its content stays the same: one that ended
    /// with its zone has another serial than what was saved anew under its ID.
    struct Key: Hashable {
        private let key: SubscriptionKey
        private let serial: SubscriptionSerial

        init(_ stored: StoredSubscription) {
            key = stored.key
            serial = stored.serial
        }
    }

    let subscription: WireSubscription
    /// What it is found by.
    let terms: SubscriptionTerms
    private let filters: [PreparedFilter]

    /// Prepares a subscription.
    init(_ stored: StoredSubscription) {
        subscription = stored.subscription
        terms = SubscriptionTerms(of: subscription.filters)
        filters = subscription.filters.map(PreparedFilter.init)
    }

    /// Returns what the change of one record means to it.
    func verdict(
        on element: ChangedRecords.Element, inZone zoneName: String
    ) -> SubscriptionVerdict {
        subscription.verdict(
            on: element.change, showing: element.view, inZone: zoneName, asking: filters
        )
    }
}
