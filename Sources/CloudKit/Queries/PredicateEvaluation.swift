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
        case .function(let name, let parameters): call(name, parameters.map(value))
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

    private func call(_ name: String, _ parameters: [PredicateValue]) -> PredicateValue {
        if name == "now" { return PredicateValue(Date()) }
        guard parameters.count == 2 else { return .null }
        switch (name, parameters[0], parameters[1]) {
        case (
            "distanceToLocation:fromLocation:",
            .scalar(.location(let from)), .scalar(.location(let to))
        ):
            return .scalar(.double(from.distance(from: to)))
        case ("objectFrom:withIndex:", .list(let elements), .scalar(.int64(let index))):
            return elements.indices.contains(Int(index)) ? elements[Int(index)] : .null
        default:
            return arithmetic(name, parameters[0], parameters[1])
        }
    }

    /// Whole numbers stay whole, as long as the result fits.
    private func arithmetic(
        _ name: String,
        _ left: PredicateValue,
        _ right: PredicateValue
    ) -> PredicateValue {
        guard let first = left.number, let second = right.number else { return .null }
        let result: Double
        switch name {
        case "add:to:": result = first + second
        case "from:subtract:": result = first - second
        case "multiply:by:": result = first * second
        case "divide:by:": result = first / second
        case "raise:toPower:": result = pow(first, second)
        default: return .null
        }
        if case .scalar(.int64) = left, case .scalar(.int64) = right {
            return Int64(exactly: result.rounded(.towardZero)).map { .scalar(.int64($0)) } ?? .null
        }
        return .scalar(.double(result))
    }

    // MARK: - Key paths

    /// Returns the value of a field, or of what a key path leads to.
    static func value(atPath path: String, of object: Any?) -> PredicateValue {
        PredicateValue(follow(path, from: object))
    }

    /// Returns what a key path leads to; lists are followed element by element.
    private static func follow(_ path: String, from object: Any?) -> Any? {
        var current = object
        for key in path.split(separator: ".") {
            guard let object = current else { return nil }
            current = value(forKey: String(key), of: object)
        }
        return current
    }

    private static func value(forKey key: String, of object: Any) -> Any? {
        switch object {
        case let record as CKRecord: return record.value(forKey: key)
        case let dictionary as [AnyHashable: Any]: return dictionary[key]
        case let elements as [Any]:
            if key == "@count" { return elements.count }
            return elements.map { value(forKey: key, of: $0) ?? NSNull() }
        default: return property(key, of: Mirror(reflecting: object))
        }
    }

    /// Returns a stored property: Linux has no key-value coding.
    private static func property(_ name: String, of mirror: Mirror) -> Any? {
        if let child = mirror.children.first(where: { $0.label == name }) { return child.value }
        return mirror.superclassMirror.flatMap { property(name, of: $0) }
    }
}
