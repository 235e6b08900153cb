// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func recordTypes(
        _ names: Set<String>, in container: ContainerKey
    ) throws -> [String: StoredRecordType] {
        if let only = names.first, names.count == 1 {
            return try recordType(only, in: container).map { [only: $0] } ?? [:]
        }
        var types: [String: StoredRecordType] = [:]
        guard !names.isEmpty else { return types }
        try connection.each(
            """
            SELECT field_type.field, field_type.type, field_type.encrypted, field_type.record_type
            FROM json_each(?) AS wanted CROSS JOIN field_type
            WHERE field_type.container = ? AND field_type.environment = ?
                AND field_type.record_type = \(JSONText.string("wanted.value"))
            """,
            JSONText(names), container.container, container.environment
        ) { columns in
            try types[columns.text(3), default: StoredRecordType()].addField(columns)
            return true
        }
        return types
    }

    /// Returns what is known of one type; nil if no record ever had it.
    private func recordType(
        _ name: String, in container: ContainerKey
    ) throws -> StoredRecordType? {
        var type: StoredRecordType?
        try connection.each(
            """
            SELECT field, type, encrypted FROM field_type
            WHERE container = ? AND environment = ? AND record_type = ?
            """,
            container.container, container.environment, name
        ) { columns in
            try type[default: StoredRecordType()].addField(columns)
            return true
        }
        return type
    }

    package func schemaRevision(of container: ContainerKey) throws -> SchemaRevision {
        try connection.first(
            "SELECT revision FROM schema_revision WHERE container = ? AND environment = ?",
            container.container, container.environment
        ) { SchemaRevision(rawValue: $0.bytes(0)) } ?? .first
    }

    package func recordTypeNames(in container: ContainerKey, limit: Int) throws -> [String] {
        var names: [String] = []
        // From type to type by the index: a type may have many fields.
        try connection.each(
            """
            WITH RECURSIVE types (name) AS (
                SELECT min(record_type) FROM field_type WHERE container = ?1 AND environment = ?2
                UNION ALL
                SELECT (SELECT min(record_type) FROM field_type
                    WHERE container = ?1 AND environment = ?2 AND record_type > types.name)
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
        let field = columns.text(0)
        guard !field.isEmpty else { return }
        fields[field] = StoredField(try columns.value(1), isEncrypted: columns.bool(2))
    }
}

extension Optional {
    /// The wrapped value, which is `value` if there was none.
    fileprivate subscript(default value: Wrapped) -> Wrapped {
        get { self ?? value }
        set { self = newValue }
    }
}
