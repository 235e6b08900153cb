// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL

/// What older versions of the store had otherwise, as SQL that brings it to the present: the
/// walk through the tables is in `Schema+Migration.swift`.
extension Schema {
    /// The values of columns that older versions did not have, by table and
    /// column, as SQL over the old row.
    static let additions: [String: [String: String]] = [
        "record": ["checksum": "\(FieldChecksum.functionName)(fields)", "size": recordSize],
        "outbox": ["ends_zone": "event LIKE '{\"zoneDeleted\"%'"],
        "device": ["seen_at": "registered_at"],
        "push_token": ["registered_at": "0"],
        // Which tokens followed one another is not known, so each is a session.
        "web_token": ["session": "lower(hex(substr(hash, 1, 8)))"],
        // A native token starts at the head of the log, as a new one does.
        "push_token_device": [
            "delivered": """
            (SELECT (SELECT ifnull(max(sequence), 0) FROM notification) FROM push_token
            WHERE push_token.token = old_push_token_device.token AND courier IS NULL)
            """,
            // Couriers used to share the position of their device, and go on from there.
            "given_out": """
            (SELECT device.acknowledged FROM push_token CROSS JOIN device
            WHERE push_token.token = old_push_token_device.token AND courier IS NOT NULL
                AND device.key = old_push_token_device.device)
            """,
        ],
    ]

    /// What columns of stores before version 3 held and may hold no more, as above: stamps
    /// got the client IDs of devices.
    static let replacements: [String: [String: String]] = [
        "record": ["created_device": "''", "modified_device": "''"]
    ]

    /// Before version 3 any save could make a field encrypted that was stored plain, after
    /// which plain saves are refused: what is stored plain somewhere is plain (REC-11).
    static let plainFields = """
        UPDATE field_type SET encrypted = 0
        WHERE encrypted = 1 AND EXISTS (
            SELECT 1 FROM database
            JOIN zone ON zone.database = database.id
            JOIN record ON record.zone = zone.key AND record.type = field_type.record_type
                AND record.deleted = 0
            JOIN json_each(CAST(record.fields AS TEXT)) AS stored
            WHERE database.container = field_type.container
                AND database.environment = field_type.environment
                AND stored.key = field_type.field
                AND json_extract(stored.value, '$.isEncrypted') IS NULL
        )
        """

    /// Before version 4 it was not written down how a web token was made: those that are
    /// renewed were given to devices, and those of half an hour to web pages.
    static let tokenOrigins = """
        UPDATE web_token SET origin = CASE lifetime WHEN 1800000 THEN 'page' ELSE 'device' END
        WHERE lifetime IS NOT NULL
        """

    /// Before version 4 a removed account left its users and no name.
    static let removedAccounts = """
        INSERT OR IGNORE INTO removed_account (account, removed_at)
        SELECT DISTINCT account, 0 FROM user WHERE account NOT IN (SELECT id FROM account)
        """

    /// Before version 4 the sizes of all users' answers were counted together.
    static let keptAnswerSizes = """
        INSERT OR REPLACE INTO kept_answer_size (user, bytes)
        SELECT user, sum(length(body) + \(KeptAnswer.rowSize)) FROM kept_answer GROUP BY user
        """

    /// Before version 4 encrypted fields were stored in clear text: their records are noted,
    /// to be sealed while the server runs. What was kept of pending changes, and of
    /// answers, goes within a day.
    static let unsealedRecords = """
        INSERT INTO unsealed_record (zone, name)
        SELECT zone, name FROM record
        WHERE deleted = 0 AND instr(fields, CAST('"isEncrypted":true' AS BLOB)) > 0
        """

    /// Before version 5 files that were given up were not noted: those that records hold and
    /// that are not there.
    static let lostAssets = """
        INSERT INTO lost_asset (content)
        SELECT DISTINCT content FROM asset_use WHERE content NOT IN (SELECT content FROM asset)
        """

    /// What a record takes (``StorageUse``); `asset` has been taken over before.
    static let recordSize = """
        CASE deleted WHEN 1 THEN 0 ELSE \(StoredRecord.overhead)
            + length(CAST(name AS BLOB)) + length(CAST(type AS BLOB)) + length(fields)
            + (SELECT ifnull(sum(asset.size), 0)
                FROM asset_use JOIN asset ON asset.content = asset_use.content
                WHERE asset_use.zone = old_record.zone AND asset_use.record = old_record.name)
        END
        """

    /// What zones and databases take, counted once.
    static let uses = """
        UPDATE zone SET
            bytes = (SELECT ifnull(sum(size), 0) FROM record WHERE record.zone = zone.key),
            records = (SELECT count(*) FROM record WHERE record.zone = zone.key AND size > 0);
        UPDATE database SET
            bytes = (SELECT ifnull(sum(bytes), 0) FROM zone WHERE zone.database = database.id),
            records = (SELECT ifnull(sum(records), 0) FROM zone
                WHERE zone.database = database.id);
        """
}
