// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The terms of a predicate: a record that passes has one of them.
package struct SubscriptionTerms: Sendable, Hashable {
    /// At least one.
    package let terms: [SubscriptionTerm]
    /// Why no filter can be looked up, in words; nil where one is, or where there is none: what asks
    /// for every record of a type is fired by every change.
    package let reasonAgainst: String?

    /// The most terms that a subscription is filed under; a filter that asks for one of more values
    /// is not looked up.
    package static let limit = 100
    private static let partsOfRange = 4
    private static let partsOfCircle = 8

    /// Chooses the terms of a predicate: those of its most selective filter.
    package init(of filters: [WireFilter]) {
        guard !filters.contains(where: \.passesNothing) else {
            (terms, reasonAgainst) = ([.never], nil)
            return
        }
        let choices =
            filters.compactMap(Self.equality) + filters.compactMap(Self.search)
            + Self.ranges(filters.filter(\.isOfOrder))
        if choices.contains(where: \.terms.isEmpty) {
            (terms, reasonAgainst) = ([.never], nil)
        } else if let best = choices.min(by: {
            ($0.rank, $0.terms.count) < ($1.rank, $1.terms.count)
        }) {
            (terms, reasonAgainst) = (best.terms, nil)
        } else {
            terms = [.none]
            reasonAgainst = filters.isEmpty ? nil : Self.reasonAgainst(filters)
        }
    }

    /// What one filter, or several together, would be found by.
    private struct Choice {
        var rank: Rank
        /// None where nothing passes.
        var terms: [SubscriptionTerm]
    }

    /// How little is likely to be found, the least first.
    private enum Rank: Int, Comparable {
        case recordName, name, text, start, word, place, number, part
        /// Everything of a user: of few users there may be many records.
        case user
        case element, bound

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    // MARK: Equality

    /// The values of which a record must have one.
    private static func equality(_ filter: WireFilter) -> Choice? {
        guard filter.subject != .allText else { return nil }
        let (aspect, wanted): (SubscriptionTerm.Aspect, [FieldValue])
        switch filter.comparator {
        case .equals: (aspect, wanted) = (.value, [filter.value])
        case .in: (aspect, wanted) = (.value, filter.value.elements ?? [])
        case .listContains: (aspect, wanted) = (.element, [filter.value])
        case .listContainsAny: (aspect, wanted) = (.element, filter.value.elements ?? [])
        case .listContainsAll:
            (aspect, wanted) = (.element, Array((filter.value.elements ?? []).prefix(1)))
        default: return nil
        }
        let keys = wanted.compactMap { ComparisonKey($0, isName: filter.isOfNames) }
        guard !keys.isEmpty else { return nil }
        let terms = Set(
            keys.compactMap { SubscriptionTerm(filter.subject.termName, aspect, $0) })
        guard terms.count <= limit else { return nil }
        let rank = keys.map { Self.rank(filter.subject, aspect, $0) }.max() ?? Rank.element
        return Choice(rank: rank, terms: terms.sorted())
    }

    private static func rank(
        _ subject: WireFilter.Subject, _ aspect: SubscriptionTerm.Aspect, _ key: ComparisonKey
    ) -> Rank {
        if aspect == .element { return .element }
        return switch (subject, key) {
        case (.system(.recordName), _): .recordName
        case (.system(.createdUserRecordName), _), (.system(.modifiedUserRecordName), _): .user
        case (_, .name): .name
        case (_, .text), (_, .bytes): .text
        case (_, .place): .place
        // Numbers are often flags.
        case (_, .number): .number
        }
    }

    // MARK: What queries are found by

    /// A prefix, words or a place; nil for anything else.
    private static func search(_ filter: WireFilter) -> Choice? {
        guard let source = IndexSource.of(filter).first else { return nil }
        let name = filter.subject.termName
        switch source.kind {
        case .prefix:
            let aspect =
                filter.comparator == .beginsWith ? SubscriptionTerm.Aspect.start : .elementStart
            // All texts begin with nothing.
            guard let key = source.ranges.first?.first, key.rawValue.count > 1 else { return nil }
            return Choice(
                rank: aspect == .start ? .start : .element,
                terms: [SubscriptionTerm(name, aspect, key: key)])
        case .words:
            let words = Set(source.ranges.map { SubscriptionTerm(name, .word, key: $0.first) })
            return words.count <= limit ? Choice(rank: .word, terms: words.sorted()) : nil
        case .distance:
            let parts = KeyParts.covering(source.ranges, atMost: partsOfCircle)
            return Choice(rank: .place, terms: parts.map { SubscriptionTerm(name, .cell, $0) })
        case .equality, .choice, .range: return nil
        }
    }

    /// What comparisons leave of each field's values.
    private static func ranges(_ filters: [WireFilter]) -> [Choice] {
        // What every search of an index looks at has no value that could be compared.
        IndexSource.all(of: filters).compactMap { source in
            guard case .value(let subject) = source.form else { return nil }
            guard let range = source.ranges.first(where: { $0 != .always }) else {
                return Choice(rank: .bound, terms: [])
            }
            return choice(range, subject.termName)
        }
    }

    private static func choice(_ range: FieldIndexRange, _ name: String) -> Choice? {
        let kind = range.first.rawValue[0]
        switch (range.first.rawValue.count > 1, range.end.rawValue != [kind + 1]) {
        case (true, true):
            let parts = KeyParts.covering([range], atMost: partsOfRange)
            return Choice(rank: .part, terms: parts.map { SubscriptionTerm(name, .part, $0) })
        case (true, false):
            return Choice(rank: .bound, terms: [SubscriptionTerm(name, .floor, key: range.first)])
        case (false, true):
            return Choice(rank: .bound, terms: [SubscriptionTerm(name, ceiling: range.end)])
        case (false, false): return nil
        }
    }

    // MARK: Without terms

    private static func reasonAgainst(_ filters: [WireFilter]) -> String {
        let reasons = filters.map { filter in
            let what =
                "\(filter.comparator.rawValue) on '\(WireError.shortened(filter.subject.name))'"
            if filter.comparator.affirmed.isNegated { return "\(what) only excludes" }
            if (filter.value.elements?.count ?? 0) > limit {
                return "\(what) asks for one of more than \(limit) values"
            }
            if filter.comparator.operand == .tokens {
                return "\(what) asks for one of more than \(limit) words"
            }
            if filter.comparator.operand == .prefix { return "\(what) asks for no beginning" }
            return "\(what) asks for no value that can be looked up"
        }
        let shown = reasons.prefix(3).joined(separator: ", ")
        return reasons.count > 3 ? "\(shown), …" : shown
    }
}

extension SubscriptionTerm {
    /// Creates the term of what is before an end; one that is cut becomes greater.
    fileprivate init(_ field: String, ceiling end: FieldIndexKey) {
        let isCut = end.rawValue.count > Self.keyLimit
        self.init(
            field, .ceiling,
            // No byte of UTF-8 is the greatest there is.
            key: isCut
                ? FieldIndexKey(rawValue: end.rawValue.prefix(Self.keyLimit - 1) + [0xFF]) : end)
    }
}

extension WireFilter {
    /// Whether no record passes, whatever it holds.
    fileprivate var passesNothing: Bool {
        (comparator == .in || comparator == .listContainsAny) && value.elements?.isEmpty == true
            || comparator.operand == .tokens && value.tokens?.isEmpty == true
    }

    /// Whether a record's value must stand on one side of another.
    fileprivate var isOfOrder: Bool {
        switch comparator {
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals: true
        default: false
        }
    }
}
