// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Writes, reads and compares predicates, which Foundation on Linux cannot.
///
/// Knows constant predicates and compounds of what it knows.
enum PredicateArchive {
    /// The deepest nesting that is read: a bound against damaged archives.
    static let maximumDepth = 64

    private enum Tag: UInt8 {
        case alwaysFalse = 0
        case alwaysTrue = 1
        case not = 2
        case and = 3
        case or = 4
    }

    /// Writes a predicate.
    ///
    /// - Precondition: It can be archived; a block cannot.
    static func write(_ predicate: NSPredicate, to writer: inout BlobWriter) {
        if let compound = predicate as? NSCompoundPredicate {
            let parts = compound.subpredicates
            writer.write(byte: tag(of: compound).rawValue)
            writer.write(count: parts.count)
            for part in parts { write(part, to: &writer) }
        } else if let constant = constant(of: predicate) {
            writer.write(byte: (constant ? Tag.alwaysTrue : .alwaysFalse).rawValue)
        } else {
            preconditionFailure("A predicate made of a block cannot be archived.")
        }
    }

    /// Reads a predicate.
    static func predicate(
        from reader: inout BlobReader,
        depth: Int = 0
    ) throws(BlobError) -> NSPredicate {
        guard depth < maximumDepth, let tag = Tag(rawValue: try reader.byte()) else {
            throw .badValue
        }
        if tag == .alwaysTrue || tag == .alwaysFalse {
            return NSPredicate(value: tag == .alwaysTrue)
        }
        var parts: [NSPredicate] = []
        for _ in 0..<(try reader.count()) {
            parts.append(try predicate(from: &reader, depth: depth + 1))
        }
        switch tag {
        case .and: return NSCompoundPredicate(andPredicateWithSubpredicates: parts)
        case .or: return NSCompoundPredicate(orPredicateWithSubpredicates: parts)
        default:
            guard let part = parts.first, parts.count == 1 else { throw .badValue }
            return NSCompoundPredicate(notPredicateWithSubpredicate: part)
        }
    }

    /// Tells whether both are the same object, or are made alike.
    static func isEqual(_ left: NSPredicate, _ right: NSPredicate) -> Bool {
        if left === right { return true }
        if let left = left as? NSCompoundPredicate, let right = right as? NSCompoundPredicate {
            let leftParts = left.subpredicates
            let rightParts = right.subpredicates
            return left.compoundPredicateType == right.compoundPredicateType
                && leftParts.count == rightParts.count
                && zip(leftParts, rightParts).allSatisfy { isEqual($0, $1) }
        }
        guard let left = constant(of: left), let right = constant(of: right) else { return false }
        return left == right
    }

    /// The value of a predicate that does not look at its object; nil for others.
    private static func constant(of predicate: NSPredicate) -> Bool? {
        guard !(predicate is NSCompoundPredicate) else { return nil }
        return switch (predicate as any PredicateFormatting).predicateFormat {
        case "TRUEPREDICATE": true
        case "FALSEPREDICATE": false
        default: nil
        }
    }

    private static func tag(of compound: NSCompoundPredicate) -> Tag {
        switch compound.compoundPredicateType {
        case .not: .not
        case .and: .and
        case .or: .or
        }
    }
}

/// The one way to tell a constant predicate from a block without calling the block.
///
/// A protocol because Foundation marks the property deprecated: its text is of no
/// use elsewhere, but exact for constants.
private protocol PredicateFormatting {
    var predicateFormat: String { get }
}

extension NSPredicate: PredicateFormatting {}
