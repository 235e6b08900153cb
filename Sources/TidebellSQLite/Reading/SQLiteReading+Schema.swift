// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func fields(
        of recordTypes: Set<String>, in container: ContainerKey
    ) throws -> [String: [String: StoredField]] {
        if let only = recordTypes.first, recordTypes.count == 1 {
            return try fields(of: only, in: container).map { [only: $0] } ?? [:]
        }
        var fields: [String: [String: StoredField]] = [:]
        guard !recordTypes.isEmpty else { return fields }
        try connection.each(
            """
            SELECT field_type.field, field_type.type, field_type.encrypted, field_type.record_type
            FROM json_each(?) AS wanted CROSS JOIN field_type
            WHERE field_type.container = ? AND field_type.environment = ?
                AND field_type.record_type = \(JSONText.string("wanted.value"))
            """,
            JSONText(recordTypes), container.container, container.environment
        ) { columns in
            try fields[columns.text(3), default: [:]].addField(columns)
            return true
        }
        return fields
    }

    /// Returns the known fields of one type; nil if no record ever had it.
    private func fields(
        of recordType: String, in container: ContainerKey
    ) throws -> [String: StoredField]? {
        var fields: [String: StoredField]?
        try connection.each(
            """
            SELECT field, type, encrypted FROM field_type
            WHERE container = ? AND environment = ? AND record_type = ?
            """,
            container.container, container.environment, recordType
        ) { columns in
            try fields[default: [:]].addField(columns)
            return true
        }
        return fields
    }

    package func schemaRevision(of container: ContainerKey) throws -> SchemaRevision {
        try connection.first(
            "SELECT revision FROM schema_revision WHERE container = ? AND environment = ?",
            container.container, container.environment
        ) { SchemaRevision(rawValue: $0.bytes(0)) } ?? .first
    }

    package func recordTypeCount(in container: ContainerKey) throws -> Int {
        // From type to type by the index: a type may have many fields.
        try connection.first(
            """
            WITH RECURSIVE types (name) AS (
                SELECT min(record_type) FROM field_type WHERE container = ?1 AND environment = ?2
                UNION ALL
                SELECT (SELECT min(record_type) FROM field_type
                    WHERE container = ?1 AND environment = ?2 AND record_type > types.name)
                FROM types WHERE types.name IS NOT NULL
            ) SELECT count(name) FROM types
            """,
            container.container, container.environment
        ) { Int($0.int(0)) } ?? 0
    }
}

extension [String: StoredField] {
    /// Adds the field of a row, unless the row only shows that its type exists.
    fileprivate mutating func addField(_ columns: Columns) throws {
        let field = columns.text(0)
        guard !field.isEmpty else { return }
        self[field] = StoredField(try columns.value(1), isEncrypted: columns.bool(2))
    }
}

extension Optional {
    /// The wrapped value, which is `value` if there was none.
    fileprivate subscript(default value: Wrapped) -> Wrapped {
        get { self ?? value }
        set { self = newValue }
    }
}
