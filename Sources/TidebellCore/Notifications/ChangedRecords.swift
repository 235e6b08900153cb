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

    /// Terms that a change has at most, however long its lists are: each costs four
    /// searches of an index.
    package static let termLimit = 16_384

    /// Terms of one record type.
    fileprivate struct OfType: Sendable {
        var indices: [Int] = []
        var byTerm: [SubscriptionTerm: [Int]] = [:]
        var byRange: [TermFamily: [(range: TermRange, index: Int)]] = [:]
    }

    /// In the order of the change.
    private(set) var elements: [Element]
    private var types: [String: OfType] = [:]
    private let asked: AskedTerms
    /// What to look up subscriptions by: no term twice.
    package private(set) var triggers: Set<SubscriptionTrigger> = []

    /// Decodes the records of a change.
    ///
    /// - Parameters:
    ///   - asked: The terms that there are subscriptions with; the records have no others here.
    ///   - limit: With more terms than that, what brings them is found by its family alone, lists
    ///     first.
    package init(
        _ changes: [RecordChange], asked: AskedTerms = .all, termLimit limit: Int = Self.termLimit
    ) {
        elements = changes.map { Element(change: $0, view: RecordView($0)) }
        self.asked = asked
        for (index, element) in elements.enumerated() {
            types[element.change.recordType, default: OfType()].indices.append(index)
        }
        var left = limit
        for areMany in [false, true] {
            for (index, element) in elements.enumerated() {
                // Without fields, where nobody queried, no filter can pass.
                guard element.change.fields != nil else { continue }
                for family in asked.families(of: element.view)
                where family.aspect.isOfMany == areMany {
                    let found = element.view.terms(of: family, limit: left)
                    left = max(0, left - found.count)
                    add(found, of: index, family)
                }
            }
        }
        // Filters are asked much later, if they are.
        for element in elements { element.view.forgetForms() }
        for (type, found) in types { triggers.formUnion(found.triggers(of: type)) }
    }

    private mutating func add(_ found: RecordTerms, of index: Int, _ family: TermFamily) {
        let type = elements[index].change.recordType
        for term in Set(found.terms) {
            types[type]?.byTerm[term, default: []].append(index)
        }
        for range in found.ranges {
            types[type]?.byRange[family, default: []].append((range, index))
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

    /// Returns the indices of the records that could fire the subscription, in the
    /// order of the change.
    ///
    /// 200 records and a thousand subscriptions would make 200,000 verdicts; what
    /// has a term meets only the records that have it too.
    func indices(concerning candidate: PreparedSubscription) -> [Int] {
        let subscription = candidate.subscription
        guard let type = subscription.recordType else { return Array(elements.indices) }
        guard let found = types[type] else { return [] }
        guard subscription.kind == .query else { return found.indices }
        let terms = candidate.terms.terms
        guard terms != [.never] else { return [] }
        var indices: [Int] = []
        for term in terms {
            // What was stored by an older version is found by other terms, what ended with its
            // zone by none.
            guard let family = TermFamily(of: term), asked.contains(family, of: type) else {
                return found.indices
            }
            indices += found.byTerm[term] ?? []
            indices += (found.byRange[family] ?? []).filter { $0.range.contains(term) }.map(\.index)
        }
        return indices.count > 1 ? Set(indices).sorted() : indices
    }
}

extension ChangedRecords.OfType {
    /// All terms and ranges, where none has what another has too.
    fileprivate func triggers(of type: String) -> [SubscriptionTrigger] {
        var ranges: [TermFamily: [TermRange]] = [:]
        for (family, found) in byRange {
            var joined: [TermRange] = []
            for range in found.map(\.range).sorted(by: { $0.first < $1.first }) {
                if let last = joined.last, range.first <= last.end {
                    joined[joined.count - 1].end = max(last.end, range.end)
                } else {
                    joined.append(range)
                }
            }
            ranges[family] = joined
        }
        let single = byTerm.keys.filter { term in
            guard !ranges.isEmpty, let family = TermFamily(of: term) else { return true }
            return ranges[family]?.contains { $0.contains(term) } != true
        }
        return [SubscriptionTrigger(recordType: type, term: .none)]
            + single.map { SubscriptionTrigger(recordType: type, term: $0) }
            + ranges.values.joined().map { SubscriptionTrigger(recordType: type, terms: $0) }
    }
}
