// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

/// What a row of `schema_trait` states.
enum SchemaTraitKind: String {
    /// What is indexed of a field that every record has.
    case system
    /// What a role may do; with an empty name, that nothing else is granted.
    case grant
    /// That the container has a role; of no type.
    case role
}

extension SQLReading {
    package func recordTypes(
        _ names: Set<String>, in container: ContainerKey
    ) throws -> [String: StoredRecordType] {
        var types: [String: StoredRecordType] = [:]
        guard !names.isEmpty else { return types }
        let wanted = SQLList(names)
        try connection.each(
            """
            SELECT field_type.record_type, field_type.field, field_type.type,
                field_type.encrypted, field_type.indexes, field_type.fixed_by
            FROM json_each(?) AS wanted CROSS JOIN field_type
            WHERE field_type.container = ? AND field_type.environment = ?
                AND field_type.record_type = \(SQLList.text("wanted.value"))
            """,
            wanted, container.container, container.environment
        ) { columns in
            try types[columns.text(0), default: StoredRecordType()].addField(columns)
            return true
        }
        try connection.each(
            """
            SELECT schema_trait.record_type, schema_trait.kind, schema_trait.name,
                schema_trait.bits
            FROM json_each(?) AS wanted CROSS JOIN schema_trait
            WHERE schema_trait.container = ? AND schema_trait.environment = ?
                AND schema_trait.record_type = \(SQLList.text("wanted.value"))
            ORDER BY schema_trait.record_type, schema_trait.kind, schema_trait.name
            """,
            wanted, container.container, container.environment
        ) { columns in
            types[columns.text(0)]?.addTrait(columns)
            return true
        }
        try connection.each(
            """
            SELECT \(SQLList.text("wanted.value")) FROM json_each(?) AS wanted WHERE EXISTS (
                SELECT 1 FROM private_field
                WHERE private_field.container = ? AND private_field.environment = ?
                    AND private_field.record_type = \(SQLList.text("wanted.value"))
            )
            """,
            wanted, container.container, container.environment
        ) { columns in
            types[columns.text(0)]?.hasPrivateFields = true
            return true
        }
        return types
    }

    package func privateFields(
        of user: UserID, in types: Set<String>, _ container: ContainerKey
    ) throws -> [String: [String: StoredField]] {
        // All of them at once: a schema has bounds.
        let fields = try connection.rows(
            """
            SELECT private_field.record_type, private_field.field, private_field.type,
                private_field.encrypted
            FROM json_each(?) AS wanted CROSS JOIN private_field
            WHERE private_field.user = ?
                AND private_field.record_type = \(SQLList.text("wanted.value"))
                AND private_field.container = ? AND private_field.environment = ?
            """,
            SQLList(types), user, container.container, container.environment
        ) { columns in
            let field = StoredField(
                try columns.value(2), isEncrypted: columns.bool(3), fixedBy: user)
            return (type: columns.text(0), name: columns.text(1), field)
        }
        return fields.reduce(into: [:]) { found, row in
            found[row.type, default: [:]][row.name] = row.2
        }
    }

    package func differingPrivateFields(
        in container: ContainerKey, limit: Int
    ) throws -> [DifferingPrivateField] {
        try connection.rows(
            """
            SELECT private_field.record_type, private_field.field, private_field.type,
                private_field.encrypted, count(*)
            FROM private_field CROSS JOIN field_type USING (container, environment, record_type, field)
            WHERE private_field.container = ? AND private_field.environment = ?
                AND (private_field.type, private_field.encrypted)
                    <> (field_type.type, field_type.encrypted)
            GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 LIMIT ?
            """,
            container.container, container.environment, Int64(limit)
        ) { columns in
            DifferingPrivateField(
                recordType: columns.text(0), field: columns.text(1), type: try columns.value(2),
                isEncrypted: columns.bool(3), users: Int(columns.int(4)))
        }
    }

