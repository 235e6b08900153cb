// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Writes, reads and compares predicates, which Foundation on Linux cannot.
///
/// Knows constant predicates, those made of a format, and compounds of what it knows.
enum PredicateArchive {
    /// Writes a predicate.
    ///
    /// - Precondition: It can be archived; a block cannot, nor can compounds nested deeper
    ///   than ``PredicateTree/maximumDepth``, nor an argument of a class CloudKit does not know.
    static func write(_ predicate: NSPredicate, to writer: inout BlobWriter) {
        guard let tree = PredicateTree(predicate) else {
            preconditionFailure(
                "A predicate made of a block, or nested deeper than "
                    + "\(PredicateTree.maximumDepth) levels, cannot be archived."
            )
        }
        writer.write(tree)
    }

    /// Reads a predicate.
    static func predicate(from reader: inout BlobReader) throws(BlobError) -> NSPredicate {
        try reader.predicateTree().predicate
    }

    /// Returns whether both are the same object, are made alike, or ask the same of
    /// CloudKit's server.
    static func isEqual(_ left: NSPredicate, _ right: NSPredicate) -> Bool {
        if left === right { return true }
        guard let left = PredicateTree(left), let right = PredicateTree(right) else { return false }
        if left == right { return true }
        guard let leftTerms = try? left.terms(), let rightTerms = try? right.terms() else {
            // What CloudKit refuses is compared by how it is made alone.
            return false
        }
        // All of them must hold: their order does not matter, nor does a repeated one.
        return Set(leftTerms) == Set(rightTerms)
    }
}
