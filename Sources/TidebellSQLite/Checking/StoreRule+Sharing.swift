// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// What holds of shares, of whom they let in, and of what is in their hierarchies.
extension StoreRule {
    static let sharing = shares + remainders + grants + hierarchies + sharedZones + addresses

    /// The first version with tables of shares.
    private static let sharingVersion = Schema.frozenVersion + 7

    /// Zones of which nothing is to be expected: rows of these go step by step.
    private static let isEnding = "zone IN (\(endingZones))"

    /// The first version in which hierarchies are settled step by step.
    private static let settlingVersion = Schema.frozenVersion + 11

    /// Zones in which hierarchies are still settled as well: until then a row need not be where its
    /// record is, and who reads asks whether it holds.
    private static let isSettling = """
        (\(isEnding) OR zone IN (SELECT key FROM zone WHERE unsettled = 1))
        """

    private static let shares = [
        StoreRule(
            problem: "the share has no record",
            sinceVersion: sharingVersion,
            sql: """
                SELECT share.zone, share.name, NULL
                FROM share LEFT JOIN record ON record.zone = share.zone
                    AND record.name = share.name AND record.deleted = 0
                    AND record.type = '\(ShareNames.recordType)'
                WHERE record.name IS NULL AND NOT share.\(isEnding)
                """
        ),
        StoreRule(
            problem: "the record is of a share that is not there",
            sinceVersion: sharingVersion,
            sql: """
                SELECT record.zone, record.name, NULL
                FROM record INDEXED BY record_type JOIN zone ON zone.key = record.zone
                    LEFT JOIN share ON share.zone = record.zone AND share.name = record.name
                WHERE record.type = '\(ShareNames.recordType)' AND record.deleted = 0
                    AND share.name IS NULL AND NOT record.\(isEnding)
                """
        ),
        StoreRule(
            problem: "the share's root is not there",
            sinceVersion: sharingVersion,
            sql: """
                SELECT share.zone, share.name, share.root
                FROM share LEFT JOIN record ON record.zone = share.zone
                    AND record.name = share.root AND record.deleted = 0
                WHERE share.root <> '' AND record.name IS NULL AND NOT share.\(isEnding)
                """
        ),
        StoreRule(
            problem: "the zone is shared as a whole, and so are records in it",
            sinceVersion: sharingVersion,
            sql: """
                SELECT zone, NULL, NULL FROM share GROUP BY zone
                HAVING min(root) = '' AND count(*) > 1
                """
        ),
        StoreRule(
            problem: "what the zone notes of its shares is not what they are",
            sinceVersion: sharingVersion,
            sql: """
                SELECT key, NULL, zone.sharing FROM zone
                WHERE deletion IS NULL AND key NOT IN (\(endingZones)) AND sharing <> ifnull(
                    (
                        SELECT CASE min(root) WHEN '' THEN \(ZoneSharing.zoneWide.rawValue)
                            ELSE \(ZoneSharing.hierarchies.rawValue) END
                        FROM share WHERE share.zone = zone.key HAVING count(*) > 0
                    ),
                    \(ZoneSharing.none.rawValue)
                )
                """
        ),
        StoreRule(
            problem: "the share's participants are damaged",
            sinceVersion: sharingVersion,
            sql: "SELECT zone, name, NULL FROM share WHERE NOT json_valid(participants)"
        ),
        StoreRule(
            problem: "the floor of the share is ahead of its zone",
            sinceVersion: Schema.frozenVersion + 9,
            sql: """
                SELECT share.zone, share.name, share.floor || ' after ' || zone.position
                FROM share JOIN zone ON zone.key = share.zone WHERE share.floor > zone.position
                """
        ),
    ]

    private static let remainders = ["share", "share_grant", "shared_record"].map { table in
        StoreRule(
            problem: "rows of '\(table)' belong to a zone that is gone",
            sinceVersion: sharingVersion,
            sql: """
                SELECT zone, NULL, count(*) FROM \(table)
                WHERE zone NOT IN (SELECT key FROM zone WHERE deletion IS NULL) AND NOT \(isEnding)
                GROUP BY zone
                """
        )
    }

