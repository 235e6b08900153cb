// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Which terms there are subscriptions with; a change makes those of its terms alone that belong
/// to them.
package struct AskedTerms: Sendable {
    /// Whatever could be asked for.
    package static let all = AskedTerms(families: nil)

    /// By record type; nil for all.
    private var families: [String: Set<TermFamily>]?

    /// Creates the terms of families, by record type.
    package init(_ families: [String: Set<TermFamily>]) { self.families = families }

    private init(families: [String: Set<TermFamily>]?) { self.families = families }

    /// Whether there may be subscriptions on a type with terms of a family.
    func contains(_ family: TermFamily, of type: String) -> Bool {
        families.map { $0[type]?.contains(family) ?? false } ?? true
    }

    /// The families that a record may have terms of, those of which it has few first.
    func families(of record: RecordView) -> [TermFamily] {
        (families.map { $0[record.type] ?? [] } ?? record.allFamilies)
            .sorted { ($0.order, $0.field) < ($1.order, $1.field) }
    }
}

extension TermFamily {
    /// Lists come last: their elements are many, and what asks for one is rare.
    fileprivate var order: Int { aspect.isOfMany ? 1 : 0 }
}

/// Terms that a record has.
struct RecordTerms: Sendable {
    var terms: [SubscriptionTerm] = []
    var ranges: [TermRange] = []

    var count: Int { terms.count + ranges.count }
}

extension RecordView {
    /// All that it can have terms of.
    fileprivate var allFamilies: Set<TermFamily> {
        let names = Array(fields.keys) + WireFilter.SystemField.allCases.map(\.schemaName)
        return Set(
            names.flatMap { name in
                SubscriptionTerm.Aspect.allCases.map { TermFamily(name, $0) }
            } + [TermFamily("", .word)])
    }

    /// Returns the terms of a family that the record has; where they are more than `limit`, all
    /// terms of the family stand for them.
    func terms(of family: TermFamily, limit: Int) -> RecordTerms {
        let subject = family.subject
        let keys: [ComparisonKey]
        switch family.aspect {
        case .value, .start, .part, .floor, .ceiling: keys = key(of: subject).map { [$0] } ?? []
        case .element, .elementStart:
            guard case .field(let name) = subject,
                let elements = value(of: .field(name))?.elements
            else { return RecordTerms() }
            guard elements.count <= limit else { return RecordTerms(ranges: [family.terms]) }
            keys = elements.compactMap { ComparisonKey($0) }
        case .word:
            let words = tokens(of: subject)?.elements ?? []
            guard words.count <= limit else { return RecordTerms(ranges: [family.terms]) }
            return RecordTerms(
                terms: words.map {
                    SubscriptionTerm(family.field, .word, key: FieldIndexKey(word: $0.text))
                })
        case .cell: return cells(of: family)
        }
        let found = RecordTerms(keys, of: family)
        return found.count <= limit ? found : RecordTerms(ranges: [family.terms])
    }

    private func cells(of family: TermFamily) -> RecordTerms {
        guard case .location(let location) = value(of: family.subject) else { return RecordTerms() }
        // What is nowhere on Earth is in no cell, and may be near something all the same.
        guard location.isOnEarth else { return RecordTerms(ranges: [family.terms]) }
        let key = FieldIndexKey(cell: GlobeCells.cell(of: location))
        return RecordTerms(
            terms: KeyParts.holding(key).map { SubscriptionTerm(family.field, .cell, $0) })
    }
}

extension RecordTerms {
    fileprivate init(_ keys: [ComparisonKey], of family: TermFamily) {
        let field = family.field
        for key in keys {
            switch family.aspect {
            case .value, .element:
                if let term = SubscriptionTerm(field, family.aspect, key) { terms.append(term) }
            case .start, .elementStart:
                terms += FieldIndexKey(key).starts.map {
                    SubscriptionTerm(field, family.aspect, key: $0)
                }
            case .part where key.hasOrder:
                terms += KeyParts.holding(FieldIndexKey(key)).map {
                    SubscriptionTerm(field, .part, $0)
                }
            case .floor where key.hasOrder: ranges.append(FieldIndexKey(key).floors(field))
            case .ceiling where key.hasOrder: ranges.append(FieldIndexKey(key).ceilings(field))
            case .part, .floor, .ceiling, .word, .cell: break
            }
        }
    }
}

extension ComparisonKey {
    /// Whether it stands before others, or after them.
    fileprivate var hasOrder: Bool { precedes(self) != nil }
}

extension FieldIndexKey {
    /// What a text or name begins with, as long as terms keep it; nothing for other keys.
    fileprivate var starts: [FieldIndexKey] {
        guard self.isOfText else { return [] }
        return (0...min(rawValue.count, SubscriptionTerm.keyLimit)).dropFirst(2).map {
            FieldIndexKey(rawValue: Array(rawValue.prefix($0)))
        }
    }

    /// The terms of all floors that are not greater.
    fileprivate func floors(_ field: String) -> TermRange {
        TermRange(
            first: SubscriptionTerm(field, .floor, key: kind),
            end: SubscriptionTerm(field, .floor, key: self).following)
    }

    /// The terms of all ceilings that are greater, or begin alike as far as terms keep them.
    fileprivate func ceilings(_ field: String) -> TermRange {
        TermRange(
            first: SubscriptionTerm(field, .ceiling, key: self),
            end: SubscriptionTerm(field, .ceiling, key: nextKind))
    }

    private var kind: FieldIndexKey { FieldIndexKey(rawValue: [rawValue[0]]) }
    private var nextKind: FieldIndexKey { FieldIndexKey(rawValue: [rawValue[0] + 1]) }
}

extension SubscriptionTerm {
    /// The first term that is greater.
    fileprivate var following: SubscriptionTerm { SubscriptionTerm(rawValue: rawValue + " ") }
}
