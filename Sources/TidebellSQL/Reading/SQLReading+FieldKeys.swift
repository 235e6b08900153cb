// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLReading {
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

    package func lossWithout(_ rootKeyID: String) throws -> KeyLoss {
        let lost = """
            SELECT zone.key AS key, zone.records AS records FROM zone
            LEFT JOIN zone_key ON zone_key.zone = zone.key
            WHERE zone.sealed = 1 AND zone.deletion IS NULL AND zone_key.root_key IS NOT ?
            """
        let zones = try connection.first(
            "SELECT count(*), ifnull(sum(records), 0) FROM (\(lost)) AS lost", rootKeyID
        ) { KeyLoss(zones: Int($0.int(0)), records: Int($0.int(1))) }
        var loss = zones ?? KeyLoss()
        // The files of another root key go with it, and nobody's files by and by.
        let known = try self.rootKeyID()
        let files = try connection.first(
            """
            WITH lost AS (\(lost))
            SELECT count(*) FROM asset
            WHERE (? IS NOT NULL AND asset.key IS NOT NULL AND ifnull(asset.root_key, ?) <> ?)
                OR EXISTS (SELECT 1 FROM asset_use
                    WHERE asset_use.content = asset.content
                        AND asset_use.zone IN (SELECT key FROM lost))
                AND NOT EXISTS (SELECT 1 FROM asset_use
                    WHERE asset_use.content = asset.content
                        AND asset_use.zone NOT IN (SELECT key FROM lost))
            """,
            rootKeyID, known, known, rootKeyID
        ) { Int($0.int(0)) }
        loss.files = files ?? 0
        return loss
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