    /// Who takes part in shares and accepted, by what the shares themselves have.
    private static let access = """
        SELECT share.zone, share.name AS share, share.root,
            entry.value ->> '$.user' AS user,
            entry.value ->> '$.participant.permission' AS permission,
            entry.value ->> '$.participant.type' = '\(ParticipantRole.administrator.rawValue)'
                AS administrator
        FROM share, json_each(
            CASE WHEN json_valid(share.participants) THEN share.participants ELSE '[]' END
        ) AS entry
        WHERE entry.value ->> '$.participant.acceptanceStatus'
                = '\(ParticipantAcceptance.accepted.rawValue)'
            AND entry.value ->> '$.participant.permission' <> '\(SharePermission.none.rawValue)'
            AND entry.value ->> '$.user' IS NOT NULL
        """
    private static let living = """
        SELECT zone, share, root, user, permission, administrator FROM share_grant WHERE ended = 0
        """

    private static let grants = [
        StoreRule(
            problem: "a user may do in the share what nobody let them",
            sinceVersion: sharingVersion,
            sql: """
                SELECT zone, share, 'user ' || user FROM (\(living) EXCEPT \(access))
                WHERE NOT \(isEnding)
                """
        ),
        StoreRule(
            problem: "a user may not do in the share what they were let",
            sinceVersion: sharingVersion,
            sql: """
                SELECT zone, share, 'user ' || user FROM (\(access) EXCEPT \(living))
                WHERE NOT \(isEnding)
                """
        ),
        StoreRule(
            problem: "a user takes part in the share who is not there",
            sinceVersion: sharingVersion,
            sql: """
                SELECT zone, share, 'user ' || user FROM share_grant
                WHERE user NOT IN (SELECT id FROM user) AND NOT \(isEnding)
                """
        ),
        StoreRule(
            problem: "a user takes part in the share later than its zone's newest position",
            sinceVersion: sharingVersion,
            sql: """
                SELECT share_grant.zone, share, share_grant.position || ' after ' || zone.position
                FROM share_grant JOIN zone ON zone.key = share_grant.zone
                WHERE share_grant.position > zone.position
                """
        ),
    ]

    /// Which records are in hierarchies, found from their roots down.
    private static let walked = """
        WITH RECURSIVE walked (zone, name, share) AS (
            SELECT zone, root, name FROM share WHERE root <> ''
            UNION
            SELECT walked.zone, record.name, walked.share
            FROM walked
                JOIN reference INDEXED BY reference_target ON reference.zone = walked.zone
                    AND reference.target = walked.name
                    AND reference.kind = \(StoredReference.Kind.parent.rawValue)
                JOIN record INDEXED BY record_name ON record.zone = walked.zone
                    AND record.name = reference.source AND record.deleted = 0
                    AND record.parent = walked.name
            WHERE record.name NOT IN (SELECT root FROM share WHERE share.zone = walked.zone)
        ),
        belonging AS (
            SELECT zone, name, share FROM walked
            UNION SELECT zone, name, name FROM share WHERE root <> ''
        ),
        kept AS (SELECT zone, name, share FROM shared_record WHERE left_at IS NULL)
        """

    private static let hierarchies = [
        StoreRule(
            problem: "the record is kept in the hierarchy of a share that it is not below",
            sinceVersion: settlingVersion,
            sql: """
                \(walked)
                SELECT zone, name, share FROM (
                    SELECT * FROM kept EXCEPT SELECT * FROM belonging
                ) WHERE NOT \(isSettling)
                """
        ),
        StoreRule(
            problem: "the record is not kept in the hierarchy of the share that it is below",
            sinceVersion: settlingVersion,
            sql: """
                \(walked)
                SELECT zone, name, share FROM (
                    SELECT * FROM belonging EXCEPT SELECT * FROM kept
                ) WHERE NOT \(isSettling)
                """
        ),
        StoreRule(
            problem: "the record's parent is not among its references",
            sinceVersion: sharingVersion,
            sql: """
                SELECT record.zone, record.name, record.parent
                FROM record JOIN zone ON zone.key = record.zone
                    LEFT JOIN reference ON reference.zone = record.zone
                        AND reference.source = record.name AND reference.target = record.parent
                        AND reference.kind = \(StoredReference.Kind.parent.rawValue)
                WHERE zone.sharing = \(ZoneSharing.hierarchies.rawValue) AND record.deleted = 0
                    AND record.parent IS NOT NULL AND reference.source IS NULL
                    AND NOT record.\(isEnding)
                """
        ),
        StoreRule(
            problem: "the history of a hierarchy has a record that is not there",
            sinceVersion: sharingVersion,
            sql: """
                SELECT shared_record.zone, shared_record.name, shared_record.share
                FROM shared_record LEFT JOIN record ON record.zone = shared_record.zone
                    AND record.name = shared_record.name
                WHERE (record.name IS NULL OR record.deleted = 1 AND left_at IS NULL)
                    AND NOT shared_record.\(isEnding)
                """
        ),
        StoreRule(
            problem: "the hierarchy's share has ended",
            sinceVersion: settlingVersion,
            sql: """
                SELECT shared_record.zone, shared_record.name, shared_record.share
                FROM shared_record LEFT JOIN share ON share.zone = shared_record.zone
                    AND share.name = shared_record.share AND share.root <> ''
                WHERE share.name IS NULL AND shared_record.zone NOT IN (
                    SELECT key FROM zone WHERE unsettled = 1 UNION ALL \(endingZones)
                )
                """
        ),
        StoreRule(
            problem: "the record's position in a hierarchy is ahead of its zone",
            sinceVersion: sharingVersion,
            sql: """
                SELECT shared_record.zone, shared_record.name,
                    shared_record.position || ' after ' || zone.position
                FROM shared_record JOIN zone ON zone.key = shared_record.zone
                WHERE shared_record.position > zone.position
                """
        ),
    ]

