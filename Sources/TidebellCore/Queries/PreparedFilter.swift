// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

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
        case keys(ValueSet<ComparisonKey>, areComplete: Bool)
        case prefix(CanonicalText)
        case tokens(ValueSet<ExactText>)
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
            return .key(ComparisonKey(value, isName: filter.isOfNames))
        case (.choices, .list(_, let elements)), (.list, .list(_, let elements)):
            let keys = elements.compactMap { ComparisonKey($0, isName: filter.isOfNames) }
            return .keys(ValueSet(Set(keys)), areComplete: keys.count == elements.count)
        case (.prefix, .string(let text)): return .prefix(CanonicalText(text))
        case (.tokens, let value): return .tokens(ValueSet(value.tokens ?? []))
        case (.location, .location(let center)):
            return filter.distance.map { .circle(center, radius: $0) } ?? .nothing
        default: return .nothing
        }
    }

    /// Whether a record passes.
    func passes(_ record: RecordView) -> Bool {
        switch filter.subject {
        case .allText: return hasTokens(record) != isNegated
        case .field(let name) where record.fields[name]?.isEncrypted == true: return false
        case .field, .system: break
        }
        guard let found = record.value(of: filter.subject) else { return isNegated }
        return holds(for: found, of: record) != isNegated
    }

    /// Whether what was found passes the comparator without its `NOT_`.
    private func holds(for found: FieldValue, of record: RecordView) -> Bool {
        switch operand {
        case .key(let wanted): wanted.map { compares(record, with: $0) } ?? false
        case .keys(let wanted, let areComplete): overlaps(record, wanted, areComplete)
        case .prefix(let start): begins(found, of: record, with: start)
        case .tokens: hasTokens(record)
        case .circle(let center, let radius):
            if case .location(let location) = found {
                // QUERY-9: inside only.
                location.distance(to: center) < radius
            } else {
                false
            }
        case .nothing: false
        }
    }

    private func compares(_ record: RecordView, with wanted: ComparisonKey) -> Bool {
        if comparator == .listContains {
            return record.elementKeys(of: filter.subject)?.contains(wanted) ?? false
        }
        guard let found = record.key(of: filter.subject) else { return false }
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
        _ record: RecordView, _ wanted: ValueSet<ComparisonKey>, _ areComplete: Bool
    ) -> Bool {
        if comparator == .in {
            return record.key(of: filter.subject).map(wanted.contains) ?? false
        }
        guard let found = record.elementKeys(of: filter.subject) else { return false }
        return switch comparator {
        case .listContainsAny: wanted.overlaps(found)
        case .listContainsAll: areComplete && wanted.isSubset(of: found)
        default: false
        }
    }

    private func begins(
        _ found: FieldValue, of record: RecordView, with start: CanonicalText
    ) -> Bool {
        switch (comparator, found) {
        case (.beginsWith, .string), (.listMemberBeginsWith, .list):
            record.texts(of: filter.subject).contains { $0.begins(with: start) }
        default: false
        }
    }

    /// A search for nothing, or for skipped words only, finds nothing.
    private func hasTokens(_ record: RecordView) -> Bool {
        guard case .tokens(let wanted) = operand, !wanted.isEmpty,
            let found = record.tokens(of: filter.subject)
        else { return false }
        return switch comparator {
        case .containsAllTokens: wanted.isSubset(of: found)
        case .containsAnyTokens: wanted.overlaps(found)
        default: false
        }
    }

    // MARK: What it costs

    /// What asking a record costs, in bytes that are read once (``ReadBudget/bytes``); to be
    /// counted before it is asked. What was made for another filter costs nothing more.
    func work(on record: RecordView) -> Int {
        let subject = filter.subject
        let size = record.size(of: subject)
        func making(_ kind: FieldForms.Kind, _ weight: Int) -> Int {
            record.has(kind, of: subject) ? 0 : size * weight
        }
        let made =
            switch operand {
            case .tokens: making(.tokens, ReadWork.tokens)
            case .keys where comparator != .in: making(.elements, ReadWork.folding)
            case .key where comparator == .listContains: making(.elements, ReadWork.folding)
            case .key, .keys: making(.key, ReadWork.folding)
            case .prefix:
                making(.texts, ReadWork.folding)
                    + (comparator == .listMemberBeginsWith ? size : 0)
            case .circle, .nothing: 0
            }
        return Self.leastWork + made + min(size, operandSize) * ReadWork.comparing
    }

    /// What each filter costs at least.
    private static let leastWork = 16

    private var operandSize: Int {
        guard case .tokens(let words) = operand else { return filter.value.comparedBytes }
        return words.count * 32
    }
}
