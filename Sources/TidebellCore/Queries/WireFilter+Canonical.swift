// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A filter without what makes no difference to what it matches: the letter case
/// of an equality, the order of a list, the spelling of a number.
struct CanonicalFilter: Sendable, Hashable {
    private enum Operand: Sendable, Hashable {
        case keys(Set<ComparisonKey>)
        case prefix(String)
        case tokens(Set<ExactText>)
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
        case (.location, let value):
            operand =
                ComparisonKey(value).map { .circle($0, radius: filter.distance ?? 0) }
                ?? .other(value)
        default: operand = .other(filter.value)
        }
    }
}

extension CanonicalFilter {
    /// A number that equal filters have in common, the same in every process.
    var stableHash: UInt64 {
        var hash = StableHash()
        hash.combine(comparator.rawValue.utf8)
        switch subject {
        case .field(let name): hash.combine("field \(name)".utf8)
        case .system(let field): hash.combine("system \(field.rawValue)".utf8)
        case .allText: hash.combine("text".utf8)
        }
        switch operand {
        case .keys(let keys): hash.combine(keys.reduce(1) { $0 &+ $1.stableHash })
        case .prefix(let text): hash.combine(text.utf8)
        case .tokens(let tokens): hash.combine(tokens.reduce(2) { $0 &+ StableHash.of($1.text) })
        case .circle(let center, let radius):
            hash.combine(center.stableHash)
            hash.combine((radius == 0 ? 0 : radius).bitPattern)
        case .other: break
        }
        return hash.value
    }
}

extension ComparisonKey {
    /// The same of a key.
    fileprivate var stableHash: UInt64 {
        var hash = StableHash()
        switch self {
        case .text(let text): hash.combine("text \(text.string)".utf8)
        case .name(let name): hash.combine("name \(name.string)".utf8)
        case .number(.whole(let number)): hash.combine(UInt64(bitPattern: number))
        case .number(.fraction(let number)): hash.combine(number.bitPattern)
        case .bytes(let bytes): hash.combine(bytes)
        case .place(let latitude, let longitude):
            // Both zeros are one.
            for degrees in [latitude, longitude] {
                hash.combine((degrees == 0 ? 0 : degrees).bitPattern)
            }
        }
        return hash.value
    }
}

extension StableHash {
    fileprivate static func of(_ text: String) -> UInt64 {
        var hash = StableHash()
        hash.combine(text.utf8)
        return hash.value
    }
}

extension [WireFilter] {
    /// The predicate as what it matches: its order makes no difference.
    var canonical: Set<CanonicalFilter> { Set(map(CanonicalFilter.init)) }
}
