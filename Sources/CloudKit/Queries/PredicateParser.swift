// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reads predicate formats (Apple: "Predicate Format String Syntax" and "BNF
/// Definition of Cocoa Predicates").
///
/// Reads what NSPredicate reads, also what CloudKit refuses later (QUERY-2 to 7); only
/// assignments and a few functions are left out (``PredicateFunction``). Goes through the
/// text once.
struct PredicateParser {
    /// What stands somewhere: parentheses may hold either.
    enum Node {
        case predicate(PredicateTree)
        case expression(PredicateOperand)
    }

    /// The most parentheses, calls and negations around each other in a format.
    static let maximumNesting = 64

    /// The most arithmetic and indexing in one format: each adds to the depth of the tree.
    static let maximumOperations = 64

    private(set) var lexer: PredicateLexer
    private(set) var token = PredicateToken.end
    private let arguments: [Any]
    private var nextArgument = 0
    private var depth = 0
    private var operations = 0

    /// Returns what `format` describes with `arguments` for `%@` and its like.
    static func parse(
        _ format: String,
        _ arguments: [Any] = []
    ) throws(PredicateFormatError) -> PredicateTree {
        var parser = PredicateParser(lexer: PredicateLexer(format), arguments: arguments)
        try parser.advance()
        let tree = try parser.predicate(try parser.disjunction())
        guard parser.token == .end else {
            throw parser.failure("expected AND, OR or the end")
        }
        return tree
    }

    private init(lexer: PredicateLexer, arguments: [Any]) {
        self.lexer = lexer
        self.arguments = arguments
    }

    // MARK: - Predicates

    /// Reads `a OR b OR …`, or whatever stands there instead.
    mutating func disjunction() throws(PredicateFormatError) -> Node {
        try goDeeper()
        defer { depth -= 1 }
        let first = try conjunction()
        guard isAt(keyword: "OR") || isAt(symbol: "||") else { return first }
        var parts = [try predicate(first)]
        while try take(keyword: "OR", symbol: "||") {
            parts.append(try predicate(try conjunction()))
        }
        return .predicate(.or(parts))
    }

    private mutating func conjunction() throws(PredicateFormatError) -> Node {
        let first = try negation()
        guard isAt(keyword: "AND") || isAt(symbol: "&&") else { return first }
        var parts = [try predicate(first)]
        while try take(keyword: "AND", symbol: "&&") {
            parts.append(try predicate(try negation()))
        }
        return .predicate(.and(parts))
    }

    private mutating func negation() throws(PredicateFormatError) -> Node {
        let outer = depth
        defer { depth = outer }
        while try take(keyword: "NOT", symbol: "!") { try goDeeper() }
        let negations = depth - outer
        let node = try comparison()
        guard negations > 0 else { return node }
        var tree = try predicate(node)
        for _ in 0..<negations { tree = .not(tree) }
        return .predicate(tree)
    }

    private mutating func comparison() throws(PredicateFormatError) -> Node {
        let qualifier = try qualifier()
        let left = try sum()
        if qualifier == nil {
            if case .predicate = left { return left }
            guard isAtOperator else { return left }
        }
        guard let (comparator, options) = try comparisonOperator() else {
            throw failure("expected an operator such as == or CONTAINS")
        }
        let comparison = PredicateComparison(
            qualifier: qualifier,
            left: try expression(left),
            operator: comparator,
            options: options,
            right: try expression(try sum())
        )
        return .predicate(.comparison(comparison))
    }

    private mutating func qualifier() throws(PredicateFormatError) -> PredicateComparison.Qualifier?
    {
        guard let word = keyword else { return nil }
        let qualifier = word == "SOME" ? .any : PredicateComparison.Qualifier(rawValue: word)
        if qualifier != nil { try advance() }
        return qualifier
    }

    // MARK: - Operators

    private static let spellings: [String: PredicateComparison.Operator] = {
        var spellings: [String: PredicateComparison.Operator] = [
            "=": .equal, "<>": .notEqual, "=<": .lessThanOrEqual, "=>": .greaterThanOrEqual,
        ]
        for comparator in PredicateComparison.Operator.allCases {
            spellings[comparator.rawValue] = comparator
        }
        return spellings
    }()

    private var isAtOperator: Bool { atOperator != nil }

    private var atOperator: PredicateComparison.Operator? {
        switch token {
        case .symbol(let symbol): Self.spellings[symbol]
        case .word: keyword.flatMap { Self.spellings[$0] }
        default: nil
        }
    }

    private mutating func comparisonOperator() throws(PredicateFormatError) -> (
        PredicateComparison.Operator, options: String
    )? {
        guard let comparator = atOperator else { return nil }
        try advance()
        guard token == .symbol("[") else { return (comparator, "") }
        try advance()
        guard case .word(let word) = token, word.lowercased().allSatisfy({ "cdln".contains($0) })
        else { throw failure("expected the options c, d, l and n") }
        try advance()
        try expect("]")
        return (comparator, String(Set(word.lowercased()).sorted()))
    }

    // MARK: - Tokens

    /// Reads the next token.
    mutating func advance() throws(PredicateFormatError) {
        token = try lexer.next()
    }

    /// The token as a keyword, in capitals; nil for anything that is no plain word.
    var keyword: String? {
        guard case .word(let word) = token else { return nil }
        return word.uppercased()
    }

    /// Returns whether a sign is next.
    func isAt(symbol: String) -> Bool { token == .symbol(symbol) }

    private func isAt(keyword: String) -> Bool { self.keyword == keyword }

    private mutating func take(
        keyword: String,
        symbol: String
    ) throws(PredicateFormatError) -> Bool {
        guard isAt(keyword: keyword) || isAt(symbol: symbol) else { return false }
        try advance()
        return true
    }

    /// Reads past a sign that must be next.
    mutating func expect(_ symbol: String) throws(PredicateFormatError) {
        guard isAt(symbol: symbol) else { throw failure("expected '\(symbol)'") }
        try advance()
    }

    /// Creates the error of the current token.
    func failure(_ reason: String) -> PredicateFormatError { lexer.failure(reason) }

    /// Counts an operation that makes the tree deeper without parentheses.
    mutating func countOperation() throws(PredicateFormatError) {
        operations += 1
        guard operations <= Self.maximumOperations else {
            throw failure("the format has more than \(Self.maximumOperations) calculations")
        }
    }

    private mutating func goDeeper() throws(PredicateFormatError) {
        depth += 1
        guard depth <= Self.maximumNesting else {
            throw failure("the format is nested deeper than \(Self.maximumNesting) levels")
        }
    }

    /// Returns the predicate a node must be.
    // NB: mutating, so that a failure names the position behind the node: others read
    // the position before the node is read.
    mutating func predicate(_ node: Node) throws(PredicateFormatError) -> PredicateTree {
        guard case .predicate(let tree) = node else {
            throw failure("expected an operator such as == or CONTAINS")
        }
        return tree
    }

    /// Returns the expression a node must be.
    mutating func expression(_ node: Node) throws(PredicateFormatError) -> PredicateOperand {
        guard case .expression(let expression) = node else {
            throw failure("expected a field or a value, not a predicate, before this")
        }
        return expression
    }

    /// Returns the argument of a conversion.
    mutating func argument(_ index: Int?) throws(PredicateFormatError) -> Any {
        let index = index ?? nextArgument
        nextArgument = index + 1
        guard arguments.indices.contains(index) else {
            let count = arguments.count
            let given = count == 1 ? "1 argument was" : "\(count) arguments were"
            throw failure("\(given) given, and none for what stands")
        }
        return arguments[index]
    }
}
