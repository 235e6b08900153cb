// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// What explains a push: how each match was notified, what the routes did, and
    /// who may ask over the network.
    ///
    /// The changes themselves are what is done of the outbox. Both tables only grow at
    /// their end, and lose rows at their beginning.
    static let explanation = """
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
        """
}
