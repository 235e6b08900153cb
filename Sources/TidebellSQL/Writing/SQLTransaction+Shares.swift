// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLTransaction {
    package func putShares(_ shares: [StoredShare], in zone: ZoneKey) throws {
        for share in shares {
            try connection.run(
                """
                INSERT INTO share (zone, name, root, short_guid, public_permission, participants,
                    access_requests, began)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ifnull((
                    SELECT position + 1 FROM ended_hierarchy WHERE zone = ?1 AND share = ?2
                ), 0))
                ON CONFLICT (zone, name) DO UPDATE SET root = excluded.root,
                    short_guid = excluded.short_guid,
                    public_permission = excluded.public_permission,
                    participants = excluded.participants,
                    access_requests = excluded.access_requests
                """,
                zone, share.name, share.root ?? "", share.shortGUID, share.publicPermission,
                JSONText(bytes: share.encodedParticipants), share.allowsAccessRequests
            )
            try putOutsiders(share.outsiders, of: share.name, in: zone)
            try connection.run(
                "UPDATE zone SET sharing = ? WHERE key = ?",
                share.root == nil ? ZoneSharing.zoneWide : .hierarchies, zone
            )
        }
    }

    /// Makes those who are given the outsiders of a share, and nobody else.
    private func putOutsiders(
        _ outsiders: [StoredOutsider], of share: String, in zone: ZoneKey
    ) throws {
        let rows = SQLList(outsiders)
        try connection.run(
            """
            DELETE FROM share_outsider WHERE zone = ?1 AND share = ?2
                AND user NOT IN (SELECT wanted.value ->> 0 FROM json_each(?3) AS wanted)
            """,
            zone, share, rows
        )
        guard !outsiders.isEmpty else { return }
        try connection.run(
            """
            INSERT INTO share_outsider (zone, share, user, outsider)
            SELECT ?1, ?2, wanted.value ->> 0, wanted.value ->> 1
            FROM json_each(?3) AS wanted WHERE true
            ON CONFLICT (zone, share, user) DO UPDATE SET outsider = excluded.outsider
            """,
            zone, share, rows
        )
    }

    package func removeShares(_ names: Set<String>, in zone: ZoneKey) throws {
        for name in names {
            try connection.run("DELETE FROM share WHERE zone = ? AND name = ?", zone, name)
            try connection.run(
                "DELETE FROM share_outsider WHERE zone = ? AND share = ?", zone, name)
            try removeHierarchySoon(of: name, in: zone)
        }
        try connection.run(
            """
            UPDATE zone SET sharing = ?1
            WHERE key = ?2 AND NOT EXISTS (SELECT 1 FROM share WHERE share.zone = ?2)
            """,
            ZoneSharing.none, zone
        )
    }

    package func putGrants(_ grants: [ShareGrant]) throws {
        for grant in grants {
            try connection.run(
                """
                INSERT INTO share_grant (zone, user, share, root, permission, administrator,
                    position, ended)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (zone, user, share) DO UPDATE SET root = excluded.root,
                    permission = excluded.permission, administrator = excluded.administrator,
                    position = excluded.position, ended = excluded.ended
                """,
                grant.zone, grant.user, grant.share, grant.root ?? "", grant.permission,
                grant.isAdministrator, grant.position, grant.hasEnded
            )
        }
    }

    package func putSharedRecords(_ records: [SharedRecord], in zone: ZoneKey) throws {
        for record in records {
            try connection.run(
                """
                INSERT INTO shared_record (zone, name, share, position, left_at, entry, above)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (zone, name, share) DO UPDATE SET position = excluded.position,
                    left_at = excluded.left_at, entry = excluded.entry, above = excluded.above
                """,
                zone, record.name, record.share, record.position, record.leftAt, record.entry,
                record.above
            )
            guard let hidden = record.hiddenBefore else { continue }
            try connection.run(
                """
                INSERT INTO earlier_departure (zone, name, share, since) VALUES (?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                """,
                zone, record.name, record.share, hidden
            )
        }
    }

    package func putSharedZone(_ zone: StoredSharedZone, in database: DatabaseID) throws {
        try connection.run(
            """
            INSERT INTO shared_zone (database, owner, name, zone, position, source, deletion,
                deleted_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (database, owner, name) DO UPDATE SET zone = excluded.zone,
                position = excluded.position, source = excluded.source,
                deletion = excluded.deletion, deleted_at = excluded.deleted_at
            """,
            database, zone.owner, zone.name, zone.zone, zone.position, zone.source, zone.deletion,
            zone.deletedAt
        )
    }
}

extension SQLList {
    /// A list of pairs of user and what is known of them.
    fileprivate init(_ outsiders: [StoredOutsider]) {
        self.init(columns: [
            .numbers(outsiders.map(\.user.rawValue)),
            .texts(outsiders.map { String(decoding: $0.encoded, as: UTF8.self) }),
        ])
    }
}
