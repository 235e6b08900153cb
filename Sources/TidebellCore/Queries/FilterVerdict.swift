// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What a predicate says about a record.
package enum FilterVerdict: Sendable, Hashable {
    /// Every filter holds.
    case matches
    /// The first filter that does not hold, and what the record has there; nil for
    /// a field that is missing, encrypted, or not one field.
    case failed(WireFilter, found: FieldValue?)
}

extension RecordView {
    /// Returns whether the record passes all filters (QUERY-3), and if not, the
    /// first that fails.
    ///
    /// This is the one evaluator, of subscriptions and queries alike. Its law:
    /// - A missing field, or one of another type, passes no comparator; a `NOT_`
    ///   comparator passes exactly what its counterpart does not, so `NOT_EQUALS`
    ///   passes a record without the field.
    /// - An encrypted field passes nothing, neither (REC-11).
    /// - Strings are equal whatever their case, and ordered likewise; prefixes and
    ///   names of records are exact (QUERY-8). Numbers and moments are compared by
    ///   value, a reference by its target (REF-8).
    package func verdict(on filters: [WireFilter]) -> FilterVerdict {
        for filter in filters where !filter.passes(self) {
            return .failed(filter, found: value(of: filter.subject))
        }
        return .matches
    }
}

extension WireFilter {
    fileprivate func passes(_ record: RecordView) -> Bool {
        let (comparator, isNegated) = comparator.affirmed
        if case .allText = subject {
            return Self.hasTokens(of: value, comparator, in: record.searchableTokens) != isNegated
        }
        if case .field(let name) = subject, record.fields[name]?.isEncrypted == true {
            return false
        }
        guard let found = record.value(of: subject) else { return isNegated }
        return holds(comparator, found) != isNegated
    }

    /// Whether what was found passes; the comparator is none of the `NOT_` ones.
    private func holds(_ comparator: Comparator, _ found: FieldValue) -> Bool {
        switch comparator {
        case .equals: key(found).map { $0 == key(value) } ?? false
        case .lessThan: precedes(found, value) ?? false
        case .greaterThan: precedes(value, found) ?? false
        case .lessThanOrEquals: precedes(value, found).map { !$0 } ?? false
        case .greaterThanOrEquals: precedes(found, value).map { !$0 } ?? false
        case .near: isNear(found)
        case .containsAllTokens, .containsAnyTokens:
            Self.hasTokens(of: value, comparator, in: found.tokens ?? [])
        case .in: value.elements.map { has(found, among: $0) } ?? false
        case .listContains: found.elements.map { has(value, among: $0) } ?? false
        case .listContainsAny: overlap(found) { wanted, test in wanted.contains(where: test) }
        case .listContainsAll: overlap(found) { wanted, test in wanted.allSatisfy(test) }
        case .beginsWith: Self.text(of: found).map(hasPrefix) ?? false
        case .listMemberBeginsWith:
            found.elements?.contains { Self.text(of: $0).map(hasPrefix) ?? false } ?? false
        case .notEquals, .notIn, .notListContains, .notListContainsAny, .notListContainsAll,
            .notBeginsWith, .notListMemberBeginsWith:
            false
        }
    }

    /// Whether strings beside the subject are names of records.
    private var comparesNames: Bool {
        if case .system = subject { true } else { false }
    }

    private func key(_ value: FieldValue) -> ComparisonKey? {
        ComparisonKey(value, isName: comparesNames)
    }

    private func precedes(_ left: FieldValue, _ right: FieldValue) -> Bool? {
        guard let left = key(left), let right = key(right) else { return nil }
        return left.precedes(right)
    }

    private func has(_ value: FieldValue, among elements: [FieldValue]) -> Bool {
        guard let wanted = key(value) else { return false }
        return elements.contains { key($0) == wanted }
    }

    private func overlap(
        _ found: FieldValue,
        _ quantifier: (_ wanted: [FieldValue], _ test: (FieldValue) -> Bool) -> Bool
    ) -> Bool {
        guard let elements = found.elements, let wanted = value.elements else { return false }
        let keys = Set(elements.compactMap(key))
        return quantifier(wanted) { element in key(element).map(keys.contains) ?? false }
    }

    private func hasPrefix(_ text: String) -> Bool {
        Self.text(of: value).map(text.hasPrefix) ?? false
    }

    private static func text(of value: FieldValue) -> String? {
        if case .string(let text) = value { text } else { nil }
    }

    /// A search for nothing, or for skipped words only, finds nothing.
    private static func hasTokens(
        of value: FieldValue, _ comparator: Comparator, in found: Set<String>
    ) -> Bool {
        guard let wanted = value.tokens, !wanted.isEmpty else { return false }
        return switch comparator {
        case .containsAllTokens: wanted.isSubset(of: found)
        case .containsAnyTokens: !wanted.isDisjoint(with: found)
        default: false
        }
    }

    /// Whether a place lies inside the circle (QUERY-9).
    private func isNear(_ found: FieldValue) -> Bool {
        guard case .location(let place) = found, case .location(let center) = value,
            let distance
        else { return false }
        return place.distance(to: center) < distance
    }
}

extension WireFilter.Comparator {
    /// The comparator without its `NOT_`, and whether it had one.
    var affirmed: (comparator: Self, isNegated: Bool) {
        switch self {
        case .notEquals: (.equals, true)
        case .notIn: (.in, true)
        case .notListContains: (.listContains, true)
        case .notListContainsAny: (.listContainsAny, true)
        case .notListContainsAll: (.listContainsAll, true)
        case .notBeginsWith: (.beginsWith, true)
        case .notListMemberBeginsWith: (.listMemberBeginsWith, true)
        default: (self, false)
        }
    }
}
