// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension _PredicateCreation {
    /// Creates a predicate from a `#Predicate`; nil if a format cannot express it.
    ///
    /// Supports comparisons, `&&`, `||`, `!`, `contains` of lists and ranges, and `starts(with:)`.
    /// The names of fields are those of properties: the dates of a `CKRecord`, and stored
    /// properties of final classes of the app. Apple's class needs `@objc` properties, which Linux
    /// does not have. Properties of other kinds have no name here, so the result is nil, as on
    /// Apple's systems.
    /// See <https://developer.apple.com/documentation/foundation/nspredicate/init(_:)>.
    public init?<Input: NSObject>(_ predicate: Predicate<Input>) {
        guard let tree = PredicateTree(condition: predicate.expression) else { return nil }
        self.init(tree)
    }
}

/// A part of a macro's predicate that is true or false.
private protocol ConditionExpression {
    var tree: PredicateTree? { get }
}

/// A part of a macro's predicate that has a value.
private protocol OperandExpression {
    var operand: PredicateOperand? { get }
}

/// A range that a macro's predicate looks into.
private protocol PredicateRange {
    func comparisons(of operand: PredicateOperand) -> PredicateTree?
}

extension PredicateTree {
    /// Creates the tree of an expression that is true or false: a condition, or a field or
    /// value that CloudKit keeps as 1 or 0.
    fileprivate init?(condition expression: any PredicateExpression) {
        if let condition = expression as? any ConditionExpression {
            guard let tree = condition.tree else { return nil }
            self = tree
            return
        }
        switch PredicateOperand(expression) {
        case .value(let value): self = .constant(value == PredicateValue(true))
        case let field?: self = .compare(field, .equal, .value(PredicateValue(true)))
        case nil: return nil
        }
    }

    fileprivate init?(
        _ left: any PredicateExpression,
        _ comparator: PredicateComparison.Operator,
        _ right: any PredicateExpression
    ) {
        guard let left = PredicateOperand(left), let right = PredicateOperand(right) else {
            return nil
        }
        self = .compare(left, comparator, right)
    }

    fileprivate static func compare(
        _ left: PredicateOperand,
        _ comparator: PredicateComparison.Operator,
        _ right: PredicateOperand
    ) -> PredicateTree {
        .comparison(PredicateComparison(left: left, operator: comparator, right: right))
    }
}

extension PredicateOperand {
    fileprivate init?(_ expression: any PredicateExpression) {
        guard let operand = (expression as? any OperandExpression)?.operand else { return nil }
        self = operand
    }

    /// The field a property stands for.
    fileprivate init?(_ property: AnyKeyPath) {
        // Values in a macro's predicate must be Codable, which IDs and references are not.
        if property == \CKRecord.creationDate as AnyKeyPath {
            self = .keyPath("creationDate")
            return
        }
        if property == \CKRecord.modificationDate as AnyKeyPath {
            self = .keyPath("modificationDate")
            return
        }
        // Swift names stored properties; the others are "<computed …>".
        let text = property.debugDescription
        let root = "\\\(type(of: property).rootType)."
        let name = text.dropFirst(root.count)
        guard text.hasPrefix(root), !name.isEmpty,
            name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." })
        else { return nil }
        self = .keyPath(String(name))
    }
}

// MARK: - Conditions

extension PredicateExpressions.Conjunction: ConditionExpression {
    fileprivate var tree: PredicateTree? {
        guard let left = PredicateTree(condition: lhs), let right = PredicateTree(condition: rhs)
        else { return nil }
        return .and([left, right])
    }
}

extension PredicateExpressions.Disjunction: ConditionExpression {
    fileprivate var tree: PredicateTree? {
        guard let left = PredicateTree(condition: lhs), let right = PredicateTree(condition: rhs)
        else { return nil }
        return .or([left, right])
    }
}

extension PredicateExpressions.Negation: ConditionExpression {
    fileprivate var tree: PredicateTree? { PredicateTree(condition: wrapped).map { .not($0) } }
}

extension PredicateExpressions.Equal: ConditionExpression {
    fileprivate var tree: PredicateTree? { PredicateTree(lhs, .equal, rhs) }
}

extension PredicateExpressions.NotEqual: ConditionExpression {
    fileprivate var tree: PredicateTree? { PredicateTree(lhs, .notEqual, rhs) }
}

extension PredicateExpressions.Comparison: ConditionExpression {
    fileprivate var tree: PredicateTree? {
        switch op {
        case .lessThan: PredicateTree(lhs, .lessThan, rhs)
        case .lessThanOrEqual: PredicateTree(lhs, .lessThanOrEqual, rhs)
        case .greaterThan: PredicateTree(lhs, .greaterThan, rhs)
        case .greaterThanOrEqual: PredicateTree(lhs, .greaterThanOrEqual, rhs)
        @unknown default: nil
        }
    }
}

extension PredicateExpressions.SequenceContains: ConditionExpression {
    fileprivate var tree: PredicateTree? { PredicateTree(element, .in, sequence) }
}

extension PredicateExpressions.SequenceStartsWith: ConditionExpression {
    fileprivate var tree: PredicateTree? {
        // Of lists there is no such thing.
        guard Base.Output.self is any StringProtocol.Type else { return nil }
        return PredicateTree(base, .beginsWith, prefix)
    }
}

extension PredicateExpressions.RangeExpressionContains: ConditionExpression {
    fileprivate var tree: PredicateTree? {
        guard let range = range as? any PredicateRange, let operand = PredicateOperand(element)
        else { return nil }
        return range.comparisons(of: operand)
    }
}

// MARK: - Operands

extension PredicateExpressions.Value: OperandExpression {
    fileprivate var operand: PredicateOperand? { .value(PredicateValue(value)) }
}

extension PredicateExpressions.KeyPath: OperandExpression {
    fileprivate var operand: PredicateOperand? {
        guard root is PredicateExpressions.Variable<Root.Output> else { return nil }
        return PredicateOperand(keyPath as AnyKeyPath)
    }
}

extension PredicateExpressions.ForcedUnwrap: OperandExpression {
    fileprivate var operand: PredicateOperand? { PredicateOperand(inner) }
}

// MARK: - Ranges

extension PredicateExpressions.ClosedRange: PredicateRange {
    fileprivate func comparisons(of operand: PredicateOperand) -> PredicateTree? {
        guard case .value(let lower)? = PredicateOperand(lower),
            case .value(let upper)? = PredicateOperand(upper)
        else { return nil }
        return .compare(operand, .between, .value(.list([lower, upper])))
    }
}

extension PredicateExpressions.Range: PredicateRange {
    fileprivate func comparisons(of operand: PredicateOperand) -> PredicateTree? {
        guard let lower = PredicateOperand(lower), let upper = PredicateOperand(upper) else {
            return nil
        }
        return .and([
            .compare(operand, .greaterThanOrEqual, lower), .compare(operand, .lessThan, upper),
        ])
    }
}
