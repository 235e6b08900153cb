// SPDX-License-Identifier: Apache-2.0

/// Which records are in hierarchies that are shared, in an order of each hierarchy's own.
///
/// Which one a record is in is kept with every save, so that nobody walks up a hierarchy to read.
package protocol SharedRecordReading {
    /// Returns in which hierarchy each of these records is, as far as that is settled; one that is
    /// in none, or was deleted, is absent. The record of a share is in it too.
    ///
    /// What is stored of a share that ended counts for nothing, also where there is another one of
    /// the same name.
    func memberships(
        of names: Set<String>, in zone: ZoneKey
    ) throws -> [String: HierarchyMembership]

    /// Returns since when nobody sees records in hierarchies that they left, by the names of the
    /// records and of the shares (``SharedRecord/entry``); of those that came back the same of
    /// before, too (``SharedRecord/hiddenBefore``), until the zone is settled. Oldest first.
    func departures(
        of names: Set<String>, in zone: ZoneKey
    ) throws -> [String: [String: [Position]]]

    /// Returns what ``memberships(of:in:)`` does, with the places of the records in the tree, and
    /// the same of all that is above them; nil where these are more than `limit`.
    func places(
        above names: Set<String>, in zone: ZoneKey, limit: Int
    ) throws -> [String: HierarchyPlace]?

    /// Returns the same of these records alone.
    func places(of names: Set<String>, in zone: ZoneKey) throws -> [String: HierarchyPlace]

    /// Returns a page of the histories of hierarchies after `position`, what was deleted there or
    /// left included, oldest change first; with `reverse`, newest first, *before* `position`.
    ///
    /// It ends as ``RecordReading/recordChanges(in:after:limit:byteLimit:reverse:)``. Costs a
    /// statement for each share.
    func sharedRecordChanges(
        in zone: ZoneKey, of shares: Set<String>, after position: Position, limit: Int,
        byteLimit: Int, reverse: Bool
    ) throws -> (changes: [SharedRecordChange], isComplete: Bool)

    /// Returns where the histories of hierarchies end; nil where they are empty.
    func newestSharedPosition(in zone: ZoneKey, of shares: Set<String>) throws -> Position?

    /// Calls `body` with the living records of a type that are in the hierarchies of shares, and
    /// with nil for what else is in the histories of these, until it returns false: in the order of
    /// the histories after `position`, each with where they have it.
    ///
    /// Costs what is in these hierarchies, however much of the zone is not; and as much more as
    /// a page for each share. Else as ``RecordReading/scanRecords(of:in:after:_:)``.
    func scanRecords(
        of type: String, in zone: ZoneKey, of shares: Set<String>, after position: Position,
        _ body: (Position, StoredRecord?) throws -> Bool
    ) throws
}

extension SharedRecordReading {
    /// Returns the name of the share that each of these records is in, as far as that is settled.
    package func sharesHolding(
        _ names: Set<String>, in zone: ZoneKey
    ) throws -> [String: String] {
        try memberships(of: names, in: zone).mapValues(\.share)
    }
}

/// Records come into hierarchies, change there and leave them.
package protocol SharedRecordWriting: SharedRecordReading {
    /// Inserts rows, replacing those of the same record and share.
    func putSharedRecords(_ records: [SharedRecord], in zone: ZoneKey) throws
}
