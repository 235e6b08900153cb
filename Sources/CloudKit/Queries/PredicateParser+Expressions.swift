// SPDX-License-Identifier: Apache-2.0
import Foundation

// Expressions. Arithmetic becomes calls of the functions Apple's class uses for it.
extension PredicateParser {
    /// Reads `a + b - …`, or whatever stands there instead.
    mutating func sum() throws(PredicateFormatError) -> Node {
        try chain([.add, .subtract]) { parser throws(PredicateFormatError) in
            try parser.product()
        }
    }

    private mutating func product() throws(PredicateFormatError) -> Node {
        try chain([.multiply, .divide]) { parser throws(PredicateFormatError) in
            try parser.power()
        }
    }

    private mutating func power() throws(PredicateFormatError) -> Node {
        try chain([.power]) { parser throws(PredicateFormatError) in
            try parser.indexed()
        }
    }

    /// Reads operands with the signs of `functions` between them, from the left.
    private mutating func chain(
        _ functions: [PredicateFunction],
        _ operand: (inout PredicateParser) throws(PredicateFormatError) -> Node
    ) throws(PredicateFormatError) -> Node {
        var node = try operand(&self)
        while case .symbol(let sign) = token,
            let function = functions.first(where: { $0.sign == sign })
        {
            let left = try expression(node)
            try countOperation()
            try advance()
            let right = try expression(try operand(&self))
            node = .expression(.function(function, [left, right]))
        }
        return node
    }

    /// Reads `a[0]`, `a[FIRST]`, `$a.b`, or whatever stands there instead.
    private mutating func indexed() throws(PredicateFormatError) -> Node {
        var node = try primary()
        while isAt(symbol: "[") || isAt(symbol: ".") {
            if isAt(symbol: ".") {
                node = .expression(try path(from: try expression(node)))
                continue
            }
            let collection = try expression(node)
            try countOperation()
            try advance()
            if let function = try bracketFunction() {
                node = .expression(.function(function, [collection]))
            } else {
                node = .expression(.function(.element, [collection, try nestedExpression()]))
            }
            try expect("]")
        }
        return node
    }

    /// Reads the key path behind an expression.
    private mutating func path(
        from source: PredicateOperand
    ) throws(PredicateFormatError) -> PredicateOperand {
        try countOperation()
        try advance()
        guard case .word(let path) = token else { throw failure("expected a key") }
        try checkOperators(of: path)
        if case .value = source { throw failure("a constant has no keys") }
        try advance()
        return switch source {
        // As they would be read without parentheses.
        case .itself: .keyPath(path)
        case .keyPath(let first): .keyPath("\(first).\(path)")
        case .path(let source, let first): .path(source, "\(first).\(path)")
        default: .path(source, path)
        }
    }

    /// Reads FIRST, LAST or SIZE when nothing else stands in the brackets.
    private mutating func bracketFunction() throws(PredicateFormatError) -> PredicateFunction? {
        guard let function = keyword.flatMap(PredicateFunction.init(inBrackets:)) else {
            return nil
        }
        // A field may have that name as well: `a[first + 1]`.
        let start = self
        try advance()
        guard isAt(symbol: "]") else {
            self = start
            return nil
        }
        return function
    }

    private mutating func primary() throws(PredicateFormatError) -> Node {
        switch token {
        case .symbol("("):
            try advance()
            let node = try disjunction()
            try expect(")")
            return node
        case .symbol("{"): return .expression(try list())
        case .symbol("-"): return .expression(try negative())
        case .text(let text):
            try advance()
            return .expression(.value(.scalar(.string(text))))
        case .number(let number):
            try advance()
            return .expression(.value(.scalar(number)))
        case .variable(let name):
            try advance()
            return .expression(.variable(name))
        case .escapedWord(let path):
            try checkOperators(of: path)
            try advance()
            return .expression(.keyPath(path))
        case .argument(let letter, let index):
            return .expression(try converted(letter, index))
        case .word(let word): return try named(word)
        case .symbol, .end: throw failure("expected a field or a value")
        }
    }

    /// Reads an expression in brackets of some kind.
    mutating func nestedExpression() throws(PredicateFormatError) -> PredicateOperand {
        try expression(try disjunction())
    }

    private mutating func negative() throws(PredicateFormatError) -> PredicateOperand {
        var isNegative = false
        while isAt(symbol: "-") {
            isNegative.toggle()
            try advance()
        }
        if case .number(let number) = token {
            // The sign belongs to the number: the lowest has no positive counterpart.
            let signed = Int64("-" + lexer.spelling)
            try advance()
            let value = PredicateValue.scalar(number)
            guard isNegative else { return .value(value) }
            return .value(signed.map { .scalar(.int64($0)) } ?? value.negated ?? value)
        }
        let operand = try expression(try indexed())
        guard isNegative else { return operand }
        if case .value(let value) = operand, let negated = value.negated { return .value(negated) }
        try countOperation()
        return .function(.subtract, [.value(.scalar(.int64(0))), operand])
    }

