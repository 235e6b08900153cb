// SPDX-License-Identifier: Apache-2.0

/// Ordered indexes of what is in records: keys that Core made, each with a position in the
/// history of a zone.
///
/// An engine needs an ordered table and no more: it compares keys byte by byte.
package protocol FieldIndexReading {
    /// Returns the indexes of a zone that are kept, of one type or of all, in the order of their
    /// IDs; those that are dropped are none.
    func fieldIndexes(in zone: ZoneKey, of type: String?) throws -> [StoredFieldIndex]

    /// Returns an index, whatever its state.
    func fieldIndex(_ id: FieldIndexID) throws -> StoredFieldIndex?

    /// Returns indexes that are building or dropped, those with the smallest IDs after `last`
    /// first; at most `limit`.
    func unfinishedFieldIndexes(after last: FieldIndexID, limit: Int) throws -> [StoredFieldIndex]

    /// Returns indexes that no query used since `moment`, at most `limit`.
    func fieldIndexes(unusedSince moment: Instant, limit: Int) throws -> [StoredFieldIndex]

    /// Returns the first entries of a range, at most `limit`, in order; with `reverse`, the last
    /// ones, backwards. Those beyond `entry` only, seen in that direction.
    func fieldIndexEntries(
        of index: FieldIndexID, in range: FieldIndexRange, beyond entry: FieldIndexEntry?,
        reverse: Bool, limit: Int
    ) throws -> [FieldIndexEntry]

    /// Returns how many entries a range has, and `limit` where it has more.
    func fieldIndexEntryCount(
        of index: FieldIndexID, in range: FieldIndexRange, limit: Int
    ) throws -> Int

    /// Calls `body` with the living records whose latest changes stand at these positions, and
    /// which of them that is, in the order asked for, until it returns false; passes over
    /// positions at which no living record stands.
    ///
    /// Holds one record at a time. `body` must not use the reader, but for
    /// ``RecordReading/noteWork(_:)``.
    func records(
        at positions: [Position], in zone: ZoneKey,
        _ body: (Int, StoredRecord) throws -> Bool
    ) throws
}

/// Indexes are made, kept, and dropped.
package protocol FieldIndexWriting: FieldIndexReading {
    /// Makes an index without entries, to be built, or returns the one that is there and kept.
    /// From now on the zone is indexed (``StoredZone/isIndexed``).
    func makeFieldIndex(
        _ name: String, of type: String, in zone: StoredZone, at now: Instant
    ) throws -> StoredFieldIndex

    /// Adds entries; those that are there already stay.
    func putFieldIndexEntries(_ entries: [FieldIndexEntry], of index: FieldIndexID) throws

    /// Removes entries; those that are not there are none.
    func removeFieldIndexEntries(_ entries: [FieldIndexEntry], of index: FieldIndexID) throws

    /// Notes how far an index is built.
    func noteFieldIndex(
        _ index: FieldIndexID, builtThrough position: Position, isReady: Bool
    ) throws

    /// Notes that queries use these indexes; those that are gone are passed over.
    func noteUse(of indexes: Set<FieldIndexID>, at now: Instant) throws

    /// Drops an index: at once it is none of the zone's any more, and of its entries at most
    /// `limit` go. Returns whether all of it is gone.
    func dropFieldIndex(_ index: FieldIndexID, limit: Int) throws -> Bool
}
