// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
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

    /// Returns whether the object matches.
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
        case .list(let elements): .list(elements.map(value))
        case .function(let function, let parameters) where !function.givesElement:
            function.value(parameters.map(value))
        case .keyPath, .itself, .variable, .function, .path, .subquery:
            PredicateValue(source(of: expression))
        }
    }

    /// What an expression gives, with the keys a value has no more.
    private func source(of expression: PredicateOperand) -> Any? {
        switch expression {
        case .keyPath(let path): Self.follow(path, from: object)
        case .itself: object
        case .variable(let name): variables[name]
        case .path(let start, let path): Self.follow(path, from: source(of: start))
        case .function(let function, let parameters) where function.givesElement:
            element(function, of: parameters)
        case .subquery(let collection, let variable, let condition):
            elements(of: collection)?.filter { element in
                let variables = variables.merging([variable: element]) { $1 }
                return PredicateEvaluation(object, variables: variables).holds(condition)
            } ?? []
        case .value, .list, .function: value(of: expression)
        }
    }

    private func elements(of expression: PredicateOperand) -> [Any]? {
        PredicateValue.unwrapped(source(of: expression)).flatMap(PredicateValue.elements)
    }

    /// An element of a list, or what a dictionary has for a key.
    private func element(_ function: PredicateFunction, of parameters: [PredicateOperand]) -> Any? {
        guard let collection = parameters.first else { return nil }
        let elements = elements(of: collection)
        switch (function, parameters.last.map(value)) {
        case (.first, _): return elements?.first
        case (.last, _): return elements?.last
        case (_, .scalar(.int64(let index))?):
            guard let elements, elements.indices.contains(Int(index)) else { return nil }
            return elements[Int(index)]
        case (_, .scalar(.string(let key))?):
            return (source(of: collection) as? [AnyHashable: Any])?[key]
        default: return nil
        }
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
