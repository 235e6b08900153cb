// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func sharedZoneChanges(
        in database: DatabaseID, after position: Position, limit: Int
    ) throws -> [StoredSharedZone] {
        try connection.rows(
            StoredSharedZone.changes, database, position, limit, read: StoredSharedZone.init)
    }

    package func sharedZone(
        _ id: GrantedZoneID, in database: DatabaseID
    ) throws -> StoredSharedZone? {
        try connection.first(
            StoredSharedZone.named, database, id.owner, id.zone, read: StoredSharedZone.init)
    }
}

extension StoredSharedZone {
    private static let columns = """
        SELECT owner, name, zone, position, source, deletion, deleted_at FROM shared_zone
        """
    fileprivate static let changes =
        "\(columns) WHERE database = ? AND position > ? ORDER BY position LIMIT ?"
    fileprivate static let named = "\(columns) WHERE database = ? AND owner = ? AND name = ?"

    fileprivate init(_ columns: Columns) throws {
        self.init(
            owner: columns.text(0), name: columns.text(1), zone: try columns.value(2),
            position: try columns.value(3), source: try columns.value(4),
            deletion: columns.isNull(5) ? nil : try columns.value(5),
            deletedAt: try columns.optional(6)
        )
    }
}
