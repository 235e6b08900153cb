// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Files of records, which are kept beside the database: what is known of each,
    /// which records hold it, since when none may do so, which were given up with a lost root
    /// key and are held by records still, and which are to come.
    static let assets = """
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

        CREATE TABLE lost_asset (
            content TEXT PRIMARY KEY
        ) STRICT, WITHOUT ROWID;

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
            expires_at INTEGER NOT NULL,
            user INTEGER,
            session TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX awaited_upload_user ON awaited_upload (user, expires_at);
        CREATE INDEX awaited_upload_session ON awaited_upload (session);
        CREATE INDEX awaited_upload_end ON awaited_upload (expires_at);
        """
}