    package func schemaDefinition(of container: ContainerKey) throws -> SchemaDefinition {
        var schema = SchemaDefinition()
        try connection.each(
            """
            SELECT record_type, field, type, encrypted, indexes, NULL FROM field_type
            WHERE container = ? AND environment = ?
            """,
            container.container, container.environment
        ) { columns in
            try schema.types[columns.text(0), default: StoredRecordType()].addField(columns)
            return true
        }
        try connection.each(
            """
            SELECT record_type, kind, name, bits FROM schema_trait
            WHERE container = ? AND environment = ? ORDER BY record_type, kind, name
            """,
            container.container, container.environment
        ) { columns in
            if SchemaTraitKind(rawValue: columns.text(1)) == .role {
                schema.roles.insert(columns.text(2))
            } else {
                schema.types[columns.text(0)]?.addTrait(columns)
            }
            return true
        }
        return schema
    }

    package func schemaDeployments(
        to container: ContainerKey, limit: Int
    ) throws -> [SchemaDeployment] {
        try connection.rows(
            """
            SELECT number, deployed_at, author, changes FROM schema_deployment
            WHERE container = ? AND environment = ? ORDER BY number DESC LIMIT ?
            """,
            container.container, container.environment, Int64(limit)
        ) { columns in
            SchemaDeployment(
                number: columns.int(0), deployedAt: columns.int(1),
                author: columns.text(2),
                changes: columns.text(3).split(separator: "\n").map(String.init))
        }
    }

    package func queryUses(in container: ContainerKey, limit: Int) throws -> [QueryUse] {
        try connection.rows(
            """
            SELECT kind, record_type, text, needs FROM query_use
            WHERE container = ? AND environment = ? ORDER BY used_at DESC LIMIT ?
            """,
            container.container, container.environment, Int64(limit)
        ) { columns in
            QueryUse(
                kind: try columns.value(0), recordType: columns.text(1), text: columns.text(2),
                needs: columns.text(3).split(separator: "\n").compactMap {
                    IndexNeed(stored: $0)
                })
        }
    }

    package func schemaRevision(of container: ContainerKey) throws -> SchemaRevision {
        let found = try connection.first(
            "SELECT revision FROM schema_revision WHERE container = ? AND environment = ?",
            container.container, container.environment
        ) { SchemaRevision(rawValue: $0.bytes(0)) }
        // What is sent ahead has no row yet.
        guard let found else { return .first }
        connection.guesses?.note(found, of: container)
        return found
    }

    package func recordTypeNames(in container: ContainerKey, limit: Int) throws -> [String] {
        var names: [String] = []
        // From type to type by the index: a type may have many fields.
        try connection.each(
            """
            WITH RECURSIVE types (name) AS (
                SELECT (SELECT record_type FROM field_type
                    WHERE container = ?1 AND environment = ?2 ORDER BY record_type LIMIT 1)
                UNION ALL
                SELECT (SELECT record_type FROM field_type
                    WHERE container = ?1 AND environment = ?2 AND record_type > types.name
                    ORDER BY record_type LIMIT 1)
                FROM types WHERE types.name IS NOT NULL
            ) SELECT name FROM types WHERE name IS NOT NULL LIMIT ?3
            """,
            container.container, container.environment, Int64(limit)
        ) { columns in
            names.append(columns.text(0))
            return true
        }
        return names
    }
}

extension StoredRecordType {
    /// Adds the field of a row, unless the row only shows that its type exists.
    fileprivate mutating func addField(_ columns: Columns) throws {
        let field = columns.text(1)
        guard !field.isEmpty else { return }
        // Of before there were indexes, a field has all of them.
        let indexes = columns.optionalInt(4).map { FieldIndexes(rawValue: Int($0)) }
        fields[field] = StoredField(
            try columns.value(2), isEncrypted: columns.bool(3), indexes: indexes,
            fixedBy: columns.optionalInt(5).map(UserID.init(rawValue:)))
    }

    /// Adds what a row states of the type.
    fileprivate mutating func addTrait(_ columns: Columns) {
        let (name, bits) = (columns.text(2), Int(columns.int(3)))
        switch SchemaTraitKind(rawValue: columns.text(1)) {
        case .system:
            guard let field = SchemaSystemField(rawValue: name) else { return }
            systemIndexes = systemIndexes ?? [:]
            systemIndexes?[field] = FieldIndexes(rawValue: bits)
        case .grant:
            // The empty name comes first of all.
            if name.isEmpty { grants = RecordGrants([:]) }
            grants[name] = RecordRights(rawValue: bits)
        case .role, nil: return
        }
    }
}
