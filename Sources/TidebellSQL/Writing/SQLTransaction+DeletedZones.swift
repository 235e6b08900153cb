// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLTransaction {
    /// Rows of deleted zones that the transaction of the deletion removes itself: small
    /// zones go at once, and the others keep nobody waiting.
    package static let rowsRemovedAtOnce = 1000

    /// Removes what there is of a deleted zone, as far as that is not much, and notes the
    /// zone for ``removeDeletedZones(limit:at:)`` otherwise.
    package func removeRowsSoon(of zone: ZoneKey, at now: Instant) throws {
        let limit = Self.rowsRemovedAtOnce - removedZoneRows
        if limit > 0 {
            let count = try removeRows(of: zone, limit: limit, at: now)
            removedZoneRows += count
            if count < limit { return }
        }
        // A trace may go once more, for another reason.
        try connection.run("INSERT OR IGNORE INTO removed_zone (zone) VALUES (?)", zone)
    }

    package func removeDeletedZones(limit: Int, at now: Instant) throws -> Int {
        var count = 0
        while count < limit {
            let zone: ZoneKey? = try connection.first(
                "SELECT zone FROM removed_zone ORDER BY zone LIMIT 1"
            ) { try $0.value(0) }
            guard let zone else { break }
            let wanted = limit - count
            let removed = try removeRows(of: zone, limit: wanted, at: now)
            count += removed
            guard removed < wanted else { break }
            try connection.run("DELETE FROM removed_zone WHERE zone = ?", zone)
            count += 1
        }
        return count
    }

    /// Removes records, references and uses of files of a zone, at most `limit` together.
    private func removeRows(of zone: ZoneKey, limit: Int, at now: Instant) throws -> Int {
        var count = try removeAssetUses(of: zone, limit: limit, at: now)
        if count < limit { count += try removeFieldIndexes(of: zone, limit: limit - count) }
        if count < limit {
            count += try connection.rows(
                """
                DELETE FROM reference WHERE (zone, source, target, kind) IN (
                    SELECT zone, source, target, kind FROM reference WHERE zone = ? LIMIT ?
                ) RETURNING 1
                """,
                zone, limit - count
            ) { $0.int(0) }.count
        }
        if count < limit {
            count += try connection.rows(
                """
                DELETE FROM record WHERE zone = ?1 AND position IN (
                    SELECT position FROM record WHERE zone = ?1 ORDER BY position LIMIT ?2
                ) RETURNING 1
                """,
                zone, limit - count
            ) { $0.int(0) }.count
        }
        return count < limit ? try count + removeShareRows(of: zone, limit: limit - count) : count
    }

    /// Removes what a zone has of shares, at most `limit` rows; returns how many went.
    package func removeShareRows(of zone: ZoneKey, limit: Int) throws -> Int {
        var count = 0
        for table in Self.shareTables where count < limit {
            // A copy of an older version, from which a backup is made, has none or fewer.
            guard try connection.hasTable(table.name) else { continue }
            count += try connection.rows(
                """
                DELETE FROM \(table.name) WHERE zone = ?1 AND (\(table.key)) IN (
                    SELECT \(table.key) FROM \(table.name) WHERE zone = ?1 LIMIT ?2
                ) RETURNING 1
                """,
                zone, limit - count
            ) { $0.int(0) }.count
        }
        return count
    }

    /// What a zone has of shares, with what distinguishes its rows.
    private static let shareTables = [
        (name: "share", key: "name"), (name: "share_grant", key: "user, share"),
        (name: "share_outsider", key: "share, user"),
        (name: "shared_record", key: "name, share"), (name: "unsettled_record", key: "name"),
        (name: "ended_hierarchy", key: "share"),
        (name: "earlier_departure", key: "name, share, since"),
    ]

    /// Lets go of files that records of a zone hold.
    private func removeAssetUses(of zone: ZoneKey, limit: Int, at now: Instant) throws -> Int {
        let uses = try connection.rows(
            "SELECT record, content FROM asset_use WHERE zone = ? LIMIT ?", zone, limit
        ) { columns -> (record: String, content: AssetContent) in
            (columns.text(0), try columns.value(1))
        }
        for use in uses {
            try connection.run(
                "DELETE FROM asset_use WHERE zone = ? AND record = ? AND content = ?",
                zone, use.record, use.content
            )
            try markUnused(use.content, since: now)
        }
        return uses.count
    }
}
