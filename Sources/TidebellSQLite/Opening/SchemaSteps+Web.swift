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

    /// Sign-ins that are under way: of devices that show a code, with who entered it, and those by a provider that came
    /// back, each by a hash.
    static let signIns = SchemaSteps.Step(
        name: "sign-ins under way are in the store",
        sql: """
            CREATE TABLE device_sign_in (
                hash BLOB PRIMARY KEY,
                user_code TEXT NOT NULL UNIQUE,
                container TEXT NOT NULL,
                environment TEXT NOT NULL,
                methods TEXT,
                device_name TEXT,
                network TEXT,
                address TEXT,
                expires_at INTEGER NOT NULL,
                account INTEGER,
                user_name TEXT,
                proof BLOB,
                by_provider INTEGER NOT NULL DEFAULT 0
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX device_sign_in_end ON device_sign_in (expires_at);
            CREATE INDEX device_sign_in_account ON device_sign_in (account)
                WHERE account IS NOT NULL;
            CREATE TABLE finished_visit (
                hash BLOB PRIMARY KEY,
                ends_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX finished_visit_end ON finished_visit (ends_at);
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
