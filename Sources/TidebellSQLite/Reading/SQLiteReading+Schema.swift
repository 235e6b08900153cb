// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func fieldTypes(
        of recordTypes: Set<String>, in container: ContainerKey
    ) throws -> [String: [String: FieldType]] {
        if let only = recordTypes.first, recordTypes.count == 1 {
            return try fieldTypes(of: only, in: container).map { [only: $0] } ?? [:]
        }
        var types: [String: [String: FieldType]] = [:]
        guard !recordTypes.isEmpty else { return types }
        try connection.each(
            """
            SELECT field_type.field, field_type.type, field_type.record_type
            FROM json_each(?) AS wanted CROSS JOIN field_type
            WHERE field_type.container = ? AND field_type.environment = ?
                AND field_type.record_type = wanted.value
            """,
            JSONText(recordTypes), container.container, container.environment
        ) { columns in
            try types[columns.text(2), default: [:]].addField(columns)
            return true
        }
        return types
    }

    package func encryptedFields(
        of recordType: String, in container: ContainerKey
    ) throws -> Set<String> {
        Set(
            try connection.rows(
                """
                SELECT field FROM field_type
                WHERE container = ? AND environment = ? AND record_type = ? AND encrypted = 1
                """,
                container.container, container.environment, recordType
            ) { $0.text(0) }
        )
    }

    /// Returns the known fields of one type; nil if no record ever had it.
    private func fieldTypes(
        of recordType: String, in container: ContainerKey
    ) throws -> [String: FieldType]? {
        var fields: [String: FieldType]?
        try connection.each(
            """
            SELECT field, type FROM field_type
            WHERE container = ? AND environment = ? AND record_type = ?
            """,
            container.container, container.environment, recordType
        ) { columns in
            try fields[default: [:]].addField(columns)
            return true
        }
        return fields
    }
}

extension [String: FieldType] {
    /// Adds the field of a row, unless the row only tells that its type exists.
    fileprivate mutating func addField(_ columns: Columns) throws {
        let field = columns.text(0)
        if !field.isEmpty { self[field] = try columns.value(1) }
    }
}

extension Optional {
    /// The wrapped value, which is `value` if there was none.
    fileprivate subscript(default value: Wrapped) -> Wrapped {
        get { self ?? value }
        set { self = newValue }
    }
}
