// SPDX-License-Identifier: Apache-2.0

/// A predicate as its format describes it (QUERY-2): everything NSPredicate can express, of
/// which CloudKit takes a part (``PredicateTerm``).
indirect enum PredicateTree: Sendable, Hashable {
    /// `TRUEPREDICATE` or `FALSEPREDICATE`.
    case constant(Bool)
    case comparison(PredicateComparison)
    /// All of them hold; none is always true.
    case and([PredicateTree])
    /// One of them holds; none is always false.
    case or([PredicateTree])
    case not(PredicateTree)

    /// The deepest tree that is taken from a predicate, archived or read: a bound against
    /// damaged archives and endless compounds.
    ///
    /// All formats are within it (``PredicateParser/maximumNesting``): a level of parentheses
    /// is an OR of an AND of a comparison of a call, compounds and calculations come on top.
    static let maximumDepth = 512
}

/// Two expressions and how they are compared.
struct PredicateComparison: Sendable, Hashable {
    /// For which elements of the left side the comparison must hold; `SOME` is `ANY`.
    enum Qualifier: String, Sendable, CaseIterable {
        case any = "ANY"
        case all = "ALL"
        case noneOf = "NONE"
    }

    /// The operators of predicate formats; raw values are their spelling.
    enum Operator: String, Sendable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case lessThan = "<"
        case lessThanOrEqual = "<="
        case greaterThan = ">"
        case greaterThanOrEqual = ">="
        case between = "BETWEEN"
        case contains = "CONTAINS"
        case `in` = "IN"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case like = "LIKE"
        case matches = "MATCHES"
        /// CloudKit's own, for a search by words.
        case tokenMatches = "TOKENMATCHES"
    }

    var qualifier: Qualifier?
    var left: PredicateOperand
    var `operator`: Operator
    /// The letters in brackets after the operator, sorted: `c` ignores case, `d`
    /// diacritics; `l` and `n` change nothing.
    var options = ""
    var right: PredicateOperand
}

/// One side of a comparison.
indirect enum PredicateOperand: Sendable, Hashable {
    case value(PredicateValue)
    /// A field, or several with dots between them.
    case keyPath(String)
    /// `SELF`: the object itself.
    case itself
    /// `$name`, whose value comes with the evaluation.
    case variable(String)
    /// `{ … }` of which not all elements are values.
    case list([PredicateOperand])
    /// A call, with as many operands as the function takes; arithmetic is one too.
    case function(PredicateFunction, [PredicateOperand])
    /// A key path from what another expression gives, such as `$x.price`.
    case path(PredicateOperand, String)
    /// `SUBQUERY(collection, $variable, predicate)`.
    case subquery(PredicateOperand, variable: String, PredicateTree)
}
