// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteTransaction {
    func putShares(_ shares: [StoredShare], in zone: ZoneKey) throws {
        for share in shares {
            try connection.run(
                """
                INSERT INTO share (zone, name, root, short_guid, public_permission, participants)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (zone, name) DO UPDATE SET root = excluded.root,
                    short_guid = excluded.short_guid,
                    public_permission = excluded.public_permission,
                    participants = excluded.participants
                """,
                zone, share.name, share.root ?? "", share.shortGUID, share.publicPermission,
                JSONText(bytes: share.encodedParticipants)
            )
            try connection.run(
                "UPDATE zone SET sharing = ? WHERE key = ?",
                share.root == nil ? ZoneSharing.zoneWide : .hierarchies, zone
            )
        }
    }

    func removeShares(_ names: Set<String>, in zone: ZoneKey) throws {
        for name in names {
            try connection.run("DELETE FROM share WHERE zone = ? AND name = ?", zone, name)
            try connection.run(
                """
                DELETE FROM shared_record INDEXED BY shared_record_history
                WHERE zone = ? AND share = ?
                """,
                zone, name
            )
        }
        try connection.run(
            """
            UPDATE zone SET sharing = ?1
            WHERE key = ?2 AND NOT EXISTS (SELECT 1 FROM share WHERE share.zone = ?2)
            """,
            ZoneSharing.none, zone
        )
    }

    func putGrants(_ grants: [ShareGrant]) throws {
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

    func putSharedRecords(_ records: [SharedRecord], in zone: ZoneKey) throws {
        for record in records {
            try connection.run(
                """
                INSERT INTO shared_record (zone, name, share, position, left_at)
                VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (zone, name, share) DO UPDATE SET position = excluded.position,
                    left_at = excluded.left_at
                """,
                zone, record.name, record.share, record.position, record.leftAt
            )
        }
    }

    func putSharedZone(_ zone: StoredSharedZone, in database: DatabaseID) throws {
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
