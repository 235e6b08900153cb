// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func assets(
        _ contents: Set<AssetContent>
    ) throws -> [AssetContent: StoredAsset] {
        var found: [AssetContent: StoredAsset] = [:]
        try connection.each(
            """
            SELECT asset.content, asset.file, asset.size, asset.checksum, asset.key
            FROM json_each(?) AS wanted CROSS JOIN asset ON asset.content = \(SQLList.text("wanted.value"))
            """,
            SQLList(Set(contents.map(\.rawValue)))
        ) { columns in
            let size = columns.int(2)
            guard StoredAsset.sizes.contains(size) else {
                throw connection.damage(
                    "the store holds \(size) as a file's size")
            }
            let asset = StoredAsset(
                content: try columns.value(0), file: columns.text(1), size: size,
                checksum: columns.text(3), key: columns.optionalBytes(4)
            )
            found[asset.content] = asset
            return true
        }
        return found
    }

    /// Files that may be held by nobody since before a moment, the oldest first, and at most so many.
    package func unusedFiles(since moment: Instant, limit: Int) throws -> Set<AssetContent> {
        Set(
            try connection.rows(
                "SELECT content FROM asset_unused WHERE since < ? ORDER BY since LIMIT ?",
                moment, limit
            ) { try $0.value(0) })
    }

    /// Those of some files that records hold.
    package func heldFiles(among contents: Set<AssetContent>) throws -> Set<AssetContent> {
        guard !contents.isEmpty else { return [] }
        return Set(
            try connection.rows(
                """
                SELECT wanted.value FROM json_each(?) AS wanted WHERE EXISTS (
                    SELECT 1 FROM asset_use WHERE content = \(SQLList.text("wanted.value"))
                )
                """,
                SQLList(Set(contents.map(\.rawValue)))
            ) { try $0.value(0) })
    }

    package func knownAssetFiles(among files: Set<String>) throws -> Set<String> {
        Set(
            try connection.rows(
                """
                SELECT asset.file
                FROM json_each(?) AS wanted CROSS JOIN asset ON asset.file = \(SQLList.text("wanted.value"))
                """,
                SQLList(files)
            ) { $0.text(0) }
        )
    }

    package func awaitedUpload(tokenHash: [UInt8]) throws -> AwaitedUpload? {
        try connection.first(
            """
            SELECT container, environment, scope, owner, zone_name, record_name, field_name,
                byte_limit, expires_at, user, session
            FROM awaited_upload WHERE token_hash = ?
            """,
            tokenHash
        ) { columns in
            let owner = columns.int(3)
            return AwaitedUpload(
                tokenHash: tokenHash,
                user: columns.isNull(9) ? nil : try columns.value(9),
                session: columns.optionalText(10).map(SessionID.init(rawValue:)),
                field: AssetField(
                    database: DatabaseKey(
                        container: ContainerKey(
                            container: columns.text(0), environment: try columns.value(1)
                        ),
                        scope: try columns.value(2),
                        owner: owner == StoredDatabase.noOwner ? nil : UserID(rawValue: owner)
                    ),
                    zoneName: columns.text(4), recordName: columns.optionalText(5),
                    fieldName: columns.optionalText(6)
                ),
                byteLimit: columns.int(7),
                expiresAt: try columns.value(8)
            )
        }
    }

    package func awaitedUploadCount(of user: UserID, at now: Instant) throws -> Int {
        try connection.first(
            "SELECT count(*) FROM awaited_upload WHERE user = ? AND expires_at > ?", user, now
        ) { Int($0.int(0)) } ?? 0
    }
}
