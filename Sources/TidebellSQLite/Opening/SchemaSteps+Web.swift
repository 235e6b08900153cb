// SPDX-License-Identifier: Apache-2.0

extension SchemaSteps.Step {
    /// Origins are separated by spaces; NULL is the default.
    static let appSignIns = SchemaSteps.Step(
        name: "apps say how users sign in",
        sql: """
            ALTER TABLE api_token ADD COLUMN origins TEXT;
            ALTER TABLE api_token ADD COLUMN callback TEXT;
            """
    )

    /// A key is found by its ID, and goes with its account.
    static let serverKeys = SchemaSteps.Step(
        name: "servers have keys",
        sql: """
            CREATE TABLE server_key (
                id TEXT PRIMARY KEY,
                name TEXT NOT NULL,
                container TEXT NOT NULL,
                environment TEXT NOT NULL,
                account INTEGER NOT NULL UNIQUE,
                token_hash BLOB NOT NULL,
                public_key BLOB NOT NULL,
                created_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            """
    )
}
