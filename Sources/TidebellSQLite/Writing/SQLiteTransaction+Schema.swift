// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteTransaction {
    func addRecordTypes(
        _ types: [String: StoredRecordType], in container: ContainerKey
    ) throws {
        guard !types.isEmpty else { return }
        try connection.run(
            """
            INSERT INTO schema_revision (container, environment, revision)
            VALUES (?, ?, randomblob(16))
            ON CONFLICT DO UPDATE SET revision = excluded.revision
            """,
            container.container, container.environment
        )
        for (recordType, type) in types {
            // A type without fields is kept by a row without a field.
            if type.fields.isEmpty { try addField("", nil, of: recordType, in: container) }
            for (name, field) in type.fields {
                try addField(name, field, of: recordType, in: container)
            }
        }
    }

    private func addField(
        _ name: String, _ field: StoredField?, of recordType: String, in container: ContainerKey
    ) throws {
        try connection.run(
            """
            INSERT INTO field_type (container, environment, record_type, field, type, encrypted)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            container.container, container.environment, recordType, name,
            field?.type.rawValue ?? "", field?.isEncrypted ?? false
        )
    }
}
