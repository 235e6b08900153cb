// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// What a query subscription is found by: the value its most selective filter
/// asks a field to have, as text.
///
/// Guarantee: a record that passes all filters has the subscription's term among
/// its own. Not the other way round: long texts are cut, and other filters have
/// their part; ``RecordView/verdict(on:)`` decides.
package struct SubscriptionTerm: RawRepresentable, Sendable, Hashable {
    /// The term of a predicate that no index helps with; every record has it.
    package static let none = SubscriptionTerm(rawValue: "")
    /// The term of a predicate that nothing passes; no record has it.
    package static let never = SubscriptionTerm(rawValue: "!")

    /// How many Unicode scalars of a value a term keeps.
    private static let valueLimit = 64

    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    /// Chooses the term of a predicate.
    package init(of filters: [WireFilter]) {
        guard !filters.contains(where: \.passesNothing) else {
            self = .never
            return
        }
        let terms = filters.compactMap(\.term)
        self = terms.min { $0.rank < $1.rank }?.term ?? .none
    }

    /// How a term's value stands in its field.
    fileprivate enum Position: String {
        /// It is the field's value.
        case value = "="
        /// It is among the field's elements.
        case element = "@"
    }

    fileprivate init?(_ field: String, _ position: Position, _ key: ComparisonKey?) {
        let value: String
        switch key {
        case .text(let text): value = "s" + text.prefix(Self.valueLimit).string
        case .name(let name): value = "r" + name.prefix(Self.valueLimit).string
        case .number(.whole(let number)): value = "n\(number)"
        case .number(.fraction(let number)): value = "n\(number)"
        case .bytes, .place, nil: return nil
        }
        rawValue = field + position.rawValue + value
    }

    /// What all terms of a field begin with, whatever its value.
    fileprivate init(beginningOf field: String, _ position: Position) {
        rawValue = field + position.rawValue
    }

    /// What all terms of the same field begin with; nil for ``none`` and ``never``.
    package var beginning: SubscriptionTerm? {
        // No name of a field has either sign.
        rawValue.firstIndex { $0 == "=" || $0 == "@" }
            .map { SubscriptionTerm(rawValue: String(rawValue[...$0])) }
    }
}

extension WireFilter {
    /// Whether no record passes, whatever it holds.
    fileprivate var passesNothing: Bool {
        (comparator == .in || comparator == .listContainsAny) && value.elements?.isEmpty == true
    }

    /// The term the filter alone would give, and how little selective it is.
    fileprivate var term: (term: SubscriptionTerm, rank: Int)? {
        guard let (position, wanted) = indexable else { return nil }
        let (name, isSystem) =
            switch subject {
            case .field(let name): (name, false)
            case .system(let field): (field.schemaName, true)
            case .allText: ("", false)
            }
        guard !name.isEmpty else { return nil }
        let key = ComparisonKey(wanted, isName: isSystem)
        return SubscriptionTerm(name, position, key).map { ($0, rank(position, key)) }
    }

    /// The value a record must have, or have among the elements of its field.
    private var indexable: (SubscriptionTerm.Position, FieldValue)? {
        switch comparator {
        case .equals: (.value, value)
        case .in where value.elements?.count == 1: value.elements.map { (.value, $0[0]) }
        case .listContains: (.element, value)
        case .listContainsAny where value.elements?.count == 1:
            value.elements.map { (.element, $0[0]) }
        case .listContainsAll: value.elements?.first.map { (.element, $0) }
        default: nil
        }
    }

    private func rank(_ position: SubscriptionTerm.Position, _ key: ComparisonKey?) -> Int {
        if position == .element { return 5 }
        return switch (subject, key) {
        case (.system(.recordName), _): 0
        // Everything of a user: of few users there may be many records.
        case (.system(.createdUserRecordName), _), (.system(.modifiedUserRecordName), _): 4
        case (_, .name): 1
        case (_, .text): 2
        // Numbers are often flags.
        default: 3
        }
    }
}

/// The terms of a record, as far as so many may be.
package struct RecordTerms: Sendable {
    package fileprivate(set) var terms: Set<SubscriptionTerm> = []
    /// What the terms of those of its fields begin with that would have brought too many.
    package fileprivate(set) var beginnings: Set<SubscriptionTerm> = []
}

extension RecordView {
    /// The terms of all predicates the record might pass.
    ///
    /// As many as it has fields and elements of lists, and a few more.
    package var terms: Set<SubscriptionTerm> {
        var limit = Int.max
        return systemTerms.union(terms(ofLists: false, limit: &limit).terms)
            .union(terms(ofLists: true, limit: &limit).terms)
    }

    /// Those of them that do not depend on its fields.
    package var systemTerms: Set<SubscriptionTerm> {
        var terms: Set<SubscriptionTerm> = [.none]
        for field in WireFilter.SystemField.allCases {
            guard let value = value(of: .system(field)) else { continue }
            let key = ComparisonKey(value, isName: true)
            if let term = SubscriptionTerm(field.schemaName, .value, key) { terms.insert(term) }
        }
        return terms
    }

    /// Returns the terms of its fields, either of lists or of all others, and takes them from
    /// `limit`; a field that has more values than are left there is known by what its terms
    /// begin with.
    package func terms(ofLists: Bool, limit: inout Int) -> RecordTerms {
        var found = RecordTerms()
        let position: SubscriptionTerm.Position = ofLists ? .element : .value
        for (name, field) in fields where !field.isEncrypted {
            let elements = field.value.elements
            guard (elements != nil) == ofLists else { continue }
            let values = elements ?? [field.value]
            guard values.count <= limit else {
                found.beginnings.insert(SubscriptionTerm(beginningOf: name, position))
                continue
            }
            limit -= values.count
            for value in values {
                let term = SubscriptionTerm(name, position, ComparisonKey(value))
                if let term { found.terms.insert(term) }
            }
        }
        return found
    }
}
