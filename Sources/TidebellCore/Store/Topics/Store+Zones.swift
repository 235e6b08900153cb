// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Databases and their zones: what is in them, and how far their history is.
package protocol ZoneReading {
    /// Returns the database, or nil while nothing was ever written to it.
    func database(_ key: DatabaseKey) throws -> StoredDatabase?

    /// Returns the database with an ID that the store gave.
    func database(id: DatabaseID) throws -> StoredDatabase?

    /// Returns the zones with these names, deleted ones included; nil asks for
    /// all living zones, by name.
    func zones(_ names: Set<String>?, in database: DatabaseID) throws -> [StoredZone]

    /// Returns zones whose position is after `position`, oldest change first,
    /// deleted ones included.
    func zoneChanges(
        in database: DatabaseID,
        after position: Position,
        limit: Int
    ) throws -> [StoredZone]

    /// How many zones of a database live.
    func livingZoneCount(in database: DatabaseID) throws -> Int

    /// Returns the containers that have databases, at most `limit`.
    func containers(limit: Int) throws -> [ContainerKey]

    /// Returns the databases of a container, of all scopes and owners, by ID; those after `last`,
    /// at most `limit`.
    func databases(
        of container: ContainerKey, after last: DatabaseID?, limit: Int
    ) throws -> [DatabaseID]
}

/// Databases and zones come into being, change and go.
package protocol ZoneWriting: ZoneReading {
    /// Returns the database, created (with its default zone, for public and
    /// private ones) if this is its first use.
    func makeDatabase(_ key: DatabaseKey) throws -> StoredDatabase

    /// Takes the next `count` positions in the database's history and returns the
    /// first of them, which is not below the milliseconds since 1970 of `now`.
    ///
    /// So a store that comes back from an older moment gives none a second time, as
    /// long as a database has fewer changes than milliseconds. A clock that goes back
    /// does no harm: positions still grow.
    ///
    /// - Parameter change: What the database takes more by what is done there; it is to
    ///   be stored for the zone as well, see ``touchZone``.
    func advance(
        _ database: DatabaseID, by count: Int, at now: Instant, adding change: StorageUse
    ) throws -> Position

    /// Creates zones that do not live, each at its own position, and returns
    /// them with their new keys; traces of deleted zones with the same names go.
    func createZones(
        _ zones: [(name: String, position: Position)],
        in database: DatabaseID
    ) throws -> [StoredZone]

    /// Deletes zones with all their records and references, leaving a trace at
    /// `position` each; `now` gives the traces their age for ``removeTombstones``.
    ///
    /// Nothing of them is found from now on, and their database takes less by what they
    /// took. What cannot be removed in a short time is removed later, by
    /// ``removeDeletedZones(limit:at:)``.
    func deleteZones(
        _ zones: [(key: ZoneKey, position: Position)],
        reason: ZoneDeletionReason,
        at now: Instant
    ) throws

    /// Marks a zone as changed at `position`; a client change token replaces the
    /// one before unless nil. The zone takes `change` more; its database is changed by
    /// ``advance``.
    func touchZone(
        _ zone: ZoneKey, position: Position, clientChangeToken: [UInt8]?, adding change: StorageUse
    ) throws

    /// Lets all tokens of a database expire that are from before a position (ENV-9).
    func expireTokens(of database: DatabaseID, before position: Position) throws

    /// Removes rows that deleted zones have left, at most about `limit`; returns how many
    /// went, less than `limit` when none are left.
    func removeDeletedZones(limit: Int, at now: Instant) throws -> Int
}

extension ZoneWriting {
    /// Takes the next `count` positions in the database's history; it takes what it took.
    package func advance(
        _ database: DatabaseID, by count: Int, at now: Instant
    ) throws -> Position {
        try advance(database, by: count, at: now, adding: .zero)
    }

    /// Marks a zone as changed at `position`; it takes what it took.
    package func touchZone(
        _ zone: ZoneKey, position: Position, clientChangeToken: [UInt8]?
    ) throws {
        try touchZone(
            zone, position: position, clientChangeToken: clientChangeToken, adding: .zero)
    }
}
