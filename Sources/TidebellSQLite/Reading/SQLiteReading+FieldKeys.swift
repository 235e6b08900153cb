// SPDX-License-Identifier: Apache-2.0
import TidebellCore

extension SQLiteReading {
    package func rootKeyID() throws -> String? {
        try connection.first("SELECT root_key FROM store") { $0.optionalText(0) } ?? nil
    }

    package func zonesWithoutFieldKey(
        wrappedBy rootKeyID: String, limit: Int
    ) throws -> [StoredZone] {
        try connection.rows(
            """
            SELECT \(StoredZone.columns) FROM zone
            LEFT JOIN zone_key ON zone_key.zone = zone.key
            WHERE zone.sealed = 1 AND zone.deletion IS NULL AND zone_key.root_key IS NOT ?
            ORDER BY zone.key LIMIT ?
            """,
            rootKeyID, limit, read: StoredZone.init
        )
    }

    package func unsealedRecords(
        limit: Int
    ) throws -> (zone: StoredZone, names: Set<String>)? {
        let zone = try connection.first(
            """
            SELECT \(StoredZone.columns) FROM unsealed_record
            JOIN zone ON zone.key = unsealed_record.zone LIMIT 1
            """,
            read: StoredZone.init
        )
        guard let zone else { return nil }
        let names = try connection.rows(
            "SELECT name FROM unsealed_record WHERE zone = ? LIMIT ?", zone.key, limit
        ) { $0.text(0) }
        return (zone, Set(names))
    }
}
