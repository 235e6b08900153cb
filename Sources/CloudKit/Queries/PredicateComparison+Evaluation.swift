// SPDX-License-Identifier: Apache-2.0
import Foundation

extension PredicateComparison.Operator {
    /// Compares two values; false when their types do not fit each other.
    func isMet(_ left: PredicateValue, _ right: PredicateValue, options: String) -> Bool {
        switch self {
        case .equal: left.isEqual(to: right, options)
        case .notEqual: !left.isEqual(to: right, options)
        case .lessThan: left.order(to: right, options) == .orderedAscending
        case .lessThanOrEqual: left.isOrdered(to: right, options, not: .orderedDescending)
        case .greaterThan: left.order(to: right, options) == .orderedDescending
        case .greaterThanOrEqual: left.isOrdered(to: right, options, not: .orderedAscending)
        case .between: left.isBetween(right, options)
        case .contains: right.isContained(in: left, options)
        case .in: left.isContained(in: right, options)
        case .beginsWith: left.text(right, folded: options) { $0.hasPrefix($1) }
        case .endsWith: left.text(right, folded: options) { $0.hasSuffix($1) }
        case .like: left.text(right, folded: options) { $0.isLike($1) }
        case .matches: left.text(right, folded: "") { $0.matches($1, options) }
        case .tokenMatches: left.holdsWords(of: right)
        }
    }
}

extension PredicateValue {
    /// The value as a number; nil for others.
    var number: Double? {
        switch self {
        case .scalar(.int64(let number)): Double(number)
        case .scalar(.double(let number)): number
        default: nil
        }
    }

    /// The ID of the record a value stands for (QUERY-10); nil for others.
    var target: CKRecordID? {
        switch self {
        case .recordID(let id): id
        case .scalar(.reference(let reference)): reference.recordID
        default: nil
        }
    }

    fileprivate func isEqual(to other: PredicateValue, _ options: String) -> Bool {
        if let target, let otherTarget = other.target { return target == otherTarget }
        if let order = order(to: other, options) { return order == .orderedSame }
        if case .list(let elements) = self, case .list(let others) = other {
            return elements.count == others.count
                && zip(elements, others).allSatisfy { $0.isEqual(to: $1, options) }
        }
        return self == other
    }

    /// Which of two texts, numbers or times is first; nil for anything else.
    func order(to other: PredicateValue, _ options: String) -> ComparisonResult? {
        switch (self, other) {
        case (.scalar(.string(let text)), .scalar(.string(let otherText))):
            let (left, right) = (text.folded(options), otherText.folded(options))
            return Self.order(left, right)
        case (.scalar(.int64(let number)), .scalar(.int64(let otherNumber))):
            return Self.order(number, otherNumber)
        case (.scalar(.date(let date)), .scalar(.date(let otherDate))):
            return Self.order(date, otherDate)
        default:
            guard let number, let otherNumber = other.number, !number.isNaN, !otherNumber.isNaN
            else { return nil }
            return Self.order(number, otherNumber)
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult
    {
        left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
    }

    fileprivate func isOrdered(
        to other: PredicateValue,
        _ options: String,
        not wrong: ComparisonResult
    ) -> Bool {
        order(to: other, options).map { $0 != wrong } ?? false
    }

    fileprivate func isBetween(_ bounds: PredicateValue, _ options: String) -> Bool {
        guard case .list(let bounds) = bounds, bounds.count == 2 else { return false }
        return isOrdered(to: bounds[0], options, not: .orderedAscending)
            && isOrdered(to: bounds[1], options, not: .orderedDescending)
    }

    /// Membership of a list, or being a part of a text.
    fileprivate func isContained(in collection: PredicateValue, _ options: String) -> Bool {
        if case .list(let elements) = collection {
            return elements.contains { isEqual(to: $0, options) }
        }
        return collection.text(self, folded: options) { $1.isEmpty || $0.contains($1) }
    }

    fileprivate func text(
        _ other: PredicateValue,
        folded options: String,
        _ isMet: (String, String) -> Bool
    ) -> Bool {
        guard case .scalar(.string(let text)) = self, case .scalar(.string(let part)) = other else {
            return false
        }
        return isMet(text.folded(options), part.folded(options))
    }

    fileprivate func holdsWords(of other: PredicateValue) -> Bool {
        text(other, folded: "cd") { text, words in
            let known = Set(text.words)
            return words.words.allSatisfy(known.contains)
        }
    }
}

extension String {
    /// The text without what comparisons with the options `c` and `d` ignore.
    func folded(_ options: String) -> String {
        var folding: String.CompareOptions = []
        if options.contains("c") { folding.insert(.caseInsensitive) }
        if options.contains("d") { folding.insert(.diacriticInsensitive) }
        return folding.isEmpty ? self : self.folding(options: folding, locale: nil)
    }

    /// The runs of letters and digits.
    var words: [Substring] { split { !$0.isLetter && !$0.isNumber } }

    /// `*` stands for any characters, `?` for one.
    fileprivate func isLike(_ pattern: String) -> Bool {
        let text = Array(self)
        let pattern = Array(pattern)
        // Where to go on after the last `*` when what follows it does not fit.
        var retry: (pattern: Int, text: Int)?
        var (textIndex, patternIndex) = (0, 0)
        while textIndex < text.count {
            if patternIndex < pattern.count, pattern[patternIndex] == "*" {
                retry = (patternIndex + 1, textIndex)
                patternIndex += 1
            } else if patternIndex < pattern.count,
                pattern[patternIndex] == "?" || pattern[patternIndex] == text[textIndex]
            {
                patternIndex += 1
                textIndex += 1
            } else if let last = retry {
                retry = (last.pattern, last.text + 1)
                (patternIndex, textIndex) = (last.pattern, last.text + 1)
            } else {
                return false
            }
        }
        return pattern[patternIndex...].allSatisfy { $0 == "*" }
    }

    /// Whether a regular expression covers the whole text.
    fileprivate func matches(_ pattern: String, _ options: String) -> Bool {
        guard let expression = Self.expression(covering: pattern, options) else { return false }
        let range = NSRange(startIndex..., in: self)
        return expression.firstMatch(in: self, range: range) != nil
    }

    /// What may have to end a pattern before a parenthesis closes it: nothing, the end of a
    /// comment, the end of a quotation.
    private static let endings = ["", "\n", "\\E"]

    /// The expression that matches where `pattern` covers a text from end to end.
    // NB: `$` would match before a last line end as well.
    private static func expression(
        covering pattern: String,
        _ options: String
    ) -> NSRegularExpression? {
        let options: NSRegularExpression.Options = options.contains("c") ? [.caseInsensitive] : []
        // A pattern that is none matches nothing, although parentheses could complete it.
        guard (try? NSRegularExpression(pattern: pattern, options: options)) != nil else {
            return nil
        }
        return endings.lazy.compactMap { ending in
            // Where the pattern swallows the parenthesis, the next ending is tried.
            try? NSRegularExpression(pattern: "\\A(?:\(pattern)\(ending))\\z", options: options)
        }.first
    }
}
