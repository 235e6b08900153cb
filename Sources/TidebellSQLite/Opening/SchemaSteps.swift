// SPDX-License-Identifier: Apache-2.0
import GRDB

/// What has changed in the tables since the frozen version, step by step.
///
/// A step adds: a table, an index, a column that is null or has a default. It makes no table
/// anew and rewrites no row, so that a large store opens as fast as a small one; what must
/// be filled in is filled in by maintenance, or when it is read. A released step is never
/// changed nor taken back.
struct SchemaSteps: Sendable {
    /// One change, whole or not at all.
    struct Step: Sendable {
        /// What the store remembers it by.
        var name: String
        var sql: String
    }

    /// The steps of this Tidebell, oldest first.
    static let released = SchemaSteps(steps: [
        // No row stands for a schema that has not grown since.
        Step(
            name: "schemas have revisions",
            sql: """
                CREATE TABLE schema_revision (
                    container TEXT NOT NULL,
                    environment TEXT NOT NULL,
                    revision BLOB NOT NULL,
                    PRIMARY KEY (container, environment)
                ) STRICT, WITHOUT ROWID;
                """
        ),
        // Filled in by who serves the store next: a key of older versions lies beside it.
        Step(
            name: "stores have a secret",
            sql: """
                CREATE TABLE store_secret (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    root BLOB NOT NULL,
                    inherited BLOB
                ) STRICT;
                """
        ),
        // A file's key without a name is under the store's root key.
        Step(
            name: "root keys can be changed",
            sql: """
                ALTER TABLE store ADD COLUMN next_root_key TEXT;
                ALTER TABLE asset ADD COLUMN root_key TEXT;
                """
        ),
        // A checksum is of a record's columns too, not of its fields alone: a Tidebell that
        // does not know it would call every record damaged that was written since.
        Step(name: "checksums are of whole records", sql: ""),
        // A webhook has a cursor for each user whose notifications wait for it. Both queues take
        // up what was not delivered yet: one look into the log for each user of a webhook's
        // container and for each push token, however long the log is.
        Step(
            name: "routes have queues",
            sql: """
                CREATE TABLE webhook_queue (
                    webhook INTEGER NOT NULL,
                    user INTEGER NOT NULL,
                    delivered INTEGER NOT NULL,
                    turn INTEGER NOT NULL,
                    PRIMARY KEY (webhook, user)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX webhook_queue_turn ON webhook_queue (webhook, turn);
                CREATE INDEX webhook_queue_user ON webhook_queue (user);
                CREATE INDEX webhook_container ON webhook (container, environment);
                INSERT INTO webhook_queue (webhook, user, delivered, turn)
                    SELECT webhook, user, delivered, first FROM (
                        SELECT webhook.id AS webhook, user.id AS user,
                            max(webhook.delivered, 0) AS delivered,
                            (
                                SELECT min(sequence) FROM notification
                                WHERE notification.user = user.id
                                    AND notification.sequence > webhook.delivered
                            ) AS first
                        FROM webhook
                            CROSS JOIN user ON user.container = webhook.container
                                AND user.environment = webhook.environment
                    ) WHERE first IS NOT NULL;
                CREATE TABLE push_queue (
                    device INTEGER NOT NULL,
                    token TEXT NOT NULL,
                    container TEXT NOT NULL,
                    environment TEXT NOT NULL,
                    PRIMARY KEY (device, token)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX push_queue_container
                    ON push_queue (container, environment, device);
                INSERT INTO push_queue (device, token, container, environment)
                    SELECT device.key, push_token_device.token, device.container,
                        device.environment
                    FROM push_token_device
                        CROSS JOIN device ON device.key = push_token_device.device
                    WHERE push_token_device.delivered IS NOT NULL AND EXISTS (
                        SELECT 1 FROM notification
                        WHERE notification.user = device.user
                            AND notification.sequence > push_token_device.delivered
                            AND notification.origin_client IS NOT device.client_id
                    );
                """
        ),
        // Custom zones that live; NULL until the next one is created.
        Step(
            name: "databases count their zones",
            sql: "ALTER TABLE database ADD COLUMN zones INTEGER"
        ),
        // The share of a zone has an empty root. What a record has in the history of a hierarchy
        // is a row of its own; one that left it has a moment.
        Step(
            name: "records and zones are shared",
            sql: """
                CREATE TABLE share (
                    zone INTEGER NOT NULL,
                    name TEXT NOT NULL,
                    root TEXT NOT NULL,
                    short_guid TEXT NOT NULL UNIQUE,
                    public_permission TEXT NOT NULL,
                    participants TEXT NOT NULL,
                    PRIMARY KEY (zone, name)
                ) STRICT, WITHOUT ROWID;
                CREATE UNIQUE INDEX share_root ON share (zone, root);

                CREATE TABLE share_grant (
                    zone INTEGER NOT NULL,
                    user INTEGER NOT NULL,
                    share TEXT NOT NULL,
                    root TEXT NOT NULL,
                    permission TEXT NOT NULL,
                    administrator INTEGER NOT NULL,
                    position INTEGER NOT NULL,
                    ended INTEGER NOT NULL,
                    PRIMARY KEY (zone, user, share)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX share_grant_user ON share_grant (user, zone);
                CREATE INDEX share_grant_share ON share_grant (zone, share, user);

                CREATE TABLE shared_record (
                    zone INTEGER NOT NULL,
                    name TEXT NOT NULL,
                    share TEXT NOT NULL,
                    position INTEGER NOT NULL,
                    left_at INTEGER,
                    PRIMARY KEY (zone, name, share)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX shared_record_history ON shared_record (zone, share, position);
                CREATE INDEX shared_record_left ON shared_record (left_at)
                    WHERE left_at IS NOT NULL;

                CREATE TABLE shared_zone (
                    database INTEGER NOT NULL,
                    owner TEXT NOT NULL,
                    name TEXT NOT NULL,
                    zone INTEGER NOT NULL,
                    position INTEGER NOT NULL,
                    source INTEGER NOT NULL,
                    deletion TEXT,
                    deleted_at INTEGER,
                    PRIMARY KEY (database, owner, name)
                ) STRICT, WITHOUT ROWID;
                CREATE UNIQUE INDEX shared_zone_changes ON shared_zone (database, position);
                CREATE INDEX shared_zone_traces ON shared_zone (deleted_at)
                    WHERE deletion IS NOT NULL;

                ALTER TABLE zone ADD COLUMN sharing INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE outbox ADD COLUMN sharing TEXT;
                """
        ),
        Step(
            name: "accounts have addresses",
            sql: """
                CREATE TABLE account_address (
                    kind TEXT NOT NULL,
                    address TEXT NOT NULL,
                    account INTEGER NOT NULL,
                    verified INTEGER NOT NULL,
                    PRIMARY KEY (kind, address)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX account_address_account ON account_address (account);
                """
        ),
        // Up to where the history of a hierarchy has lost what left it.
        Step(
            name: "hierarchies have floors",
            sql: "ALTER TABLE share ADD COLUMN floor INTEGER NOT NULL DEFAULT 0"
        ),
        accessRequests,
        .settling,
        .serverKeys,
        .earlierDepartures,
        .appSignIns,
        .identities,
        .schemas,
        .fieldIndexes,
        .appSignInMethods,
        .subscriptionTerms,
        .privateFields,
        .managementTasks,
        // A Tidebell that does not know it would call every record damaged that was written since.
        Step(name: "records name who made and changed them once", sql: ""),
        .signIns,
    ])

