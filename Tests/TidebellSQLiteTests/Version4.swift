// SPDX-License-Identifier: Apache-2.0

/// A store as it was when it first was called version 4: its tables changed some more under
/// that number.
enum Version4 {
    static let tables = """
        CREATE TABLE store (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            identity INTEGER NOT NULL,
            outbox_told INTEGER NOT NULL DEFAULT 0,
            notification_floor INTEGER NOT NULL DEFAULT 0,
            incarnation INTEGER NOT NULL DEFAULT 0,
            root_key TEXT,
            retention_moment INTEGER
        ) STRICT;

        CREATE TABLE field_type (
            container TEXT NOT NULL,
            environment TEXT NOT NULL,
            record_type TEXT NOT NULL,
            field TEXT NOT NULL,
            type TEXT NOT NULL,
            encrypted INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (container, environment, record_type, field)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE database (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            container TEXT NOT NULL,
            environment TEXT NOT NULL,
            scope TEXT NOT NULL,
            owner INTEGER NOT NULL,
            head INTEGER NOT NULL,
            floor INTEGER NOT NULL,
            subscription_kinds INTEGER NOT NULL,
            UNIQUE (owner, container, environment, scope)
        ) STRICT;

        CREATE TABLE zone (
            key INTEGER PRIMARY KEY AUTOINCREMENT,
            database INTEGER NOT NULL,
            name TEXT NOT NULL,
            position INTEGER NOT NULL,
            floor INTEGER NOT NULL,
            deletion TEXT,
            deleted_at INTEGER,
            client_change_token BLOB,
            sealed INTEGER NOT NULL DEFAULT 0,
            UNIQUE (database, name)
        ) STRICT;
        CREATE INDEX zone_changes ON zone (database, position);
        CREATE INDEX zone_traces ON zone (deleted_at) WHERE deletion IS NOT NULL;

        CREATE TABLE record (
            zone INTEGER NOT NULL,
            position INTEGER NOT NULL,
            name TEXT NOT NULL,
            type TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            created_by TEXT NOT NULL,
            created_device TEXT NOT NULL,
            modified_at INTEGER NOT NULL,
            modified_by TEXT NOT NULL,
            modified_device TEXT NOT NULL,
            parent TEXT,
            deleted INTEGER NOT NULL,
            fields BLOB NOT NULL,
            checksum INTEGER,
            PRIMARY KEY (zone, position)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX record_name ON record (zone, name);
        CREATE INDEX record_type ON record (zone, type, position) WHERE deleted = 0;
        CREATE INDEX record_tombstones ON record (modified_at) WHERE deleted = 1;

        CREATE TABLE reference (
            zone INTEGER NOT NULL,
            source TEXT NOT NULL,
            target TEXT NOT NULL,
            kind INTEGER NOT NULL,
            PRIMARY KEY (zone, source, target, kind)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX reference_target ON reference (zone, target);

        CREATE TABLE subscription (
            serial INTEGER PRIMARY KEY AUTOINCREMENT,
            database INTEGER NOT NULL,
            user INTEGER NOT NULL,
            subscription_id TEXT NOT NULL,
            kind TEXT NOT NULL,
            zone_name TEXT NOT NULL,
            record_type TEXT,
            term TEXT NOT NULL DEFAULT '',
            json TEXT NOT NULL,
            UNIQUE (database, user, subscription_id)
        ) STRICT;
        CREATE INDEX subscription_trigger
            ON subscription (database, kind, zone_name, record_type, term, serial);

        CREATE TABLE outbox (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            database INTEGER NOT NULL,
            zone_name TEXT NOT NULL,
            zone_owner TEXT NOT NULL,
            event TEXT NOT NULL,
            origin_user INTEGER,
            origin_client TEXT,
            committed_at INTEGER NOT NULL,
            told_through INTEGER NOT NULL DEFAULT 0,
            ends_zone INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX outbox_zone_end ON outbox (database, zone_name, id) WHERE ends_zone = 1;

        CREATE TABLE notification (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            user INTEGER NOT NULL,
            notification_id TEXT NOT NULL,
            database INTEGER NOT NULL,
            subscription_id TEXT NOT NULL,
            origin_client TEXT,
            payload BLOB NOT NULL,
            full_payload BLOB,
            background INTEGER NOT NULL,
            collapse_id TEXT,
            created_at INTEGER NOT NULL,
            read_place INTEGER,
            read_told INTEGER
        ) STRICT;
        CREATE INDEX notification_log ON notification (user, sequence, origin_client);
        CREATE INDEX notification_age ON notification (created_at);
        CREATE INDEX notification_collapse
            ON notification (user, database, subscription_id, collapse_id, origin_client)
            WHERE collapse_id IS NOT NULL;
        CREATE INDEX notification_read ON notification (user, read_place)
            WHERE read_place IS NOT NULL;

        CREATE TABLE badge (
            user INTEGER PRIMARY KEY,
            count INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE device (
            key INTEGER PRIMARY KEY AUTOINCREMENT,
            user INTEGER NOT NULL,
            container TEXT NOT NULL,
            environment TEXT NOT NULL,
            client_id TEXT NOT NULL,
            acknowledged INTEGER NOT NULL,
            registered_at INTEGER NOT NULL,
            seen_at INTEGER NOT NULL,
            UNIQUE (client_id, container, environment)
        ) STRICT;
        CREATE INDEX device_seen ON device (seen_at);
        CREATE INDEX device_user ON device (user);
        CREATE INDEX device_container ON device (container, environment, key);

        CREATE TABLE push_token (
            token TEXT NOT NULL PRIMARY KEY,
            apns_environment TEXT NOT NULL,
            courier TEXT UNIQUE,
            topic TEXT,
            registered_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE push_token_device (
            token TEXT NOT NULL,
            device INTEGER NOT NULL,
            delivered INTEGER,
            given_out INTEGER,
            PRIMARY KEY (token, device)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX push_token_device_device ON push_token_device (device);

        CREATE TABLE webhook (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            container TEXT NOT NULL,
            environment TEXT NOT NULL,
            url TEXT NOT NULL,
            secret BLOB NOT NULL,
            delivered INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            disabled_reason TEXT
        ) STRICT;

        CREATE TABLE account (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE,
            created_at INTEGER NOT NULL,
            password TEXT,
            disabled INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX account_disabled ON account (name) WHERE disabled = 1;

        CREATE TABLE web_token (
            hash BLOB NOT NULL PRIMARY KEY,
            account INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            lifetime INTEGER,
            renewed_at INTEGER,
            ends_at INTEGER,
            session TEXT NOT NULL,
            parent TEXT,
            origin TEXT NOT NULL DEFAULT 'operator',
            container TEXT,
            environment TEXT,
            created_at INTEGER NOT NULL DEFAULT 0,
            used_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX web_token_account ON web_token (account);
        CREATE INDEX web_token_expiry ON web_token (expires_at);
        CREATE INDEX web_token_page_expiry ON web_token (expires_at) WHERE origin = 'page';
        CREATE INDEX web_token_session ON web_token (session);
        CREATE INDEX web_token_parent ON web_token (parent) WHERE parent IS NOT NULL;

        CREATE TABLE api_token (
            hash BLOB NOT NULL PRIMARY KEY,
            name TEXT NOT NULL,
            container TEXT,
            environment TEXT,
            created_at INTEGER NOT NULL,
            expires_at INTEGER,
            used_at INTEGER
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE user (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account INTEGER NOT NULL,
            container TEXT NOT NULL,
            environment TEXT NOT NULL,
            record_name TEXT NOT NULL,
            joined_at INTEGER NOT NULL DEFAULT 0,
            UNIQUE (account, container, environment),
            UNIQUE (record_name, container, environment)
        ) STRICT;

        CREATE TABLE application_permission (
            user INTEGER NOT NULL,
            permission TEXT NOT NULL,
            status TEXT NOT NULL,
            PRIMARY KEY (user, permission)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE asset (
            content TEXT PRIMARY KEY,
            file TEXT NOT NULL UNIQUE,
            size INTEGER NOT NULL,
            checksum TEXT NOT NULL,
            key BLOB
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE asset_use (
            zone INTEGER NOT NULL,
            record TEXT NOT NULL,
            content TEXT NOT NULL,
            PRIMARY KEY (zone, record, content)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX asset_use_content ON asset_use (content);

        CREATE TABLE asset_unused (
            content TEXT PRIMARY KEY,
            since INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX asset_unused_since ON asset_unused (since);

        CREATE TABLE awaited_upload (
            token_hash BLOB PRIMARY KEY,
            container TEXT NOT NULL,
            environment TEXT NOT NULL,
            scope TEXT NOT NULL,
            owner INTEGER NOT NULL,
            zone_name TEXT NOT NULL,
            record_name TEXT,
            field_name TEXT,
            byte_limit INTEGER NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX awaited_upload_end ON awaited_upload (expires_at);

        CREATE TABLE told (
            number INTEGER PRIMARY KEY,
            change INTEGER NOT NULL,
            user INTEGER NOT NULL,
            subscription_id TEXT NOT NULL,
            record_name TEXT,
            notification_id TEXT NOT NULL,
            sequence INTEGER NOT NULL,
            merged INTEGER NOT NULL,
            collapse_id TEXT,
            background INTEGER NOT NULL,
            payload_size INTEGER NOT NULL,
            pruned TEXT,
            last INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX told_change ON told (change, user);

        CREATE TABLE delivery (
            number INTEGER PRIMARY KEY,
            user INTEGER NOT NULL,
            notification INTEGER NOT NULL,
            client_id TEXT,
            route TEXT NOT NULL,
            at INTEGER NOT NULL,
            answer TEXT NOT NULL
        ) STRICT;
        CREATE INDEX delivery_notification ON delivery (user, notification);

        CREATE TABLE admin_token (
            hash BLOB NOT NULL PRIMARY KEY,
            name TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER,
            used_at INTEGER
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE kept_answer (
            number INTEGER PRIMARY KEY,
            user INTEGER NOT NULL,
            client_id TEXT NOT NULL,
            request_id TEXT NOT NULL,
            fingerprint BLOB NOT NULL,
            body BLOB NOT NULL,
            kept_at INTEGER NOT NULL,
            UNIQUE (user, client_id, request_id)
        ) STRICT;

        CREATE TABLE kept_answer_size (
            user INTEGER PRIMARY KEY,
            bytes INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE removed_account (
            account INTEGER PRIMARY KEY,
            name TEXT,
            removed_at INTEGER NOT NULL,
            erasure INTEGER NOT NULL DEFAULT 0,
            position INTEGER NOT NULL DEFAULT 0
        ) STRICT;

        CREATE TABLE erased (
            account INTEGER NOT NULL,
            kind TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (account, kind)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE zone_key (
            zone INTEGER PRIMARY KEY,
            wrapped BLOB NOT NULL,
            root_key TEXT NOT NULL
        ) STRICT;

        CREATE TABLE unsealed_record (
            zone INTEGER NOT NULL,
            name TEXT NOT NULL,
            PRIMARY KEY (zone, name)
        ) STRICT, WITHOUT ROWID;
        """

