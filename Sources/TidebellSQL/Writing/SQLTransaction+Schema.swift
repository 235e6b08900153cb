// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension SQLTransaction {
    package func addRecordTypes(
        _ types: [String: StoredRecordType], in container: ContainerKey
    ) throws {
        guard !types.isEmpty else { return }
        let known = try recordTypes(Set(types.keys), in: container)
        try renewRevision(of: container)
        for (name, type) in types {
            try addFields(of: name, type, in: container)
            if known[name] == nil { try addTraits(of: name, type, in: container) }
        }
    }

    package func replaceSchema(with schema: SchemaDefinition, in container: ContainerKey) throws {
        for table in ["field_type", "private_field", "schema_trait"] {
            try connection.run(
                "DELETE FROM \(table) WHERE container = ? AND environment = ?",
                container.container, container.environment
            )
        }
        try renewRevision(of: container)
        for (name, type) in schema.types {
            try addFields(of: name, type, in: container)
            try addTraits(of: name, type, in: container)
        }
        for role in schema.roles { try addTrait(.role, role, 0, of: "", in: container) }
    }

    package func appendSchemaDeployment(
        _ deployment: SchemaDeployment, to container: ContainerKey, keeping kept: Int
    ) throws {
        try connection.run(
            """
            INSERT INTO schema_deployment
                (container, environment, number, deployed_at, author, changes)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            container.container, container.environment, deployment.number,
            deployment.deployedAt, deployment.author,
            deployment.changes.joined(separator: "\n")
        )
        try connection.run(
            """
            DELETE FROM schema_deployment
            WHERE container = ? AND environment = ? AND number <= ?
            """,
            container.container, container.environment, deployment.number - Int64(kept)
        )
    }

    package func noteQueryUses(
        _ uses: [QueryUse], in container: ContainerKey, at now: Instant, keeping kept: Int
    ) throws {
        for use in uses {
            try connection.run(
                """
                INSERT INTO query_use
                    (container, environment, kind, record_type, text, needs, used_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (container, environment, kind, record_type, text)
                DO UPDATE SET used_at = excluded.used_at
                """,
                container.container, container.environment, use.kind.rawValue, use.recordType,
                use.text, use.needs.map(\.stored).joined(separator: "\n"), now.rawValue
            )
        }
        try connection.run(
            """
            DELETE FROM query_use
            WHERE container = ?1 AND environment = ?2 AND (kind, record_type, text) IN (
                SELECT kind, record_type, text FROM query_use
                WHERE container = ?1 AND environment = ?2
                ORDER BY used_at DESC LIMIT -1 OFFSET ?3
            )
            """,
            container.container, container.environment, Int64(kept)
        )
    }

    private func renewRevision(of container: ContainerKey) throws {
        try connection.run(
            """
            INSERT INTO schema_revision (container, environment, revision)
            VALUES (?, ?, randomblob(16))
            ON CONFLICT (container, environment) DO UPDATE SET revision = excluded.revision
            """,
            container.container, container.environment
        )
    }

    private func addFields(
        of name: String, _ type: StoredRecordType, in container: ContainerKey
    ) throws {
        // A type without fields is kept by a row without a field.
        if type.fields.isEmpty { try addField("", nil, of: name, in: container) }
        for (field, stored) in type.fields {
            try addField(field, stored, of: name, in: container)
        }
    }

    private func addField(
        _ name: String, _ field: StoredField?, of recordType: String, in container: ContainerKey
    ) throws {
        let key = [container.container, container.environment.rawValue, recordType, name]
        if let field, field.fixedBy == nil {
            // Who fixed it privately keeps what it was.
            try connection.run(
                """
                INSERT INTO private_field
                    (user, container, environment, record_type, field, type, encrypted)
                SELECT fixed_by, container, environment, record_type, field, type, encrypted
                FROM field_type
                WHERE container = ? AND environment = ? AND record_type = ? AND field = ?
                    AND fixed_by IS NOT NULL AND (type, encrypted) <> (?, ?)
                ON CONFLICT DO NOTHING
                """,
                key[0], key[1], key[2], key[3], field.type.rawValue, field.isEncrypted
            )
        }
        try connection.run(
            """
            INSERT INTO field_type
                (container, environment, record_type, field, type, encrypted, indexes, fixed_by)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (container, environment, record_type, field)
            DO UPDATE SET type = excluded.type, encrypted = excluded.encrypted,
                indexes = excluded.indexes, fixed_by = NULL
            WHERE field_type.fixed_by IS NOT NULL AND excluded.fixed_by IS NULL
            """,
            key[0], key[1], key[2], key[3], field?.type.rawValue ?? "",
            field?.isEncrypted ?? false, field.map { Int64($0.indexes.rawValue) }, field?.fixedBy
        )
        guard let field, let user = field.fixedBy else { return }
        // Another user fixed it first.
        try connection.run(
            """
            INSERT INTO private_field
                (user, container, environment, record_type, field, type, encrypted)
            SELECT ?, container, environment, record_type, field, ?, ? FROM field_type
            WHERE container = ? AND environment = ? AND record_type = ? AND field = ?
                AND fixed_by <> ?
            ON CONFLICT DO NOTHING
            """,
            user, field.type.rawValue, field.isEncrypted, key[0], key[1], key[2], key[3], user
        )
    }

    /// What is standard has no rows; what is not has all of them, so that an index or a right that
    /// nobody has is not taken for one that nobody stated.
    private func addTraits(
        of name: String, _ type: StoredRecordType, in container: ContainerKey
    ) throws {
        if type.systemIndexes != nil {
            for field in SchemaSystemField.allCases {
                try addTrait(
                    .system, field.rawValue, type.indexes(of: field).rawValue, of: name,
                    in: container)
            }
        }
        guard type.grants != .standard else { return }
        try addTrait(.grant, "", 0, of: name, in: container)
        for (role, rights) in type.grants.rights {
            try addTrait(.grant, role, rights.rawValue, of: name, in: container)
        }
    }

    private func addTrait(
        _ kind: SchemaTraitKind, _ name: String, _ bits: Int, of recordType: String,
        in container: ContainerKey
    ) throws {
        try connection.run(
            """
            INSERT INTO schema_trait (container, environment, record_type, kind, name, bits)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            container.container, container.environment, recordType, kind.rawValue, name,
            Int64(bits)
        )
    }
}
