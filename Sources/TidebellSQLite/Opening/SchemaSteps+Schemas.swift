// SPDX-License-Identifier: Apache-2.0

extension SchemaSteps.Step {
    /// A field of before has no number of indexes, which is all of them; a type without rows in
    /// `schema_trait` has what is standard. So what production had before is what was deployed to
    /// it, and shares with it, which no schema listed until then.
    static let schemas = SchemaSteps.Step(
        name: "schemas have indexes, roles, deployments and uses",
        sql: """
            ALTER TABLE field_type ADD COLUMN indexes INTEGER;
            CREATE TABLE schema_trait (
                container TEXT NOT NULL,
                environment TEXT NOT NULL,
                record_type TEXT NOT NULL,
                kind TEXT NOT NULL,
                name TEXT NOT NULL,
                bits INTEGER NOT NULL,
                PRIMARY KEY (container, environment, record_type, kind, name)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE schema_deployment (
                container TEXT NOT NULL,
                environment TEXT NOT NULL,
                number INTEGER NOT NULL,
                deployed_at INTEGER NOT NULL,
                author TEXT NOT NULL,
                changes TEXT NOT NULL,
                PRIMARY KEY (container, environment, number)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE query_use (
                container TEXT NOT NULL,
                environment TEXT NOT NULL,
                kind TEXT NOT NULL,
                record_type TEXT NOT NULL,
                text TEXT NOT NULL,
                needs TEXT NOT NULL,
                used_at INTEGER NOT NULL,
                PRIMARY KEY (container, environment, kind, record_type, text)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE user_role (
                user INTEGER NOT NULL,
                role TEXT NOT NULL,
                PRIMARY KEY (user, role)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX user_role_role ON user_role (role);
            CREATE INDEX query_use_newest ON query_use (container, environment, used_at);
            INSERT INTO field_type (container, environment, record_type, field, type, encrypted)
                SELECT DISTINCT container, environment, 'cloudkit.share', '', '', 0
                FROM field_type WHERE true ON CONFLICT DO NOTHING;
            """
    )

    /// A field of before binds everybody.
    static let privateFields = SchemaSteps.Step(
        name: "private records fix the types of their owners' fields",
        sql: """
            ALTER TABLE field_type ADD COLUMN fixed_by INTEGER;
            CREATE TABLE private_field (
                user INTEGER NOT NULL,
                container TEXT NOT NULL,
                environment TEXT NOT NULL,
                record_type TEXT NOT NULL,
                field TEXT NOT NULL,
                type TEXT NOT NULL,
                encrypted INTEGER NOT NULL,
                PRIMARY KEY (user, record_type, field)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX private_field_type
                ON private_field (container, environment, record_type, field);
            """
    )
}
