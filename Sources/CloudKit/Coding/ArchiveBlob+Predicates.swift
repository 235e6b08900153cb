// SPDX-License-Identifier: Apache-2.0
import Foundation

// The bytes of a predicate: each node is a tag and what the tag announces.

private enum TreeTag: UInt8 {
    case alwaysFalse = 0
    case alwaysTrue = 1
    case not = 2
    case and = 3
    case or = 4
    case comparison = 5
}

private enum ExpressionTag: UInt8 {
    case value = 0
    case keyPath = 1
    case itself = 2
    case variable = 3
    case list = 4
    case function = 5
    case subquery = 6
    case path = 7
}

private enum ValueTag: UInt8 {
    case null = 0
    case scalar = 1
    case recordID = 2
    case list = 3
}

extension BlobWriter {
    /// Writes a predicate.
    ///
    /// - Precondition: All its values are of classes CloudKit knows.
    mutating func write(_ tree: PredicateTree) {
        switch tree {
        case .constant(let value):
            write(byte: (value ? TreeTag.alwaysTrue : .alwaysFalse).rawValue)
        case .comparison(let comparison):
            write(byte: TreeTag.comparison.rawValue)
            write(comparison.qualifier?.rawValue)
            write(comparison.operator.rawValue)
            write(comparison.options)
            write(comparison.left)
            write(comparison.right)
        case .and(let parts): write(.and, parts)
        case .or(let parts): write(.or, parts)
        case .not(let part): write(.not, [part])
        }
    }

    private mutating func write(_ tag: TreeTag, _ parts: [PredicateTree]) {
        write(byte: tag.rawValue)
        write(count: parts.count)
        for part in parts { write(part) }
    }

    private mutating func write(_ expression: PredicateOperand) {
        switch expression {
        case .value(let value):
            write(byte: ExpressionTag.value.rawValue)
            write(value)
        case .keyPath(let path): write(.keyPath, path)
        case .itself: write(byte: ExpressionTag.itself.rawValue)
        case .variable(let name): write(.variable, name)
        case .list(let elements):
            write(byte: ExpressionTag.list.rawValue)
            write(elements)
        case .function(let function, let parameters):
            write(.function, function.rawValue)
            write(parameters)
        case .path(let source, let path):
            write(.path, path)
            write(source)
        case .subquery(let collection, let variable, let condition):
            write(.subquery, variable)
            write(collection)
            write(condition)
        }
    }

    private mutating func write(_ tag: ExpressionTag, _ name: String) {
        write(byte: tag.rawValue)
        write(name)
    }

    private mutating func write(_ expressions: [PredicateOperand]) {
        write(count: expressions.count)
        for expression in expressions { write(expression) }
    }

    private mutating func write(_ value: PredicateValue) {
        switch value {
        case .null: write(byte: ValueTag.null.rawValue)
        case .scalar(let scalar):
            write(byte: ValueTag.scalar.rawValue)
            write(scalar)
        case .recordID(let id):
            write(byte: ValueTag.recordID.rawValue)
            write(id)
        case .list(let elements):
            write(byte: ValueTag.list.rawValue)
            write(count: elements.count)
            for element in elements { write(element) }
        case .other(let object):
            preconditionFailure(
                "A predicate with a value of type \(object.type) cannot be archived."
            )
        }
    }
}

extension BlobReader {
    /// Reads a predicate; fails when it is nested too deep.
    mutating func predicateTree() throws(BlobError) -> PredicateTree {
        try tree(depth: 0)
    }

    private mutating func tag<Tag: RawRepresentable<UInt8>>(
        _ type: Tag.Type,
        depth: Int
    ) throws(BlobError) -> Tag {
        guard depth < PredicateTree.maximumDepth, let tag = Tag(rawValue: try byte()) else {
            throw .badValue
        }
        return tag
    }

    private mutating func tree(depth: Int) throws(BlobError) -> PredicateTree {
        switch try tag(TreeTag.self, depth: depth) {
        case .alwaysFalse: return .constant(false)
        case .alwaysTrue: return .constant(true)
        case .comparison: return .comparison(try comparison(depth: depth))
        case .and: return .and(try trees(depth: depth))
        case .or: return .or(try trees(depth: depth))
        case .not:
            let parts = try trees(depth: depth)
            guard parts.count == 1 else { throw .badValue }
            return .not(parts[0])
        }
    }

    private mutating func trees(depth: Int) throws(BlobError) -> [PredicateTree] {
        try list { reader throws(BlobError) in try reader.tree(depth: depth + 1) }
    }

    private mutating func comparison(depth: Int) throws(BlobError) -> PredicateComparison {
        let qualifier = try optionalString().map { name throws(BlobError) in
            guard let qualifier = PredicateComparison.Qualifier(rawValue: name) else {
                throw .badValue
            }
            return qualifier
        }
        guard let comparator = PredicateComparison.Operator(rawValue: try string()) else {
            throw .badValue
        }
        let options = try string()
        return PredicateComparison(
            qualifier: qualifier,
            left: try expression(depth: depth + 1),
            operator: comparator,
            options: options,
            right: try expression(depth: depth + 1)
        )
    }

    private mutating func expression(depth: Int) throws(BlobError) -> PredicateOperand {
        switch try tag(ExpressionTag.self, depth: depth) {
        case .value: return .value(try value(depth: depth))
        case .keyPath: return .keyPath(try string())
        case .itself: return .itself
        case .variable: return .variable(try string())
        case .list: return .list(try expressions(depth: depth))
        case .function: return try function(depth: depth)
        case .path:
            let path = try string()
            return .path(try expression(depth: depth + 1), path)
        case .subquery:
            let variable = try string()
            let collection = try expression(depth: depth + 1)
            return .subquery(collection, variable: variable, try tree(depth: depth + 1))
        }
    }

    private mutating func function(depth: Int) throws(BlobError) -> PredicateOperand {
        guard let function = PredicateFunction(rawValue: try string()) else { throw .badValue }
        let parameters = try expressions(depth: depth)
        guard parameters.count == function.parameterCount else { throw .badValue }
        return .function(function, parameters)
    }

    private mutating func expressions(depth: Int) throws(BlobError) -> [PredicateOperand] {
        try list { reader throws(BlobError) in try reader.expression(depth: depth + 1) }
    }

    private mutating func value(depth: Int) throws(BlobError) -> PredicateValue {
        switch try tag(ValueTag.self, depth: depth) {
        case .null: return .null
        case .scalar:
            let value = try fieldValue()
            if case .list = value { throw .badValue }
            return .scalar(value)
        case .recordID: return .recordID(try recordID())
        case .list:
            return .list(
                try list { reader throws(BlobError) in try reader.value(depth: depth + 1) }
            )
        }
    }

    private mutating func list<Element>(
        _ element: (inout BlobReader) throws(BlobError) -> Element
    ) throws(BlobError) -> [Element] {
        var elements: [Element] = []
        for _ in 0..<(try count()) { elements.append(try element(&self)) }
        return elements
    }
}
