// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What a query subscription is found by: something that its most selective filter
/// asks of a field, as text.
///
/// Guarantee: a record that passes all filters has one of the subscription's terms among
/// its own. Not the other way round: long texts are cut, ranges are widened, and other filters have
/// their part; ``RecordView/verdict(on:)`` decides.
package struct SubscriptionTerm: RawRepresentable, Sendable, Hashable, Comparable {
    /// The term of a predicate that no index helps with; every record has it.
    package static let none = SubscriptionTerm(rawValue: "")
    /// The term of a predicate that nothing passes; no record has it.
    package static let never = SubscriptionTerm(rawValue: "!")

    /// How many Unicode scalars of a value a term keeps.
    private static let valueLimit = 64
    /// How many bytes of a key a term keeps, and the longest prefix that is looked up.
    static let keyLimit = 24

    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    /// What a term says of its field; stored between the field's name, which has none of these, and
    /// the rest.
    enum Aspect: Character, CaseIterable {
        /// Its value.
        case value = "="
        /// One of its elements.
        case element = "@"
        /// What its value begins with.
        case start = "^"
        /// What one of its elements begins with.
        case elementStart = "%"
        /// A part of all values in which its value lies.
        case part = "~"
        /// A bound that its value is not less than.
        case floor = ">"
        /// A bound that its value is less than.
        case ceiling = "<"
        /// A word of its text.
        case word = "#"
        /// A part of the globe in which its location lies.
        case cell = "+"

        /// Whether a record may have as many as its list has elements, or its text has words.
        var isOfMany: Bool {
            switch self {
            case .element, .elementStart, .word: true
            case .value, .start, .part, .floor, .ceiling, .cell: false
            }
        }
    }

    init(_ field: String, _ aspect: Aspect, _ value: String) {
        rawValue = field + String(aspect.rawValue) + value
    }

    /// Creates the term of a value; nil for one that is equal to nothing.
    init?(_ field: String, _ aspect: Aspect, _ key: ComparisonKey?) {
        guard let key else { return nil }
        let value =
            switch key {
            case .text(let text): "s" + text.prefix(Self.valueLimit).string
            case .name(let name): "r" + name.prefix(Self.valueLimit).string
            case .number(.whole(let number)): "n\(number)"
            case .number(.fraction(let number)): "n\(number)"
            case .bytes, .place: "k" + Self.hex(FieldIndexKey(key).rawValue.prefix(Self.keyLimit))
            }
        self.init(field, aspect, value)
    }

    /// Creates the term of a key, cut to ``keyLimit``.
    init(_ field: String, _ aspect: Aspect, key: FieldIndexKey) {
        self.init(field, aspect, Self.hex(key.rawValue.prefix(Self.keyLimit)))
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".unicodeScalars)
        var text = String.UnicodeScalarView()
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
        return String(text)
    }

    // As engines and `ComparisonKey` have it: two texts may be one for Swift, whose Unicode is newer.
    package static func == (left: Self, right: Self) -> Bool {
        ExactText(left.rawValue) == ExactText(right.rawValue)
    }

    /// NB: that of `RawRepresentable` compares the texts as Swift does.
    package static func != (left: Self, right: Self) -> Bool { !(left == right) }

    package func hash(into hasher: inout Hasher) { ExactText(rawValue).hash(into: &hasher) }

    /// In the order of an engine's index: byte by byte.
    package static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }
}

/// What all terms that say the same of a field begin with: `place=`.
package struct TermFamily: Sendable, Hashable {
    /// The name as in schemas; empty for all text.
    var field: String
    var aspect: SubscriptionTerm.Aspect

    /// The family of a term; nil for ``SubscriptionTerm/none`` and ``SubscriptionTerm/never``.
    package init?(of term: SubscriptionTerm) {
        let text = term.rawValue
        guard let sign = text.utf8.firstIndex(where: { Self.aspects[$0] != nil }),
            let aspect = Self.aspects[text.utf8[sign]]
        else { return nil }
        field = String(text[..<sign])
        self.aspect = aspect
    }

    private static let aspects = Dictionary(
        uniqueKeysWithValues: SubscriptionTerm.Aspect.allCases.map {
            ($0.rawValue.asciiValue ?? 0, $0)
        })

    init(_ field: String, _ aspect: SubscriptionTerm.Aspect) {
        self.field = field
        self.aspect = aspect
    }

    /// All of its terms.
    package var terms: TermRange {
        let sign = aspect.rawValue.asciiValue ?? 0
        return TermRange(
            first: SubscriptionTerm(field, aspect, ""),
            // What is no sign may stand here too: nothing has it.
            end: SubscriptionTerm(rawValue: field + String(Unicode.Scalar(sign + 1))))
    }

    /// Reads the name of a field as filters have it.
    var subject: WireFilter.Subject {
        guard !field.isEmpty else { return .allText }
        let system = WireFilter.SystemField.allCases.first { $0.schemaName == field }
        return system.map(WireFilter.Subject.system) ?? .field(field)
    }
}

/// Terms that stand beside one another.
package struct TermRange: Sendable, Hashable {
    package var first: SubscriptionTerm
    /// The first term that is not in it.
    package var end: SubscriptionTerm

    func contains(_ term: SubscriptionTerm) -> Bool { first <= term && term < end }
}

extension WireFilter.Subject {
    /// The name that terms have for it.
    var termName: String {
        switch self {
        case .field(let name): name
        case .system(let field): field.schemaName
        case .allText: ""
        }
    }
}
