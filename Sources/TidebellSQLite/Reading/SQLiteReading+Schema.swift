// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func fieldTypes(
        of recordTypes: Set<String>, in container: ContainerKey
    ) throws -> [String: [String: FieldType]] {
        var types: [String: [String: FieldType]] = [:]
        guard !recordTypes.isEmpty else { return types }
        try connection.each(
            """
            SELECT field_type.record_type, field_type.field, field_type.type
            FROM json_each(?) AS wanted CROSS JOIN field_type
            WHERE field_type.container = ? AND field_type.environment = ?
                AND field_type.record_type = wanted.value
            """,
            JSONText(recordTypes), container.container, container.environment
        ) { columns in
            let field = columns.text(1)
            // The row of a type without fields.
            guard !field.isEmpty else {
                types[columns.text(0), default: [:]].reserveCapacity(0)
                return true
            }
            types[columns.text(0), default: [:]][field] = try columns.value(2)
            return true
        }
        return types
    }
}