    static let rows = """
        INSERT INTO store VALUES (1, 77, 8, 0, 3, NULL, NULL);
        INSERT INTO field_type VALUES
            ('c', 'development', 'Note', 'title', 'STRING', 0),
            ('c', 'development', 'Note', 'secret', 'STRING', 1);
        INSERT INTO account VALUES (3, 'anna', 1000, NULL, 0);
        INSERT INTO web_token VALUES
            (x'01', 3, 9000000000000, NULL, NULL, NULL, 's1', NULL, 'operator', NULL, NULL, 5, 6),
            (x'02', 3, 9000000000000, 60, NULL, NULL, 's2', 's1', 'page', NULL, NULL, 5, 6);
        INSERT INTO user VALUES (5, 3, 'c', 'development', '_anna', 7);
        INSERT INTO removed_account VALUES (2, 'ben', 6, 0, 0);
        INSERT INTO database VALUES (2, 'c', 'development', 'private', 5, 9, 0, 7);
        INSERT INTO zone VALUES (6, 2, 'Notes', 9, 0, NULL, NULL, NULL, 0);
        INSERT INTO record VALUES
            (6, 9, 'n1', 'Note', 1000, '_anna', 'sealed-1', 2000, '_anna', 'sealed-2', NULL, 0,
                CAST('{"title":{"value":"hello","type":"STRING"}}' AS BLOB), NULL),
            (6, 8, 'n2', 'Note', 1000, '_anna', 'sealed-1', 2000, '_anna', 'sealed-2', NULL, 0,
                CAST('{"title":' AS BLOB), 1);
        INSERT INTO asset VALUES ('x', 'f1', 5000, '', NULL);
        INSERT INTO asset_use VALUES (6, 'n1', 'x');
        INSERT INTO awaited_upload VALUES
            (x'07', 'c', 'development', 'private', 5, 'Notes', 'n1', 'f', 10, 9000000000000);
        INSERT INTO subscription VALUES
            (1, 2, 5, 'all', 'database', '', NULL, '',
                '{"subscriptionID":"all","subscriptionType":"database"}');
        INSERT INTO outbox VALUES
            (8, 2, 'Notes', '_anna', '{"zoneCreated":true}', 5, 'phone', 3000, 0, 0),
            (9, 2, 'Notes', '_anna',
                '{"records":[{"recordName":"n1","recordType":"Note","event":1}]}', 5, 'phone',
                3000, 0, 0);
        INSERT INTO device VALUES (12, 5, 'c', 'development', 'tablet', 11, 1000, 1000);
        INSERT INTO push_token VALUES ('ab', 'development', NULL, NULL, 1000);
        INSERT INTO push_token_device VALUES ('ab', 12, 4, NULL);
        """
}
