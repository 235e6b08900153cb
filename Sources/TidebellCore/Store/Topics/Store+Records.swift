// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Records, page by page or by name, and the references between them.
///
/// A record whose fields are damaged is returned as such, so that it is one record that
/// fails and not the page it stands on.
package protocol RecordReading {
    /// Counts work on what was read, in bytes (``ReadBudget/bytes``), before it is done;
    /// fails where the read may not do so much, or nobody waits for it any more.
    func noteWork(_ bytes: Int) throws

    /// Returns the living records with these names; nil when their fields have more
    /// than `byteLimit` bytes.
    func records(
        _ names: Set<String>, in zone: ZoneKey, byteLimit: Int
    ) throws -> [String: StoredRecord]?

    /// Returns the living records with these names without their fields, whose bytes it
    /// does not read.
    func recordsWithoutFields(
        _ names: Set<String>, in zone: ZoneKey
    ) throws -> [String: StoredRecord]

    /// Returns a page of the zone's history after `position`, tombstones
    /// included, oldest change first; with `reverse`, newest first, *before*
    /// `position`.
    ///
    /// The page ends after `limit` records, or after the record that brings the
    /// bytes of its fields to `byteLimit`; it is complete when no record lies
    /// beyond it.
    func recordChanges(
        in zone: ZoneKey, after position: Position, limit: Int, byteLimit: Int, reverse: Bool
    ) throws -> (records: [StoredRecord], isComplete: Bool)

    /// Calls `body` with the living records of a type in these zones, and with
    /// the zone of each, until it returns false: zone by zone in the order of
    /// `zones`, in each the oldest change first, those after `cursor` only.
    ///
    /// Holds one record at a time. Zones before that of `cursor` are left out;
    /// `zones` must be in ascending order. `body` must not use the reader,
    /// but for ``noteWork(_:)``.
    func scanRecords(
        of type: String, in zones: [ZoneKey], after cursor: RecordCursor?,
        _ body: (StoredRecord, ZoneKey) throws -> Bool
    ) throws

    /// Returns the names of living records of the zone that a user made, after `position`
    /// in the zone's history: at most `limit`, among the next `rows` records and
    /// tombstones; and where to look on, nil at the end.
    func records(
        createdBy user: String, in zone: ZoneKey, after position: Position, limit: Int,
        lookingAt rows: Int
    ) throws -> (names: [String], next: Position?)

    /// Returns the references that point to these records.
    func references(to targets: Set<String>, in zone: ZoneKey) throws -> [StoredReference]

    /// Returns the names of the records whose parents these are, by parent; nil where more than
    /// `limit` references of any kind point to them.
    func children(
        of parents: Set<String>, in zone: ZoneKey, limit: Int
    ) throws -> [String: [String]]?

    /// Returns the names of records whose parent this is, in order, among the next `limit` that
    /// refer to it after `last`; and where to look on, nil at the end.
    func children(
        of parent: String, in zone: ZoneKey, after last: String, limit: Int
    ) throws -> (names: [String], next: String?)

    /// Returns how many records refer to each of these records with `DELETE_SELF`;
    /// a record that none refers to is absent.
    func deleteSelfCounts(to targets: Set<String>, in zone: ZoneKey) throws -> [String: Int]
}

/// Records and references are saved; their tombstones go.
package protocol RecordWriting: RecordReading {
    /// Inserts records and tombstones, replacing what stands under their names.
    func putRecords(_ records: [StoredRecord], in zone: ZoneKey) throws

    /// Replaces all references that go out from `sources`.
    func putReferences(
        _ references: [StoredReference],
        from sources: Set<String>,
        in zone: ZoneKey
    ) throws

    /// Removes tombstones and zone traces that are older than `moment`, raising
    /// the floor of the tombstones' zones and of the traces' databases (TOK-22);
    /// returns how many went. At most `limit`.
    func removeTombstones(modifiedBefore moment: Instant, limit: Int) throws -> Int
}

extension RecordReading {
    /// An engine that does not distinguish long reads from short ones counts nothing.
    package func noteWork(_ bytes: Int) throws {}

    /// Returns the living records with these names, which must be few.
    package func records(
        _ names: Set<String>, in zone: ZoneKey
    ) throws -> [String: StoredRecord] {
        try records(names, in: zone, byteLimit: .max) ?? [:]
    }

    /// Returns the living records that a request names; fails with `limitExceeded` when
    /// that is more than one request may hold.
    func records(
        _ names: Set<String>, in zone: ZoneKey, for call: Call
    ) throws -> [String: StoredRecord] {
        let limit = call.limits.namedRecordBytes
        guard let records = try records(names, in: zone, byteLimit: limit) else {
            throw WireError.tooManyBytes(limit)
        }
        return records
    }
}
