// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
import Foundation
import TidebellWire

// The predicates CloudKit takes (Apple: "Predicate Rules for Query Objects").
extension PredicateTree {
    /// Returns the terms all of which must hold; none is always true.
    ///
    /// Fails for a predicate CloudKit refuses (QUERY-3 to 7).
    func terms() throws(PredicateRefusal) -> [PredicateTerm] {
        switch self {
        case .constant(let value): return value ? [] : [.nothing]
        case .comparison(let comparison): return try comparison.terms()
        case .and(let parts):
            var terms: [PredicateTerm] = []
            for part in parts { terms += try part.terms() }
            return terms
        case .or(let parts):
            if parts.count == 1 { return try parts[0].terms() }
            throw PredicateRefusal(
                "OR is not supported by CloudKit. Compare one field with several values by IN, or "
                    + "use one query or subscription for each alternative."
            )
        case .not(let part): return try part.negatedTerms()
        }
    }

    private func negatedTerms() throws(PredicateRefusal) -> [PredicateTerm] {
        switch self {
        case .constant(let value): return try PredicateTree.constant(!value).terms()
        case .not(let part): return try part.terms()
        case .and(let parts) where parts.count == 1, .or(let parts) where parts.count == 1:
            return try parts[0].negatedTerms()
        case .and:
            throw PredicateRefusal("NOT around AND is not supported by CloudKit.")
        case .or:
            throw PredicateRefusal(
                "OR is not supported by CloudKit: write NOT a AND NOT b instead of NOT (a OR b)."
            )
        case .comparison(let comparison):
            let terms = try comparison.terms()
            guard terms.count == 1, let negated = terms[0].comparator.negated else {
                throw PredicateRefusal(
                    "NOT around '\(self)' is not supported by CloudKit: NOT takes neither BETWEEN, "
                        + "nor a distance, nor a search by words."
                )
            }
            return [PredicateTerm(negated, terms[0].subject, terms[0].value)]
        }
    }
}

extension PredicateComparison {
    fileprivate func terms() throws(PredicateRefusal) -> [PredicateTerm] {
        if let term = try wordSearch() { return [term] }
        if let term = try distanceSearch() { return [term] }
        let sides = (try side(left), try side(right))
        switch sides {
        case (.field(let subject), .value(let value)):
            return try terms(subject, `operator`, value)
        case (.value(let value), .field(let subject)):
            return try flipped(value, subject)
        case (.field, .field):
            throw PredicateRefusal(
                "'\(format)' compares two fields. CloudKit compares a field with a value."
            )
        case (.value, .value):
            throw PredicateRefusal("'\(format)' names no field to compare.")
        }
    }

    /// The comparison as text, for sentences.
    private var format: String { PredicateTree.comparison(self).description }

    // MARK: - Sides

    private enum Side {
        case field(WireFilter.Subject)
        case value(PredicateValue)
    }

    private func side(_ expression: PredicateOperand) throws(PredicateRefusal) -> Side {
        switch expression {
        case .keyPath(let path): return .field(try WireFilter.Subject(key: path))
        case .value(let value):
            try check(value)
            return .value(value)
        case .function(.now, _):
            return .value(PredicateValue(Date()))
        case .itself:
            throw PredicateRefusal(
                "SELF in '\(format)' is not supported by CloudKit, except in SELF CONTAINS, which "
                    + "searches all text. Compare the record's ID by recordID."
            )
        case .list, .variable, .function, .path, .subquery:
            throw PredicateRefusal(
                "'\(expression)' is not supported by CloudKit. Compare a field with a value."
            )
        }
    }

    /// Fails for values CloudKit cannot compare (QUERY-7).
    private func check(_ value: PredicateValue) throws(PredicateRefusal) {
        switch value {
        case .null:
            throw PredicateRefusal(
                "'\(format)' compares with nil, which CloudKit does not support. Give the field a "
                    + "value that stands for none."
            )
        case .other(let object):
            throw PredicateRefusal(
                "A value of type \(object.type) cannot be compared by CloudKit: use a text, a "
                    + "number, a date, data, a location, a record, its ID, a reference or an array."
            )
        case .scalar(.asset):
            throw PredicateRefusal("CloudKit cannot compare assets ('\(format)').")
        case .scalar(.double(let number)) where !number.isFinite:
            throw PredicateRefusal("\(number) is not a number that CloudKit can compare.")
        case .scalar(.date(let date)) where !date.isFinite:
            throw PredicateRefusal("'\(format)' compares with an invalid date.")
        case .scalar(.location(let location)): try check(location)
        case .scalar, .recordID: break
        case .list(let elements):
            for element in elements {
                if case .list = element {
                    throw PredicateRefusal("A list in a list cannot be compared ('\(format)').")
                }
                try check(element)
            }
        }
    }

    /// Fails for a location whose coordinates are not finite.
    func check(_ location: CLLocation) throws(PredicateRefusal) {
        let coordinate = location.coordinate
        guard coordinate.latitude.isFinite, coordinate.longitude.isFinite else {
            throw PredicateRefusal("'\(format)' compares with an invalid location.")
        }
    }

