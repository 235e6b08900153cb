// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A filter without what makes no difference to what it matches: the letter case
/// of an equality, the order of a list, the spelling of a number.
struct CanonicalFilter: Sendable, Hashable {
    private enum Operand: Sendable, Hashable {
        case keys(Set<ComparisonKey>)
        case prefix(String)
        case tokens(Set<String>)
        case circle(ComparisonKey, radius: Double)
        case other(FieldValue)
    }

    private var comparator: WireFilter.Comparator
    private let subject: WireFilter.Subject
    private let operand: Operand

    /// Creates the canonical form of a filter.
    init(_ filter: WireFilter) {
        comparator = filter.comparator
        subject = filter.subject
        let isName = if case .system = filter.subject { true } else { false }
        func keys(_ values: [FieldValue]) -> Operand {
            .keys(Set(values.compactMap { ComparisonKey($0, isName: isName) }))
        }
        switch (filter.comparator.operand, filter.value) {
        case (.scalar, let value), (.element, let value): operand = keys([value])
        case (.choices, .list(_, let elements)):
            operand = keys(elements)
            if elements.count == 1 {
                comparator = filter.comparator == .in ? .equals : .notEquals
            }
        case (.list, .list(_, let elements)): operand = keys(elements)
        case (.prefix, .string(let text)): operand = .prefix(text)
        case (.tokens, let value): operand = .tokens(value.tokens ?? [])
        case (.place, let value):
            operand =
                ComparisonKey(value).map { .circle($0, radius: filter.distance ?? 0) }
                ?? .other(value)
        default: operand = .other(filter.value)
        }
    }
}

extension [WireFilter] {
    /// The predicate as what it matches: its order makes no difference.
    var canonical: Set<CanonicalFilter> { Set(map(CanonicalFilter.init)) }
}
