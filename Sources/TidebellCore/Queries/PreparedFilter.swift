// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A filter whose right side was brought into comparable form once, to be asked
/// of many records.
///
/// This is the one evaluator, of subscriptions and queries alike; its law stands
/// at ``RecordView/verdict(on:)``.
package struct PreparedFilter: Sendable {
    /// The filter as it was written.
    package let filter: WireFilter
    private let comparator: WireFilter.Comparator
    private let isNegated: Bool
    private let operand: Operand

    /// The right side, as its comparator needs it.
    private enum Operand: Sendable {
        /// One value; nil for one that is equal to nothing.
        case key(ComparisonKey?)
        /// Several values; those equal to nothing are only counted.
        case keys(Set<ComparisonKey>, areComplete: Bool)
        case prefix(String)
        case tokens(Set<String>)
        case circle(WireLocation, radius: Double)
        /// No value the comparator could work with.
        case nothing
    }

    /// Prepares a filter.
    package init(_ filter: WireFilter) {
        self.filter = filter
        (comparator, isNegated) = filter.comparator.affirmed
        operand = Self.operand(of: filter)
    }

    private static func operand(of filter: WireFilter) -> Operand {
        switch (filter.comparator.operand, filter.value) {
        case (.scalar, let value), (.element, let value):
            return .key(ComparisonKey(value, isName: filter.comparesNames))
        case (.choices, .list(_, let elements)), (.list, .list(_, let elements)):
            let keys = elements.compactMap { ComparisonKey($0, isName: filter.comparesNames) }
            return .keys(Set(keys), areComplete: keys.count == elements.count)
        case (.prefix, .string(let text)): return .prefix(text)
        case (.tokens, let value): return .tokens(value.tokens ?? [])
        case (.place, .location(let center)):
            return filter.distance.map { .circle(center, radius: $0) } ?? .nothing
        default: return .nothing
        }
    }

    /// Whether it looks at all text of a record.
    var searchesAllText: Bool {
        if case .allText = filter.subject { true } else { false }
    }

    /// Whether a record passes; `tokens` are those of all its text, where the filter
    /// looks at them.
    func passes(_ record: RecordView, tokens: Set<String>) -> Bool {
        if searchesAllText { return hasTokens(in: tokens) != isNegated }
        if case .field(let name) = filter.subject, record.fields[name]?.isEncrypted == true {
            return false
        }
        guard let found = record.value(of: filter.subject) else { return isNegated }
        return holds(for: found) != isNegated
    }

    /// Whether what was found passes the comparator without its `NOT_`.
    private func holds(for found: FieldValue) -> Bool {
        switch operand {
        case .key(let wanted): wanted.map { compares(found, with: $0) } ?? false
        case .keys(let wanted, let areComplete): overlaps(found, wanted, areComplete)
        case .prefix(let start): begins(found, with: start)
        case .tokens: hasTokens(in: found.tokens ?? [])
        case .circle(let center, let radius):
            if case .location(let place) = found {
                // QUERY-9: inside only.
                place.distance(to: center) < radius
            } else {
                false
            }
        case .nothing: false
        }
    }

    private func key(_ value: FieldValue) -> ComparisonKey? {
        ComparisonKey(value, isName: filter.comparesNames)
    }

    private func compares(_ found: FieldValue, with wanted: ComparisonKey) -> Bool {
        if comparator == .listContains {
            return found.elements?.contains { key($0) == wanted } ?? false
        }
        guard let found = key(found) else { return false }
        return switch comparator {
        case .equals: found == wanted
        case .lessThan: found.precedes(wanted) ?? false
        case .greaterThan: wanted.precedes(found) ?? false
        case .lessThanOrEquals: wanted.precedes(found).map { !$0 } ?? false
        case .greaterThanOrEquals: found.precedes(wanted).map { !$0 } ?? false
        default: false
        }
    }

    private func overlaps(
        _ found: FieldValue, _ wanted: Set<ComparisonKey>, _ areComplete: Bool
    ) -> Bool {
        if comparator == .in { return key(found).map(wanted.contains) ?? false }
        guard let elements = found.elements else { return false }
        let keys = elements.lazy.compactMap(key)
        return switch comparator {
        case .listContainsAny: keys.contains(where: wanted.contains)
        case .listContainsAll: areComplete && wanted.isSubset(of: Set(keys))
        default: false
        }
    }

    private func begins(_ found: FieldValue, with start: String) -> Bool {
        switch (comparator, found) {
        case (.beginsWith, .string(let text)): text.hasPrefix(start)
        case (.listMemberBeginsWith, .list(_, let elements)):
            elements.contains { element in
                if case .string(let text) = element { text.hasPrefix(start) } else { false }
            }
        default: false
        }
    }

    /// A search for nothing, or for skipped words only, finds nothing.
    private func hasTokens(in found: Set<String>) -> Bool {
        guard case .tokens(let wanted) = operand, !wanted.isEmpty else { return false }
        return switch comparator {
        case .containsAllTokens: wanted.isSubset(of: found)
        case .containsAnyTokens: !wanted.isDisjoint(with: found)
        default: false
        }
    }
}

extension WireFilter {
    /// Whether strings beside the subject are names of records.
    fileprivate var comparesNames: Bool {
        if case .system = subject { true } else { false }
    }
}
