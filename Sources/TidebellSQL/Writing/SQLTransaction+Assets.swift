// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLTransaction {
    package func putAwaitedUploads(_ uploads: [AwaitedUpload]) throws {
        for upload in uploads {
            let field = upload.field
            try connection.run(
                """
                INSERT INTO awaited_upload
                    (token_hash, container, environment, scope, owner, zone_name, record_name,
                    field_name, byte_limit, expires_at, user, session)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                upload.tokenHash, field.database.container.container,
                field.database.container.environment, field.database.scope,
                field.database.owner?.rawValue ?? StoredDatabase.noOwner, field.zoneName,
                field.recordName, field.fieldName, upload.byteLimit, upload.expiresAt,
                upload.user, upload.session
            )
        }
    }

    package func removeAwaitedUpload(tokenHash: [UInt8]) throws -> Bool {
        try connection.first(
            "DELETE FROM awaited_upload WHERE token_hash = ? RETURNING 1", tokenHash
        ) { _ in true } ?? false
    }

    package func removeAwaitedUploads(expiredBefore moment: Instant, limit: Int) throws -> Int {
        let expired = try connection.rows(
            "SELECT token_hash FROM awaited_upload WHERE expires_at < ? ORDER BY expires_at LIMIT ?",
            moment, limit
        ) { $0.bytes(0) }
        for hash in expired {
            try connection.run("DELETE FROM awaited_upload WHERE token_hash = ?", hash)
        }
        return expired.count
    }

    package func putAsset(_ asset: StoredAsset, at now: Instant) throws -> StoredAsset {
        try markUnused(asset.content, since: now)
        if let kept = try assets([asset.content])[asset.content] { return kept }
        try connection.run(
            "INSERT INTO asset (content, file, size, checksum, key) VALUES (?, ?, ?, ?, ?)",
            asset.content, asset.file, asset.size, asset.checksum, asset.key
        )
        try connection.run("DELETE FROM lost_asset WHERE content = ?", asset.content)
        return asset
    }

    package func replaceAsset(by asset: StoredAsset) throws {
        try connection.run(
            "UPDATE asset SET file = ?, size = ?, checksum = ?, key = ? WHERE content = ?",
            asset.file, asset.size, asset.checksum, asset.key, asset.content
        )
    }

    package func putAssetUses(
        _ uses: [String: Set<AssetContent>], in zone: ZoneKey, at now: Instant
    ) throws {
        let known = try assetUses(of: Set(uses.keys), in: zone)
        for (record, contents) in uses {
            let before = known[record] ?? []
            for content in before.subtracting(contents) {
                try connection.run(
                    "DELETE FROM asset_use WHERE zone = ? AND record = ? AND content = ?",
                    zone, record, content
                )
                try markUnused(content, since: now)
            }
            for content in contents.subtracting(before) {
                try connection.run(
                    "INSERT INTO asset_use (zone, record, content) VALUES (?, ?, ?)",
                    zone, record, content
                )
            }
        }
    }

    /// Which files records hold.
    private func assetUses(
        of records: Set<String>, in zone: ZoneKey
    ) throws -> [String: Set<AssetContent>] {
        var uses: [String: Set<AssetContent>] = [:]
        if let only = records.first, records.count == 1 {
            uses[only] = Set(
                try connection.rows(
                    "SELECT content FROM asset_use WHERE zone = ? AND record = ?", zone, only
                ) { columns -> AssetContent in try columns.value(0) })
            return uses
        }
        try connection.each(
            """
            SELECT asset_use.record, asset_use.content
            FROM json_each(?) AS wanted CROSS JOIN asset_use
            WHERE asset_use.zone = ? AND asset_use.record = \(SQLList.text("wanted.value"))
            """,
            SQLList(records), zone
        ) { columns in
            uses[columns.text(0), default: []].insert(try columns.value(1))
            return true
        }
        return uses
    }

    package func removeUnusedAssets(
        since moment: Instant, limit: Int
    ) throws -> (files: [String], isComplete: Bool) {
        let candidates = try unusedFiles(since: moment, limit: limit)
        // Whoever lets go of one last puts it here again.
        try forgetUnused(candidates)
        let unheld = candidates.subtracting(try heldFiles(among: candidates))
        return (try removeAssets(unheld), candidates.count < limit)
    }

    /// Forgets that files may be held by nobody.
    package func forgetUnused(_ contents: Set<AssetContent>) throws {
        try connection.run(
            """
            DELETE FROM asset_unused
            WHERE content IN (SELECT \(SQLList.text("wanted.value")) FROM json_each(?) AS wanted)
            """,
            SQLList(contents.map(\.rawValue)))
    }

    /// Removes files that nobody holds; returns what they are called.
    package func removeAssets(_ contents: Set<AssetContent>) throws -> [String] {
        let which =
            "content IN (SELECT \(SQLList.text("wanted.value")) FROM json_each(?) AS wanted)"
        let list = SQLList(contents.map(\.rawValue))
        try connection.run("DELETE FROM lost_asset WHERE \(which)", list)
        return try connection.rows("DELETE FROM asset WHERE \(which) RETURNING file", list) {
            $0.text(0)
        }
    }

    /// Notes that a file may be held by nobody.
    package func markUnused(_ content: AssetContent, since now: Instant) throws {
        try connection.run(
            """
            INSERT INTO asset_unused (content, since) VALUES (?, ?)
            ON CONFLICT (content) DO UPDATE SET since = max(asset_unused.since, excluded.since)
            """,
            content, now
        )
    }
}
