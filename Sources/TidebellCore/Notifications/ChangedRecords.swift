// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// The records of one change, each decoded once, found by what subscriptions ask
/// for.
package struct ChangedRecords: Sendable {
    /// One record: what happened to it, and what filters see of it.
    struct Element: Sendable {
        var change: RecordChange
        var view: RecordView
    }

    /// In the order of the change.
    let elements: [Element]
    private var byType: [String: [Int]] = [:]
    private var byTrigger: [SubscriptionTrigger: [Int]] = [:]

    /// Decodes the records of a change.
    package init(_ changes: [RecordChange]) {
        elements = changes.map { Element(change: $0, view: RecordView($0)) }
        for (index, element) in elements.enumerated() {
            let type = element.change.recordType
            byType[type, default: []].append(index)
            // Without fields, where nobody queried, no filter can pass.
            let terms = element.change.fields == nil ? [.none] : element.view.terms
            for term in terms {
                byTrigger[SubscriptionTrigger(recordType: type, term: term), default: []]
                    .append(index)
            }
        }
    }

    /// What to look up subscriptions by.
    package var triggers: Set<SubscriptionTrigger> { Set(byTrigger.keys) }

    /// Returns the places of the records that could fire the subscription, in the
    /// order of the change.
    ///
    /// 200 records and a thousand subscriptions would make 200,000 verdicts; what
    /// has a term meets only the records that have it too.
    func indices(concerning candidate: PreparedSubscription) -> [Int] {
        let subscription = candidate.subscription
        guard let type = subscription.recordType else { return Array(elements.indices) }
        guard subscription.kind == .query else { return byType[type] ?? [] }
        return byTrigger[SubscriptionTrigger(recordType: type, term: candidate.term)] ?? []
    }
}