    /// Zones whose changes have not all crossed to the databases of participants, or cannot.
    private static let crossing = """
        SELECT zone.key FROM zone JOIN outbox ON outbox.database = zone.database
            LEFT JOIN outbox_queue ON outbox_queue.database = zone.database
        WHERE outbox.told_through < 0
            OR outbox_queue.database IS NOT NULL AND outbox.id > outbox_queue.done
        """
    /// The zones that are shared with users, with the databases that list them.
    private static let granted = """
        SELECT DISTINCT database.id AS database, owner.record_name AS owner, zone.name AS name,
            zone.key AS zone
        FROM share_grant JOIN zone ON zone.key = share_grant.zone AND zone.deletion IS NULL
            JOIN database AS home ON home.id = zone.database JOIN user AS owner ON owner.id = home.owner
            LEFT JOIN database ON database.owner = share_grant.user
                AND database.container = home.container
                AND database.environment = home.environment AND database.scope = 'shared'
        WHERE share_grant.ended = 0
        """
    private static let listed =
        "SELECT database, owner, name, zone FROM shared_zone WHERE deletion IS NULL"

    private static let sharedZones = [
        StoreRule(
            problem: "a shared database lists the zone, which is not shared with its owner",
            sinceVersion: sharingVersion,
            sql: """
                SELECT zone, NULL, 'database ' || database
                FROM (\(listed) EXCEPT \(granted))
                WHERE NOT \(isEnding) AND zone NOT IN (\(crossing))
                    AND database NOT IN (\(endingDatabases))
                """
        ),
        StoreRule(
            problem: "the zone is shared with a user whose shared database does not list it",
            sinceVersion: sharingVersion,
            sql: """
                SELECT zone, NULL, 'database ' || ifnull(database, '-')
                FROM (\(granted) EXCEPT \(listed))
                WHERE NOT \(isEnding) AND zone NOT IN (\(crossing))
                    AND (database IS NULL OR database NOT IN (\(endingDatabases)))
                """
        ),
        StoreRule(
            problem: "a zone is listed by no shared database",
            sinceVersion: sharingVersion,
            sql: """
                SELECT NULL, NULL, shared_zone.name
                FROM shared_zone LEFT JOIN database ON database.id = shared_zone.database
                    AND database.scope = 'shared'
                WHERE database.id IS NULL
                """
        ),
        StoreRule(
            problem: "the zone's position in a shared database is ahead of that",
            sinceVersion: sharingVersion,
            sql: """
                SELECT shared_zone.zone, NULL, shared_zone.position || ' after ' || database.head
                FROM shared_zone JOIN database ON database.id = shared_zone.database
                WHERE shared_zone.position > database.head
                """
        ),
        StoreRule(
            problem: "a shared database has a position of the zone that is ahead of it",
            sinceVersion: sharingVersion,
            sql: """
                SELECT shared_zone.zone, NULL, shared_zone.source || ' after ' || zone.position
                FROM shared_zone JOIN zone ON zone.key = shared_zone.zone AND zone.deletion IS NULL
                WHERE shared_zone.source > zone.position
                """
        ),
    ]

    /// Databases of users who are being erased.
    private static let endingDatabases =
        "SELECT id FROM database WHERE owner IN (\(removedUsers))"

    private static let addresses = [
        StoreRule(
            problem: "the address belongs to no account",
            sinceVersion: Schema.frozenVersion + 8,
            sql: """
                SELECT NULL, NULL, address FROM account_address
                WHERE account NOT IN (SELECT id FROM account)
                """
        )
    ]
}
