// SPDX-License-Identifier: Apache-2.0

/// What is left to do in hierarchies after a save that moved much, or ended a share.
package protocol SettlingReading {
    /// Returns living zones that are not settled, in the order of their keys, from `first` on; at
    /// most `limit`.
    func unsettledZones(from first: ZoneKey, limit: Int) throws -> [UnsettledZone]

    /// Returns what was noted last of what is still unsettled in a zone.
    func newestUnsettledRecord(in zone: ZoneKey) throws -> UnsettledRecord?
}

/// Hierarchies are settled step by step.
package protocol SettlingWriting: SettlingReading {
    /// Notes in this order that what is below these records is to be settled, from the beginning
    /// for one that is noted already; passes over those to which nothing refers. From now on the
    /// zone is not settled (``StoredZone/isUnsettled``).
    func noteUnsettled(_ names: [String], in zone: ZoneKey) throws

    /// Notes how far a record is that is noted already.
    func putUnsettled(_ record: UnsettledRecord, in zone: ZoneKey) throws

    /// Forgets a record, below which all is settled.
    func removeUnsettled(_ name: String, in zone: ZoneKey) throws

    /// Removes rows of hierarchies of the zone whose share ended, at most `limit`; returns how
    /// many, less than `limit` when none are left.
    func removeEndedHierarchies(in zone: ZoneKey, limit: Int) throws -> Int

    /// Removes what is kept of the zone's records that came back (``SharedRecord/hiddenBefore``), at most
    /// `limit`; returns how many, less than `limit` when none are left.
    func removeEarlierDepartures(in zone: ZoneKey, limit: Int) throws -> Int

    /// Marks a zone as settled if nothing is left; returns whether that is so.
    func settleZone(_ zone: ZoneKey) throws -> Bool
}
