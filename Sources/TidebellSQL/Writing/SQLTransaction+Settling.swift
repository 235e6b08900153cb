// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLTransaction {
    package func noteUnsettled(_ names: [String], in zone: ZoneKey) throws {
        for name in names {
            try connection.run(
                """
                INSERT INTO unsettled_record (zone, name, turn, last)
                SELECT ?1, ?2, 1 + ifnull((
                    SELECT max(turn) FROM unsettled_record INDEXED BY unsettled_record_turn
                    WHERE zone = ?1
                ), 0), ''
                WHERE EXISTS (
                    SELECT 1 FROM reference INDEXED BY reference_target
                    WHERE zone = ?1 AND target = ?2
                )
                ON CONFLICT (zone, name) DO UPDATE SET turn = excluded.turn, last = excluded.last
                """,
                zone, name
            )
        }
        try noteUnsettledZone(zone)
    }

    package func putUnsettled(_ record: UnsettledRecord, in zone: ZoneKey) throws {
        try connection.run(
            "UPDATE unsettled_record SET last = ? WHERE zone = ? AND name = ?",
            record.last, zone, record.name
        )
    }

    package func removeUnsettled(_ name: String, in zone: ZoneKey) throws {
        try connection.run("DELETE FROM unsettled_record WHERE zone = ? AND name = ?", zone, name)
    }

    package func removeEndedHierarchies(in zone: ZoneKey, limit: Int) throws -> Int {
        var count = 0
        while count < limit {
            let ended: (share: String, position: Position)? = try connection.first(
                "SELECT share, position FROM ended_hierarchy WHERE zone = ? ORDER BY share LIMIT 1",
                zone
            ) { ($0.text(0), try $0.value(1)) }
            guard let ended else { break }
            let wanted = limit - count
            let removed = try removeHierarchy(
                of: ended.share, upTo: ended.position, in: zone, limit: wanted)
            count += removed
            guard removed < wanted else { break }
            try connection.run(
                "DELETE FROM ended_hierarchy WHERE zone = ? AND share = ?", zone, ended.share)
        }
        return count
    }

    package func removeEarlierDepartures(in zone: ZoneKey, limit: Int) throws -> Int {
        try connection.rows(
            """
            DELETE FROM earlier_departure WHERE zone = ?1 AND (name, share, since) IN (
                SELECT name, share, since FROM earlier_departure WHERE zone = ?1 LIMIT ?2
            ) RETURNING 1
            """,
            zone, limit
        ) { $0.int(0) }.count
    }

    package func settleZone(_ zone: ZoneKey) throws -> Bool {
        try connection.run(
            """
            UPDATE zone SET unsettled = 0 WHERE key = ?1
                AND NOT EXISTS (SELECT 1 FROM unsettled_record WHERE zone = ?1)
                AND NOT EXISTS (SELECT 1 FROM ended_hierarchy WHERE zone = ?1)
                AND NOT EXISTS (SELECT 1 FROM earlier_departure WHERE zone = ?1)
            """,
            zone
        )
        return try connection.first("SELECT unsettled = 0 FROM zone WHERE key = ?", zone) {
            $0.bool(0)
        } ?? true
    }

    /// Removes what a hierarchy has whose share ends: what is much goes later.
    package func removeHierarchySoon(of share: String, in zone: ZoneKey) throws {
        let newest: Position? =
            try connection.first(
                """
                SELECT max(position) FROM shared_record INDEXED BY shared_record_history
                WHERE zone = ? AND share = ?
                """,
                zone, share
            ) { try $0.optional(0) } ?? nil
        guard let newest else { return }
        let limit = Self.rowsRemovedAtOnce
        let count = try removeHierarchy(of: share, upTo: newest, in: zone, limit: limit)
        guard count == limit else { return }
        try connection.run(
            """
            INSERT INTO ended_hierarchy (zone, share, position) VALUES (?, ?, ?)
            ON CONFLICT (zone, share) DO UPDATE SET position = excluded.position
            """,
            zone, share, newest
        )
        try noteUnsettledZone(zone)
    }

    private func removeHierarchy(
        of share: String, upTo position: Position, in zone: ZoneKey, limit: Int
    ) throws -> Int {
        try connection.rows(
            """
            DELETE FROM shared_record WHERE (zone, name, share) IN (
                SELECT zone, name, share FROM shared_record INDEXED BY shared_record_history
                WHERE zone = ? AND share = ? AND position <= ? LIMIT ?
            ) RETURNING 1
            """,
            zone, share, position, limit
        ) { $0.int(0) }.count
    }

    private func noteUnsettledZone(_ zone: ZoneKey) throws {
        try connection.run("UPDATE zone SET unsettled = 1 WHERE key = ? AND unsettled = 0", zone)
        hasUnsettled = true
    }
}
