// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL

/// One thing that holds in every store, as the SQL that finds where it does not: rows of
/// zone key, record name and detail, each of which may be NULL.
struct StoreRule {
    var problem: String
    var severity = StoreProblem.Severity.damage
    /// The message instead where pages are damaged, which may be why: no advice then to
    /// remove anything.
    var problemAmongDamage: String?
    /// The first version that has what the rule looks at.
    var sinceVersion = Schema.frozenVersion
    let sql: String

    /// All rules; what is no damage comes last, so that it leaves room for what is.
    static let all = zones + records + sharing + assets + push + remains

    private static let zones = [
        StoreRule(
            problem: "the zone belongs to no database",
            sql: "SELECT key, NULL, name FROM zone WHERE database NOT IN (SELECT id FROM database)"
        ),
        StoreRule(
            problem: "the zone's position is ahead of its database",
            sql: """
                SELECT zone.key, NULL, zone.position || ' after ' || database.head
                FROM zone JOIN database ON database.id = zone.database
                WHERE zone.position > database.head OR zone.position < 0
                """
        ),
        // Of a person who is being erased, rows go without being counted.
        StoreRule(
            problem: "the zone's records do not take what is counted",
            sql: """
                SELECT zone.key, NULL,
                    zone.bytes || ' bytes counted, ' || \(StoreNumbers.sum("record.size")) || ' there'
                FROM zone JOIN database ON database.id = zone.database
                    LEFT JOIN record ON record.zone = zone.key
                WHERE zone.deletion IS NULL AND database.owner NOT IN (\(removedUsers))
                GROUP BY zone.key
                HAVING zone.bytes <> \(StoreNumbers.sum("record.size"))
                    OR zone.records <> count(CASE WHEN record.size > 0 THEN 1 END)
                """
        ),
        StoreRule(
            problem: "the database's zones do not take what is counted",
            sql: """
                SELECT NULL, NULL, database.id
                FROM database LEFT JOIN zone ON zone.database = database.id
                WHERE database.owner NOT IN (\(removedUsers))
                GROUP BY database.id
                HAVING database.bytes <> \(StoreNumbers.sum("zone.bytes"))
                    OR database.records <> \(StoreNumbers.sum("zone.records"))
                """
        ),
        StoreRule(
            problem: "the database does not have as many zones as are counted",
            sinceVersion: Schema.frozenVersion + 6,
            sql: """
                SELECT NULL, NULL, database.id
                FROM database
                WHERE database.owner NOT IN (\(removedUsers)) AND database.zones IS NOT NULL
                    AND database.zones <> (\(StoredZone.customCount))
                """
        ),
        StoreRule(
            problem: "the subscription belongs to no database",
            sql: """
                SELECT NULL, NULL, subscription_id FROM subscription
                WHERE database NOT IN (SELECT id FROM database)
                """
        ),
    ]

    static let removedUsers =
        "SELECT id FROM user WHERE account IN (SELECT account FROM removed_account)"

    /// Zones whose rows go step by step, of some tables sooner than of others: what was
    /// deleted, and what is erased.
    static let endingZones = """
        SELECT zone FROM removed_zone UNION ALL
        SELECT zone.key FROM zone JOIN database ON database.id = zone.database
        WHERE database.owner IN (\(removedUsers))
        """

    private static let records = [
        StoreRule(
            problem: "records belong to a zone that is gone",
            sql: """
                SELECT record.zone, min(record.name), count(*)
                FROM record LEFT JOIN zone ON zone.key = record.zone
                WHERE (zone.key IS NULL OR zone.deletion IS NOT NULL)
                    AND record.zone NOT IN (\(endingZones))
                GROUP BY record.zone
                """
        ),
        StoreRule(
            problem: "the record's position is ahead of its zone",
            sql: """
                SELECT record.zone, record.name, record.position || ' after ' || zone.position
                FROM record JOIN zone ON zone.key = record.zone
                WHERE record.position > zone.position OR record.position < 1
                """
        ),
        StoreRule(
            problem: "the record has the change tag of another one",
            sql: """
                SELECT max(record.zone), max(record.name), record.position
                FROM record JOIN zone ON zone.key = record.zone
                GROUP BY zone.database, record.position HAVING count(*) > 1
                """
        ),
        StoreRule(
            problem: "a reference goes out from a record that is not there",
            sql: """
                SELECT reference.zone, reference.source, 'to ' || reference.target
                FROM reference LEFT JOIN record ON record.zone = reference.zone
                    AND record.name = reference.source AND record.deleted = 0
                WHERE record.name IS NULL AND reference.zone NOT IN (\(endingZones))
                """
        ),
    ]

