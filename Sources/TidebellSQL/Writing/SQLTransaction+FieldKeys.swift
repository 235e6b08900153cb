// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLTransaction {
    package func putFieldKey(
        _ key: WrappedKey, wrappedBy rootKeyID: String, of zone: ZoneKey
    ) throws {
        try connection.run(
            """
            INSERT INTO zone_key (zone, wrapped, root_key) VALUES (?, ?, ?)
            ON CONFLICT (zone) DO UPDATE SET
                wrapped = excluded.wrapped, root_key = excluded.root_key
            """,
            zone, key.bytes, rootKeyID
        )
        try connection.run("UPDATE zone SET sealed = 1 WHERE key = ?", zone)
    }

    package func adoptRootKey(_ id: String) throws {
        hasQuietChange = true
        let next = try nextRootKeyID()
        if let known = try rootKeyID(), known != id || next != nil {
            // What records go on holding, so that a check takes it for no damage.
            try connection.run(
                """
                INSERT OR IGNORE INTO lost_asset (content) SELECT content FROM asset
                WHERE key IS NOT NULL AND ifnull(root_key, ?) <> ?
                    AND content IN (SELECT content FROM asset_use)
                """,
                known, id
            )
            try connection.run(
                "DELETE FROM asset WHERE key IS NOT NULL AND ifnull(root_key, ?) <> ?", known, id
            )
        }
        try connection.run("UPDATE store SET root_key = ?, next_root_key = NULL", id)
    }

    package func putSealed(_ records: [StoredRecord], in zone: ZoneKey) throws {
        for record in records {
            try connection.run(
                """
                UPDATE record SET fields = ?, checksum = ?
                WHERE zone = ? AND position = ? AND name = ?
                """,
                record.fields.json, FieldChecksum.of(record), zone, record.position, record.name
            )
        }
    }

    package func removeUnsealed(_ names: Set<String>, in zone: ZoneKey) throws {
        for name in names {
            try connection.run(
                "DELETE FROM unsealed_record WHERE zone = ? AND name = ?", zone, name
            )
        }
    }

    /// Forgets the key of a zone that goes.
    package func removeFieldKey(of zone: ZoneKey) throws {
        try connection.run("DELETE FROM zone_key WHERE zone = ?", zone)
        try connection.run("DELETE FROM unsealed_record WHERE zone = ?", zone)
    }
}
