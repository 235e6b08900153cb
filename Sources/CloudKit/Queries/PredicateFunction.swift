// SPDX-License-Identifier: Apache-2.0

/// The functions formats can call, by the names they are written with (Apple:
/// `NSExpression.init(forFunction:arguments:)`).
///
/// `FUNCTION`, `TERNARY` and the set functions are not among them.
enum PredicateFunction: String, Sendable, CaseIterable {
    // Of lists.
    case average = "average:"
    case sum = "sum:"
    case count = "count:"
    case minimum = "min:"
    case maximum = "max:"
    case median = "median:"
    case mode = "mode:"
    case standardDeviation = "stddev:"
    case element = "objectFrom:withIndex:"
    // NB: no name that can be called; they are written behind the list.
    case first = "[FIRST]"
    case last = "[LAST]"
    case size = "[SIZE]"

    // Of numbers.
    case add = "add:to:"
    case subtract = "from:subtract:"
    case multiply = "multiply:by:"
    case divide = "divide:by:"
    case remainder = "modulus:by:"
    case power = "raise:toPower:"
    case squareRoot = "sqrt:"
    case exponential = "exp:"
    case naturalLogarithm = "ln:"
    case logarithm = "log:"
    case floor = "floor:"
    case ceiling = "ceiling:"
    case truncation = "trunc:"
    case absolute = "abs:"
    case bitwiseAnd = "bitwiseAnd:with:"
    case bitwiseOr = "bitwiseOr:with:"
    case bitwiseXor = "bitwiseXor:with:"
    case leftShift = "leftshift:by:"
    case rightShift = "rightshift:by:"
    case onesComplement = "onesComplement:"
    case random
    case randomBelow = "random:"

    // Of texts.
    case uppercase = "uppercase:"
    case lowercase = "lowercase:"
    case canonical = "canonical:"
    case length = "length:"
    case tokenize = "tokenize:using:"

    // Of anything.
    case now
    case distance = "distanceToLocation:fromLocation:"
    case cast = "CAST"
    case noIndex = "noindex:"

    /// The function of a name in a format; nil when there is none.
    ///
    /// The colon of a function of one value may be missing, as in Apple's grammar.
    init?(named name: String) {
        if name.uppercased() == Self.cast.rawValue || name == "castObject:toType:" {
            self = .cast
        } else if let function = Self(rawValue: name) ?? Self(rawValue: name + ":") {
            self = function
        } else {
            return nil
        }
    }

    /// How many values the function takes.
    var parameterCount: Int {
        switch self {
        case .cast: 2
        case .first, .last, .size: 1
        default: rawValue.count(where: { $0 == ":" })
        }
    }

    /// Whether the function gives an element as it is.
    var givesElement: Bool { self == .element || self == .first || self == .last }

    /// The sign a calculation is written with; nil for other functions.
    var sign: String? {
        switch self {
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        case .divide: "/"
        case .power: "**"
        default: nil
        }
    }

    /// What the word in brackets behind a list asks for; nil for other words.
    init?(inBrackets word: String) {
        guard ["FIRST", "LAST", "SIZE"].contains(word.uppercased()) else { return nil }
        self.init(rawValue: "[\(word.uppercased())]")
    }

    /// The classes `CAST` makes, by name.
    static let castClasses: Set<String> = ["NSDate", "NSNumber", "NSDecimalNumber", "NSString"]
}

/// The operators a key path can have behind a collection (Apple: "Using Collection
/// Operators" of the Key-Value Coding guide).
enum PredicateCollectionOperator: String {
    case count = "@count"
    case sum = "@sum"
    case average = "@avg"
    case minimum = "@min"
    case maximum = "@max"
    case union = "@unionOfObjects"
    case distinctUnion = "@distinctUnionOfObjects"
}
