// SPDX-License-Identifier: Apache-2.0

// Numbers that must never be given twice are AUTOINCREMENT; tables whose key is
// how they are read are WITHOUT ROWID, clustered by it.
extension Schema {
    /// The store itself and the schemas of its containers.
    ///
    /// A record type without fields is kept by a row with an empty field name.
    /// Retention counts back from `retention_moment`; NULL before its first time.
    static let general = """
        CREATE TABLE store (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            identity INTEGER NOT NULL,
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
        """

    /// Databases and zones, each with what its living records take; the owner of a
    /// public database is 0. Deleted zones are listed as long as they have rows.
    static let zones = """
        CREATE TABLE database (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            container TEXT NOT NULL,
            environment TEXT NOT NULL,
            scope TEXT NOT NULL,
            owner INTEGER NOT NULL,
            head INTEGER NOT NULL,
            floor INTEGER NOT NULL,
            subscription_kinds INTEGER NOT NULL,
            bytes INTEGER NOT NULL DEFAULT 0,
            records INTEGER NOT NULL DEFAULT 0,
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
            bytes INTEGER NOT NULL DEFAULT 0,
            records INTEGER NOT NULL DEFAULT 0,
            UNIQUE (database, name)
        ) STRICT;
        CREATE TABLE removed_zone (
            zone INTEGER PRIMARY KEY
        ) STRICT;
        CREATE INDEX zone_changes ON zone (database, position);
        CREATE INDEX zone_traces ON zone (deleted_at) WHERE deletion IS NOT NULL;
        """

    /// Records and tombstones in the order of their zone's history, and the
    /// references among them. A checksum is of the fields; NULL where an older version wrote
    /// what could not be read.
    static let records = """
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
            size INTEGER NOT NULL DEFAULT 0,
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
        """

    /// Subscriptions: their JSON, what is to be known without reading that, and what
    /// they are found by; no zone is an
    /// empty name, so that one index range holds those without. The term is what
    /// query subscriptions are found by; other kinds have an empty one.
    static let subscriptions = """
        CREATE TABLE subscription (
            serial INTEGER PRIMARY KEY AUTOINCREMENT,
            database INTEGER NOT NULL,
            user INTEGER NOT NULL,
            subscription_id TEXT NOT NULL,
            kind TEXT NOT NULL,
            zone_name TEXT NOT NULL,
            record_type TEXT,
            term TEXT NOT NULL DEFAULT '',
            duplicate_hash INTEGER NOT NULL DEFAULT 0,
            bytes INTEGER NOT NULL DEFAULT 0,
            json TEXT NOT NULL,
            UNIQUE (database, user, subscription_id)
        ) STRICT;
        CREATE INDEX subscription_trigger
            ON subscription (database, kind, zone_name, record_type, term, serial);
        """

    /// The outbox, the notification log, and whom it is delivered to. A database stands in
    /// `outbox_queue` as long as it has entries after `done`, or for a while longer; those before, and
    /// those of databases that are not in it, are kept for explanations only. A native push
    /// token has delivered the log up to `delivered`, the courier of another has given it
    /// out up to `given_out`; the other column is NULL.
    static let push = """
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
        CREATE INDEX outbox_database ON outbox (database);
        CREATE INDEX outbox_zone_end ON outbox (database, zone_name, id) WHERE ends_zone = 1;

        CREATE TABLE outbox_queue (
            database INTEGER PRIMARY KEY,
            done INTEGER NOT NULL,
            turn INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX outbox_queue_turn ON outbox_queue (turn);

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
            session TEXT,
            PRIMARY KEY (token, device)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX push_token_device_device ON push_token_device (device);
        """

    /// Where the notifications of a container are posted to.
    static let webhooks = """
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
        """

    /// Accounts, their tokens and users; a token without container is for all of
    /// them. The web tokens of one sign-in have one session; its parent is the
    /// session of the token that was shown to begin it.
    static let accounts = """
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
            notification_floor INTEGER NOT NULL DEFAULT 0,
            UNIQUE (account, container, environment),
            UNIQUE (record_name, container, environment)
        ) STRICT;

        CREATE TABLE application_permission (
            user INTEGER NOT NULL,
            permission TEXT NOT NULL,
            status TEXT NOT NULL,
            PRIMARY KEY (user, permission)
        ) STRICT, WITHOUT ROWID;
        """
}