    /// Who asked for access to a share, or may not, as JSON of Core's.
    private static let accessRequests = Step(
        name: "shares are asked for",
        sql: """
            ALTER TABLE share ADD COLUMN access_requests INTEGER NOT NULL DEFAULT 0;
            CREATE TABLE share_outsider (
                zone INTEGER NOT NULL,
                share TEXT NOT NULL,
                user INTEGER NOT NULL,
                outsider TEXT NOT NULL,
                PRIMARY KEY (zone, share, user)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX share_outsider_user ON share_outsider (user);
            """
    )

    var steps: [Step]

    /// `user_version` of a store with all steps.
    var version: Int { Schema.frozenVersion + steps.count }

    /// The steps that a store of `version` has.
    func upTo(version: Int) -> SchemaSteps {
        SchemaSteps(steps: Array(steps.prefix(max(0, version - Schema.frozenVersion))))
    }

    /// Takes the steps that a store lacks, which has the frozen tables.
    func apply(to database: some DatabaseWriter) throws {
        var migrator = DatabaseMigrator()
        for (index, step) in steps.enumerated() {
            // Nothing refers to anything by foreign key: to check that would cost a look.
            migrator.registerMigration(step.name, foreignKeyChecks: .immediate) { database in
                try database.execute(sql: step.sql)
                try database.execute(
                    sql: "PRAGMA user_version = \(Schema.frozenVersion + index + 1)"
                )
            }
        }
        try migrator.migrate(database)
    }
}
