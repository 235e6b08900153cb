// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteTransaction {
    func addFieldTypes(
        _ fields: [String: [String: FieldType]], in container: ContainerKey
    ) throws {
        for (recordType, types) in fields {
            // A type without fields is kept by a row without a field.
            if types.isEmpty { try addField("", "", of: recordType, in: container) }
            for (field, type) in types {
                try addField(field, type.rawValue, of: recordType, in: container)
            }
        }
    }

    func addEncryptedFields(_ fields: [String: Set<String>], in container: ContainerKey) throws {
        for (recordType, names) in fields {
            for name in names {
                try connection.run(
                    """
                    UPDATE field_type SET encrypted = 1
                    WHERE container = ? AND environment = ? AND record_type = ? AND field = ?
                        AND encrypted = 0
                    """,
                    container.container, container.environment, recordType, name
                )
            }
        }
    }

    private func addField(
        _ field: String, _ type: String, of recordType: String, in container: ContainerKey
    ) throws {
        try connection.run(
            """
            INSERT INTO field_type (container, environment, record_type, field, type)
            VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            container.container, container.environment, recordType, field, type
        )
    }
}
