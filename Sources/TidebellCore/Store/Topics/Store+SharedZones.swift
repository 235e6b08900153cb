// SPDX-License-Identifier: Apache-2.0

/// The zones of shared databases, as their histories have them.
package protocol SharedZoneReading {
    /// Returns zones of a shared database whose position is after `position`, oldest change
    /// first, traces included.
    func sharedZoneChanges(
        in database: DatabaseID, after position: Position, limit: Int
    ) throws -> [StoredSharedZone]

    /// Returns what a shared database has of a zone, a trace included.
    func sharedZone(_ id: GrantedZoneID, in database: DatabaseID) throws -> StoredSharedZone?
}

/// Zones of shared databases come, change and go.
package protocol SharedZoneWriting: SharedZoneReading {
    /// Inserts a zone, replacing what stands under its owner and name.
    func putSharedZone(_ zone: StoredSharedZone, in database: DatabaseID) throws
}
