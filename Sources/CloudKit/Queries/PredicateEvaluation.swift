// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation

/// Asks whether an object in memory matches a predicate, as Foundation's class does on
/// Apple's systems.
///
/// NB: the server's rules differ, there as here: it ignores case where Foundation does
/// not (QUERY-8).
struct PredicateEvaluation {
    private let object: Any?
    private let variables: [String: Any]

    /// Evaluates with `object` as `SELF`, and values for `$name`.
    init(_ object: Any?, variables: [String: Any]) {
        self.object = object
        self.variables = variables
    }

    /// Tells whether the object matches.
    func holds(_ tree: PredicateTree) -> Bool {
        switch tree {
        case .constant(let value): value
        case .comparison(let comparison): holds(comparison)
        case .and(let parts): parts.allSatisfy(holds)
        case .or(let parts): parts.contains(where: holds)
        case .not(let part): !holds(part)
        }
    }

    private func holds(_ comparison: PredicateComparison) -> Bool {
        let left = value(of: comparison.left)
        let right = value(of: comparison.right)
        func isMet(_ element: PredicateValue) -> Bool {
            comparison.operator.isMet(element, right, options: comparison.options)
        }
        guard let qualifier = comparison.qualifier else { return isMet(left) }
        let elements = if case .list(let elements) = left { elements } else { [left] }
        return switch qualifier {
        case .any: elements.contains(where: isMet)
        case .all: elements.allSatisfy(isMet)
        case .noneOf: !elements.contains(where: isMet)
        }
    }

    // MARK: - Expressions

    private func value(of expression: PredicateOperand) -> PredicateValue {
        switch expression {
        case .value(let value): value
        case .keyPath(let path): Self.value(atPath: path, of: object)
        case .itself: PredicateValue(object)
        case .variable(let name): PredicateValue(variables[name])
        case .list(let elements): .list(elements.map(value))
        case .function(.element, let parameters) where parameters.count == 2:
            element(of: parameters[0], at: value(of: parameters[1]))
        case .function(let function, let parameters): function.value(parameters.map(value))
        case .subquery(let collection, let variable, let condition):
            subquery(value(of: collection), variable, condition)
        }
    }

    private func subquery(
        _ collection: PredicateValue,
        _ variable: String,
        _ condition: PredicateTree
    ) -> PredicateValue {
        guard case .list(let elements) = collection else { return .list([]) }
        return .list(
            elements.filter { element in
                let variables = variables.merging([variable: element]) { $1 }
                return PredicateEvaluation(object, variables: variables).holds(condition)
            }
        )
    }

    /// An element of a list, or what a dictionary has for a key.
    private func element(of collection: PredicateOperand, at index: PredicateValue)
        -> PredicateValue
    {
        let dictionary: Any? =
            switch collection {
            case .keyPath(let path): Self.follow(path, from: object)
            case .itself: object
            case .variable(let name): variables[name]
            default: nil
            }
        if let dictionary = dictionary as? [AnyHashable: Any] {
            guard case .scalar(.string(let key)) = index else { return .null }
            return PredicateValue(dictionary[key])
        }
        return PredicateFunction.element.value([value(of: collection), index])
    }

    // MARK: - Key paths

    /// Returns the value of a field, or of what a key path leads to.
    static func value(atPath path: String, of object: Any?) -> PredicateValue {
        PredicateValue(follow(path, from: object))
    }

    /// Returns what a key path leads to; lists are followed element by element.
    private static func follow(_ path: String, from object: Any?) -> Any? {
        follow(path.split(separator: ".")[...], from: object)
    }

    private static func follow(_ keys: ArraySlice<Substring>, from object: Any?) -> Any? {
        guard let object = PredicateValue.unwrapped(object), let key = keys.first else {
            return object
        }
        let rest = keys.dropFirst()
        guard let collectionOperator = PredicateCollectionOperator(rawValue: String(key)) else {
            return follow(rest, from: value(forKey: String(key), of: object))
        }
        return PredicateValue.elements(of: object).map { elements in
            collectionOperator.value(of: elements.map { PredicateValue(follow(rest, from: $0)) })
        }
    }

    private static func value(forKey key: String, of object: Any) -> Any? {
        switch object {
        case let record as CKRecord: return record.value(forKey: key)
        case let dictionary as [AnyHashable: Any]: return dictionary[key]
        default: break
        }
        if let elements = PredicateValue.elements(of: object) {
            return elements.map { follow([key[...]], from: $0) ?? NSNull() }
        }
        return key == "self" ? object : property(key, of: Mirror(reflecting: object))
    }

    /// Returns a stored property: Linux has no key-value coding.
    private static func property(_ name: String, of mirror: Mirror) -> Any? {
        if let child = mirror.children.first(where: { $0.label == name }) { return child.value }
        return mirror.superclassMirror.flatMap { property(name, of: $0) }
    }
}
