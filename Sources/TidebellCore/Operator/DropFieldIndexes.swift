// SPDX-License-Identifier: Apache-2.0

/// Removes all indexes of records; queries that need one have it built again.
package enum DropFieldIndexes {
    /// Entries that one step removes.
    private static let entriesPerStep = 10_000

    /// Returns an index that is kept; nil where none is left.
    package static func next(in reader: some FieldIndexReading) throws -> StoredFieldIndex? {
        try reader.fieldIndexes(unusedSince: Instant(rawValue: .max), limit: 1).first
    }

    /// Removes some of an index, in its database; returns whether all of it is gone.
    package static func step(
        _ index: StoredFieldIndex, in transaction: some FieldIndexWriting
    ) throws -> Bool {
        try transaction.dropFieldIndex(index.id, limit: entriesPerStep)
    }
}
