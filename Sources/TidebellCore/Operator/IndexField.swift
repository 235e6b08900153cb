// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Adds indexes to a field of development's schema (QUERY-14).
extension IndexField {
    /// Adds them to a field of a type, which may be one that every record has; returns what was
    /// added, nil where the field had them.
    package static func run(
        _ indexes: FieldIndexes, on field: String, of type: String, in container: String,
        in transaction: some SchemaWriting
    ) throws -> SchemaChange? {
        let development = ContainerKey(container: container, environment: .development)
        try development.check()
        var schema = try transaction.schemaDefinition(of: development)
        guard var stored = schema.types[type] else {
            throw OperatorError(
                .unknown, .schema,
                "Development of \(container) has no record type '\(WireError.shortened(type))'; it "
                    + "comes with the first record, or by an import.")
        }
        let added: FieldIndexes
        if let system = field == recordName ? .recordID : SchemaSystemField(rawValue: field) {
            added = indexes.subtracting(stored.indexes(of: system))
            stored.systemIndexes = Dictionary(
                uniqueKeysWithValues: SchemaSystemField.allCases.map {
                    ($0, stored.indexes(of: $0))
                })
            stored.systemIndexes?[system, default: []].formUnion(indexes)
        } else {
            guard var known = stored.fields[field] else {
                throw OperatorError(
                    .unknown, .schema,
                    "The record type '\(type)' of \(container) has no field "
                        + "'\(WireError.shortened(field))' in development.")
            }
            guard !known.isEncrypted else {
                throw OperatorError(
                    .unsuitable, .schema,
                    "The field '\(type).\(field)' is encrypted, and cannot be queried.")
            }
            added = indexes.subtracting(known.indexes)
            known.indexes.formUnion(indexes)
            stored.fields[field] = known
        }
        guard !added.isEmpty else { return nil }
        schema.types[type] = stored
        try transaction.replaceSchema(with: schema, in: development)
        return .addIndexes(field, of: type, added)
    }

    /// What requests call the field that schemas call `___recordID`.
    private static let recordName = "recordName"
}

extension FieldIndexes {
    /// Creates the indexes of some words of the schema language, in any case.
    package init(words: [String]) throws(OperatorError) {
        self = []
        for text in words {
            guard let word = Self.words.first(where: { $0.word == text.uppercased() }) else {
                throw OperatorError(
                    .invalid, .schema,
                    "'\(WireError.shortened(text))' is no index; write QUERYABLE, SORTABLE or "
                        + "SEARCHABLE.")
            }
            formUnion(word.index)
        }
        guard !isEmpty else {
            throw OperatorError(
                .invalid, .schema, "Name one or more of QUERYABLE, SORTABLE and SEARCHABLE.")
        }
    }
}