    // MARK: - Operators

    private func terms(
        _ subject: WireFilter.Subject,
        _ comparator: Operator,
        _ value: PredicateValue
    ) throws(PredicateRefusal) -> [PredicateTerm] {
        if comparator == .between {
            guard qualifier == nil, options.isEmpty, case .list(let bounds) = value,
                bounds.count == 2
            else {
                throw PredicateRefusal("BETWEEN needs a list of two values ('\(format)').")
            }
            return [
                PredicateTerm(.greaterThanOrEquals, subject, bounds[0]),
                PredicateTerm(.lessThanOrEquals, subject, bounds[1]),
            ]
        }
        return [PredicateTerm(try wire(comparator, with: value), subject, value)]
    }

    private func wire(
        _ comparator: Operator,
        with value: PredicateValue
    ) throws(PredicateRefusal) -> WireFilter.Comparator {
        let wire = try wire(comparator)
        try checkOptions(wire)
        switch (wire.operand, value) {
        case (.choices, .list), (.list, .list): break
        case (.choices, _), (.list, _):
            throw PredicateRefusal("\(comparator.rawValue) in '\(format)' needs a list of values.")
        case (_, .list):
            throw PredicateRefusal(
                "'\(format)' compares with a list. Use field IN list where the field has one "
                    + "value, ANY field IN list where it has several."
            )
        case (.prefix, .scalar(.string)): break
        case (.prefix, _):
            throw PredicateRefusal("\(comparator.rawValue) in '\(format)' needs a text.")
        default: break
        }
        return wire
    }

    private func wire(_ comparator: Operator) throws(PredicateRefusal) -> WireFilter.Comparator {
        switch (qualifier, comparator) {
        case (nil, .equal): return .equals
        case (nil, .notEqual): return .notEquals
        case (nil, .lessThan): return .lessThan
        case (nil, .lessThanOrEqual): return .lessThanOrEquals
        case (nil, .greaterThan): return .greaterThan
        case (nil, .greaterThanOrEqual): return .greaterThanOrEquals
        case (nil, .in): return .in
        case (nil, .beginsWith): return .beginsWith
        case (nil, .contains), (.any, .contains), (.any, .equal): return .listContains
        case (.any, .in): return .listContainsAny
        case (.any, .beginsWith): return .listMemberBeginsWith
        case (.all, _), (.noneOf, _):
            let word = qualifier == .all ? "ALL" : "NONE"
            throw PredicateRefusal(
                "\(word) in '\(format)' is not supported by CloudKit. ANY and SOME are, and NOT "
                    + "around them."
            )
        case (.any, _):
            throw PredicateRefusal(
                "ANY takes IN, CONTAINS, == and BEGINSWITH in CloudKit, not "
                    + "\(comparator.rawValue) ('\(format)')."
            )
        default:
            throw PredicateRefusal(
                "\(comparator.rawValue) in '\(format)' is not supported by CloudKit. Compare texts "
                    + "by == or BEGINSWITH, or search them by words with SELF CONTAINS."
            )
        }
    }

    /// Fails for options that would be ignored: CloudKit has its own rules of case
    /// (QUERY-8).
    private func checkOptions(_ wire: WireFilter.Comparator) throws(PredicateRefusal) {
        let isFixed = wire == .beginsWith || wire == .listMemberBeginsWith
        guard !options.contains("d"), !(options.contains("c") && isFixed) else {
            throw PredicateRefusal(
                "The options [\(options)] in '\(format)' are not supported by CloudKit: it ignores "
                    + "case in ==, heeds it in BEGINSWITH, and always heeds diacritics."
            )
        }
    }

    /// The terms of a comparison whose field is on the right.
    private func flipped(
        _ value: PredicateValue,
        _ subject: WireFilter.Subject
    ) throws(PredicateRefusal) -> [PredicateTerm] {
        switch (qualifier, `operator`) {
        case (nil, .in): return try terms(subject, .contains, value)
        case (nil, .contains): return try terms(subject, .in, value)
        case (_?, .in): return try terms(subject, .in, value)
        // `ANY {'red', 'green'} = color`, as in Apple's listings: the field has one value.
        case (.any?, .equal):
            guard case .list = value, options.isEmpty else { break }
            return [PredicateTerm(.in, subject, value)]
        case (nil, .equal), (nil, .notEqual): return try terms(subject, `operator`, value)
        case (nil, .lessThan): return try terms(subject, .greaterThan, value)
        case (nil, .lessThanOrEqual): return try terms(subject, .greaterThanOrEqual, value)
        case (nil, .greaterThan): return try terms(subject, .lessThan, value)
        case (nil, .greaterThanOrEqual): return try terms(subject, .lessThanOrEqual, value)
        default: break
        }
        throw PredicateRefusal("'\(format)' needs its field on the left.")
    }
}
