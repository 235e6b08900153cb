// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
import Foundation
import TidebellWire

// Searches by words and around locations.
extension PredicateComparison {
    /// The field of all words, by the name CloudKit's first version gave it.
    fileprivate static let allTokens = "allTokens"

    /// Returns the term of `SELF CONTAINS 'words'` and its older forms; nil for other
    /// comparisons (QUERY-5, QUERY-8).
    ///
    /// One of the words is enough (listing 5 of `CKQuery`), as in
    /// `ANY tokenize:using:('words', 'Cdl') IN allTokens`; with `ALL`, and in
    /// `allTokens TOKENMATCHES 'words'`, each is to be there.
    func wordSearch() throws(PredicateRefusal) -> PredicateTerm? {
        let field: PredicateOperand
        let words: PredicateOperand
        switch (`operator`, left) {
        case (.contains, .itself), (.tokenMatches, _): (field, words) = (left, right)
        case (.in, .function(.tokenize, _)): (field, words) = (right, left)
        default: return nil
        }
        let subject: WireFilter.Subject
        switch field {
        case .itself, .keyPath(Self.allTokens): subject = .allText
        case .keyPath(let key): subject = try WireFilter.Subject(key: key)
        default: throw badWordSearch
        }
        let text: String
        switch words {
        case .value(.scalar(.string(let value))): text = value
        case .function(.tokenize, let parameters):
            guard case .value(.scalar(.string(let value)))? = parameters.first else {
                throw badWordSearch
            }
            text = value
        default: throw badWordSearch
        }
        guard qualifier != .noneOf else { throw badWordSearch }
        let isOneEnough = qualifier == .any || (qualifier == nil && `operator` == .contains)
        return PredicateTerm(
            isOneEnough ? .containsAnyTokens : .containsAllTokens,
            subject,
            .scalar(.string(text))
        )
    }

    private var badWordSearch: PredicateRefusal {
        PredicateRefusal(
            "'\(PredicateTree.comparison(self))' is not a search for words that CloudKit supports: write SELF "
                + "CONTAINS with the words as a text."
        )
    }

    /// Returns the term of `distanceToLocation:fromLocation:(field, location) < radius`; nil
    /// for other comparisons (QUERY-9).
    func distanceSearch() throws(PredicateRefusal) -> PredicateTerm? {
        let parameters: [PredicateOperand]
        let radius: PredicateOperand
        let isInside: Bool
        if case .function(.distance, let list) = left {
            (parameters, radius) = (list, right)
            isInside = `operator` == .lessThan || `operator` == .lessThanOrEqual
        } else if case .function(.distance, let list) = right {
            (parameters, radius) = (list, left)
            isInside = `operator` == .greaterThan || `operator` == .greaterThanOrEqual
        } else {
            return nil
        }
        guard isInside, qualifier == nil, parameters.count == 2,
            case .value(let radius) = radius, let metres = radius.number, metres.isFinite
        else {
            throw PredicateRefusal(
                "'\(PredicateTree.comparison(self))' is not a search around a location that CloudKit "
                    + "knows: write distanceToLocation:fromLocation:(field, %@) < radius in metres."
            )
        }
        switch (parameters[0], parameters[1]) {
        case (.keyPath(let key), .value(.scalar(.location(let location)))),
            (.value(.scalar(.location(let location))), .keyPath(let key)):
            try check(location)
            return PredicateTerm(
                .near,
                try WireFilter.Subject(key: key),
                .scalar(.location(location)),
                distance: metres
            )
        default:
            throw PredicateRefusal(
                "A distance is measured between a field and a CLLocation, not as in "
                    + "'\(PredicateTree.comparison(self))'."
            )
        }
    }
}

extension PredicateTree {
    /// Creates the predicate that has `terms`.
    init(_ terms: [PredicateTerm]) {
        let parts = terms.map(\.tree)
        self =
            switch parts.count {
            case 0: .constant(true)
            case 1: parts[0]
            default: .and(parts)
            }
    }
}

extension PredicateTerm {
    /// The term as a predicate.
    fileprivate var tree: PredicateTree {
        if self == .nothing { return .constant(false) }
        switch comparator {
        case .equals: return compare(.equal)
        case .notEquals: return compare(.notEqual)
        case .lessThan: return compare(.lessThan)
        case .lessThanOrEquals: return compare(.lessThanOrEqual)
        case .greaterThan: return compare(.greaterThan)
        case .greaterThanOrEquals: return compare(.greaterThanOrEqual)
        case .in: return compare(.in)
        case .listContains: return compare(.contains)
        case .listContainsAny: return compare(.in, .any)
        case .beginsWith: return compare(.beginsWith)
        case .listMemberBeginsWith: return compare(.beginsWith, .any)
        // CloudKit's web clients can ask this; predicates cannot (QUERY-4).
        case .listContainsAll: return membership(.all, of: .value(value))
        case .near: return nearness
        case .containsAllTokens: return compare(.tokenMatches)
        case .containsAnyTokens where subject == .allText: return compare(.contains)
        case .containsAnyTokens:
            let options = PredicateOperand.value(.scalar(.string("Cdl")))
            return membership(.any, of: .function(.tokenize, [.value(value), options]))
        case .notIn, .notListContains, .notListContainsAny, .notListContainsAll, .notBeginsWith,
            .notListMemberBeginsWith:
            return .not(PredicateTerm(comparator.negated ?? .equals, subject, value).tree)
        }
    }

    private var field: PredicateOperand {
        subject == .allText ? .itself : .keyPath(subject.key)
    }

    private func compare(
        _ comparator: PredicateComparison.Operator,
        _ qualifier: PredicateComparison.Qualifier? = nil
    ) -> PredicateTree {
        .comparison(
            PredicateComparison(
                qualifier: qualifier,
                left: comparator == .tokenMatches && subject == .allText
                    ? .keyPath(PredicateComparison.allTokens) : field,
                operator: comparator,
                right: .value(value)
            )
        )
    }

    private func membership(
        _ qualifier: PredicateComparison.Qualifier,
        of elements: PredicateOperand
    ) -> PredicateTree {
        .comparison(
            PredicateComparison(qualifier: qualifier, left: elements, operator: .in, right: field)
        )
    }

    private var nearness: PredicateTree {
        .comparison(
            PredicateComparison(
                left: .function(.distance, [field, .value(value)]),
                operator: .lessThan,
                right: .value(.scalar(.double(distance ?? 0)))
            )
        )
    }
}
