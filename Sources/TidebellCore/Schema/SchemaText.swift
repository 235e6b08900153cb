// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A schema in the CloudKit Schema Language, as `.ckdb` files have it (web-services 7).
///
/// Types, roles and fields come in the order of their names, the fields of every record before
/// the app's, grants last: equal schemas are equal texts.
package enum SchemaText {
    /// Returns the file.
    package static func of(_ schema: SchemaDefinition) -> String {
        var text = "DEFINE SCHEMA\n"
        for role in schema.roles.sorted() { text += "\n    CREATE ROLE \(quoted(role));\n" }
        var types = schema.types
        var users = types[Names.userRecordType] ?? ofUsers
        users.fields[SchemaParser.rolesField] = StoredField(.int64List, indexes: [])
        types[Names.userRecordType] = users
        for (name, type) in types.sorted(by: { $0.key < $1.key }) {
            text += "\n    RECORD TYPE \(quoted(name)) (\n"
            text += items(of: type).map { "        " + $0 }.joined(separator: ",\n")
            text += "\n    );\n"
        }
        return text
    }

    /// What every schema has, written or not.
    private static let ofUsers = StoredRecordType(
        systemIndexes: [:],
        grants: RecordGrants([RecordGrants.world: .read, RecordGrants.creator: .write]))

    /// A field as its type has it in a file, such as `title STRING QUERYABLE`.
    package static func item(_ name: String, _ field: StoredField) -> String {
        let words = [quoted(name), typeText(of: field), field.indexes.text]
        return words.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The type of a field, such as `LIST<ENCRYPTED STRING>`.
    package static func typeText(of field: StoredField) -> String {
        var word = (field.type.element ?? field.type).schemaWord
        if field.isEncrypted { word = "ENCRYPTED " + word }
        return field.type.element == nil ? word : "LIST<\(word)>"
    }

    /// A name as it stands in a file: quoted where it would be taken for something else.
    package static func quoted(_ name: String) -> String {
        let isPlain =
            Identifier.isField(name) && !SchemaParser.reservedWords.contains(name.uppercased())
        return isPlain ? name : "\"\(name)\""
    }

    private static func items(of type: StoredRecordType) -> [String] {
        let system = SchemaSystemField.allCases.map { field in
            item(field.rawValue, StoredField(field.type, indexes: type.indexes(of: field)))
        }
        let own = type.fields.sorted { $0.key < $1.key }.map { item($0.key, $0.value) }
        return system + own + grants(of: type)
    }

    /// The grants of a type, a role each.
    package static func grants(of type: StoredRecordType) -> [String] {
        type.grants.rights.sorted { $0.key < $1.key }.map { role, rights in
            "GRANT \(rights.text) TO \(quoted(role))"
        }
    }
}

extension FieldType {
    /// The word of the schema language for a value that is no list.
    var schemaWord: String { self == .asset ? "ASSET" : rawValue }
}