    private static let assets = [
        StoreRule(
            problem: "the record's file is not known",
            sql: """
                SELECT zone, record, content FROM asset_use
                WHERE content NOT IN (SELECT content FROM asset)
                    AND content NOT IN (SELECT content FROM lost_asset)
                    AND zone NOT IN (\(endingZones))
                """
        ),
        StoreRule(
            problem: "a file is kept for a record that is not there",
            sql: """
                SELECT asset_use.zone, asset_use.record, content
                FROM asset_use LEFT JOIN record ON record.zone = asset_use.zone
                    AND record.name = asset_use.record AND record.deleted = 0
                WHERE record.name IS NULL AND asset_use.zone NOT IN (\(endingZones))
                """
        ),
        StoreRule(
            problem: "a file is in no record and would never be removed",
            sql: """
                SELECT NULL, NULL, file FROM asset
                WHERE content NOT IN (SELECT content FROM asset_use)
                    AND content NOT IN (SELECT content FROM asset_unused)
                """
        ),
    ]

    private static let push = [
        StoreRule(
            problem: "the outbox entry belongs to no database",
            sql: "SELECT NULL, NULL, id FROM outbox WHERE database NOT IN (SELECT id FROM database)"
        ),
        StoreRule(
            problem: "more of the outbox is done than there ever was",
            sql: """
                SELECT database, NULL, done FROM outbox_queue WHERE done >
                    ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'outbox'), 0)
                """
        ),
        StoreRule(
            problem: "the database waits for the push pipeline, and is gone",
            sql: """
                SELECT database, NULL, done FROM outbox_queue
                WHERE database NOT IN (SELECT id FROM database)
                """
        ),
        StoreRule(
            problem: "a device's cursor is ahead of all notifications",
            sql: "SELECT NULL, NULL, key FROM device WHERE acknowledged > \(notificationHead)"
        ),
        StoreRule(
            problem: "a native push token's cursor is ahead of all notifications",
            sql: """
                SELECT NULL, NULL, count(*) FROM push_token_device
                WHERE delivered > \(notificationHead) HAVING count(*) > 0
                """
        ),
        StoreRule(
            problem: "a webhook's cursor is ahead of all notifications",
            sinceVersion: Schema.frozenVersion + 5,
            sql: """
                SELECT NULL, NULL, webhook FROM webhook_queue WHERE delivered > \(notificationHead)
                """
        ),
    ]

    private static let remains = [
        // An older version could save for a person within seconds of their erasure.
        StoreRule(
            problem: "the database belongs to a user who was erased; to erase it too, see "
                + "tidebell user list --removed",
            severity: .warning,
            problemAmongDamage: "the database's owner is not found, which damaged pages may hide: "
                + "remove nothing, restore a backup",
            sql: """
                SELECT NULL, NULL, database.id FROM database
                WHERE owner <> 0 AND owner NOT IN (SELECT id FROM user)
                """
        ),
        StoreRule(
            problem: "the record's file was given up with the root key that opened it; save the "
                + "record with another file, or delete it",
            severity: .warning,
            sql: """
                SELECT zone, record, content FROM asset_use
                WHERE content IN (SELECT content FROM lost_asset)
                    AND content NOT IN (SELECT content FROM asset)
                    AND zone NOT IN (\(endingZones))
                """
        ),
    ]

    private static let notificationHead =
        "ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'notification'), 0)"
}