    /// Reads `{ a, b }`, which is a value when all its elements are.
    private mutating func list() throws(PredicateFormatError) -> PredicateOperand {
        let elements = try elements(until: "}")
        var values: [PredicateValue] = []
        for case .value(let value) in elements { values.append(value) }
        return values.count == elements.count ? .value(.list(values)) : .list(elements)
    }

    /// Reads expressions with commas between them, and the bracket that ends them.
    mutating func elements(
        until end: String
    ) throws(PredicateFormatError) -> [PredicateOperand] {
        try advance()
        var elements: [PredicateOperand] = []
        while !isAt(symbol: end) {
            if !elements.isEmpty { try expect(",") }
            elements.append(try nestedExpression())
        }
        try advance()
        return elements
    }

    // MARK: - Words

    /// The words that are no key paths.
    private static let reserved: Set<String> = [
        "AND", "OR", "NOT", "ANY", "SOME", "ALL", "NONE", "IN", "BETWEEN", "CONTAINS",
        "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "TOKENMATCHES",
    ]

    /// Returns whether a key path would be read as something else.
    static func isKeyword(_ path: String) -> Bool {
        let word = path.uppercased()
        return reserved.contains(word) || constants.contains(word) || word.hasPrefix("SELF.")
    }

    /// The words that stand for values.
    private static let constants: Set<String> = [
        "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "YES", "FALSE", "NO", "NULL", "NIL", "SELF",
    ]

    private mutating func named(_ word: String) throws(PredicateFormatError) -> Node {
        let keyword = word.uppercased()
        guard !Self.reserved.contains(keyword) else {
            throw failure("expected a field or a value, not \(keyword)")
        }
        try checkOperators(of: word)
        try advance()
        if isAt(symbol: "(") { return .expression(try call(of: word)) }
        switch keyword {
        case "TRUEPREDICATE": return .predicate(.constant(true))
        case "FALSEPREDICATE": return .predicate(.constant(false))
        // NB: CloudKit has no truth values, they are the numbers 0 and 1.
        case "TRUE", "YES": return .expression(.value(.scalar(.int64(1))))
        case "FALSE", "NO": return .expression(.value(.scalar(.int64(0))))
        case "NULL", "NIL": return .expression(.value(.null))
        default: return .expression(Self.path(word))
        }
    }

    /// A key path; `SELF` at its beginning is no part of it.
    private static func path(_ path: String) -> PredicateOperand {
        if path.uppercased() == "SELF" { return .itself }
        let isOfSelf = path.uppercased().hasPrefix("SELF.")
        return .keyPath(isOfSelf ? String(path.dropFirst(5)) : path)
    }

    /// Fails for a key path with an operator nobody knows, or one that needs a key.
    private func checkOperators(of path: String) throws(PredicateFormatError) {
        let keys = path.split(separator: ".")
        for (index, key) in keys.enumerated() where key.hasPrefix("@") {
            guard let known = PredicateCollectionOperator(rawValue: String(key)) else {
                throw failure("'\(key)' is not an operator of collections")
            }
            guard known == .count || index + 1 < keys.count else {
                throw failure("'\(key)' needs a key behind it")
            }
        }
    }

    // MARK: - Arguments

    private mutating func converted(
        _ letter: UInt8,
        _ index: Int?
    ) throws(PredicateFormatError) -> PredicateOperand {
        let conversion = "%\(Character(Unicode.Scalar(letter)))"
        guard !"%p".utf8.contains(letter) else {
            throw failure("'\(conversion)' has no meaning here")
        }
        let argument = try argument(index)
        let value = PredicateValue(argument)
        switch letter {
        case UInt8(ascii: "@"): break
        case UInt8(ascii: "K"):
            guard case .scalar(.string(let path)) = value, !path.isEmpty else {
                throw failure("%K needs the name of a field, not \(value)")
            }
            try checkOperators(of: path)
            try advance()
            return Self.path(path)
        case UInt8(ascii: "s"), UInt8(ascii: "S"):
            guard case .scalar(.string) = value else {
                throw failure("\(conversion) needs a text, not \(value)")
            }
        default:
            guard value.isNumber else {
                throw failure("\(conversion) needs a number, not \(value)")
            }
        }
        try advance()
        return .value(value)
    }
}

extension PredicateValue {
    /// The number with the other sign, a fraction where no whole number has it; nil for
    /// other values.
    fileprivate var negated: PredicateValue? {
        switch self {
        case .scalar(.int64(.min)): .scalar(.double(-Double(Int64.min)))
        case .scalar(.int64(let number)): .scalar(.int64(-number))
        case .scalar(.double(let number)): .scalar(.double(-number))
        default: nil
        }
    }

    /// Whether the value is a whole number or a fraction.
    var isNumber: Bool {
        switch self {
        case .scalar(.int64), .scalar(.double): true
        default: false
        }
    }
}
