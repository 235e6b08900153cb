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

    /// Ways to sign in are separated by spaces; NULL is all of them.
    static let appSignInMethods = SchemaSteps.Step(
        name: "apps say by what users sign in",
        sql: "ALTER TABLE api_token ADD COLUMN methods TEXT"
    )

    /// NULL is all that an operator does.
    static let managementTasks = SchemaSteps.Step(
        name: "management tokens may be for one task",
        sql: "ALTER TABLE admin_token ADD COLUMN task TEXT"
    )

    /// An identity is one account's, and goes with it.
    static let identities = SchemaSteps.Step(
        name: "accounts have identities of other services",
        sql: """
            CREATE TABLE account_identity (
                issuer TEXT NOT NULL,
                subject TEXT NOT NULL,
                account INTEGER NOT NULL,
                PRIMARY KEY (issuer, subject)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX account_identity_account ON account_identity (account);
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
