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

    /// Terms of fields that a change has at most, however long its lists are: each costs two
    /// searches of an index.
    package static let termLimit = 16_384

    /// In the order of the change.
    private(set) var elements: [Element]
    private var byType: [String: [Int]] = [:]
    private var byTrigger: [SubscriptionTrigger: [Int]] = [:]

    /// Decodes the records of a change.
    ///
    /// - Parameter limit: With more terms than that, the fields that bring them are found by
    ///   their names alone, lists first: their elements are many, and what asks for one is rare.
    package init(_ changes: [RecordChange], termLimit limit: Int = Self.termLimit) {
        elements = changes.map { Element(change: $0, view: RecordView($0)) }
        for (index, element) in elements.enumerated() {
            byType[element.change.recordType, default: []].append(index)
            // Without fields, where nobody queried, no filter can pass.
            let terms = element.change.fields == nil ? [.none] : element.view.systemTerms
            add(terms, of: index)
        }
        var left = limit
        for ofLists in [false, true] {
            for (index, element) in elements.enumerated() where element.change.fields != nil {
                let found = element.view.terms(ofLists: ofLists, limit: &left)
                add(found.terms, of: index)
                add(found.beginnings, of: index, areBeginnings: true)
            }
        }
    }

    private mutating func add(
        _ terms: Set<SubscriptionTerm>, of index: Int, areBeginnings: Bool = false
    ) {
        let type = elements[index].change.recordType
        for term in terms {
            let trigger = SubscriptionTrigger(
                recordType: type, term: term, isBeginning: areBeginnings
            )
            byTrigger[trigger, default: []].append(index)
        }
    }

    /// Has searches of all text look at these fields alone, of records of these types (QUERY-5).
    package mutating func search(_ fields: [String: Set<String>]) {
        guard !fields.isEmpty else { return }
        for (index, element) in elements.enumerated() {
            guard let searched = fields[element.change.recordType] else { continue }
            elements[index].view.searched = searched
        }
    }

    /// What to look up subscriptions by.
    package var triggers: Set<SubscriptionTrigger> { Set(byTrigger.keys) }

    /// Returns the indices of the records that could fire the subscription, in the
    /// order of the change.
    ///
    /// 200 records and a thousand subscriptions would make 200,000 verdicts; what
    /// has a term meets only the records that have it too.
    func indices(concerning candidate: PreparedSubscription) -> [Int] {
        let subscription = candidate.subscription
        guard let type = subscription.recordType else { return Array(elements.indices) }
        guard subscription.kind == .query else { return byType[type] ?? [] }
        let exact = byTrigger[SubscriptionTrigger(recordType: type, term: candidate.term)] ?? []
        guard let beginning = candidate.term.beginning,
            let others = byTrigger[
                SubscriptionTrigger(recordType: type, term: beginning, isBeginning: true)]
        else { return exact }
        return exact.isEmpty ? others : (exact + others).sorted()
    }
}
