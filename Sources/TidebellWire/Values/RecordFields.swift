// SPDX-License-Identifier: Apache-2.0

/// The fields of a record in their stored form: one canonical JSON object.
///
/// The text is exactly what an answer carries, so a page of changes is copied
/// from the store to the wire without being parsed. Only rules that look into a
/// record (merging, predicates, payload fields) decode it.
package struct RecordFields: Sendable, Hashable {
    /// `{"name":{"value":…,"type":…},…}`, names sorted.
    package let json: [UInt8]

    /// No fields at all.
    package static let none = RecordFields(json: Array("{}".utf8))

    /// Takes text that was made by ``init(_:)`` earlier.
    package init(json: [UInt8]) {
        self.json = json
    }

    /// Encodes fields canonically.
    package init(_ fields: [String: Field]) {
        json = JSONWriter.write(capacity: 64 * fields.count + 2) { writer in
            writer.object { writer in
                // Positions are moved faster than fields.
                for index in fields.indices.sorted(by: { fields[$0].key < fields[$1].key }) {
                    writer.key(fields[index].key)
                    fields[index].value.write(to: &writer)
                }
            }
        }
    }

    /// Decodes the fields, however many there are: the bound is one of requests.
    package func decoded() throws -> [String: Field] {
        var fields: [String: Field] = [:]
        try forEach { fields[$0] = $1 }
        return fields
    }

    /// Decodes the fields one by one, in the order they stand.
    package func forEach(_ body: (_ name: String, _ field: Field) throws -> Void) throws {
        try JSONReader.read(json, ordersMarks: false) { reader in
            try reader.readObject { reader, name in
                if let field = try Field.read(from: &reader) { try body(name.text, field) }
            }
        }
    }

    /// Decodes the fields with these names only; the others are passed over
    /// unread.
    package func decoded(only names: Set<String>) throws -> [String: Field] {
        var fields: [String: Field] = [:]
        guard !names.isEmpty else { return fields }
        // A query looks into every record of a type: few names are compared faster than hashed.
        let few = names.count <= 8 ? Array(names) : nil
        try JSONReader.read(json, ordersMarks: false) { reader in
            try reader.readObject { reader, name in
                guard few?.contains(name.text) ?? names.contains(name.text) else {
                    return try reader.skipValue()
                }
                fields[name.text] = try Field.read(from: &reader)
            }
        }
        return fields
    }

    /// Whether a time may have nanoseconds; found without parsing.
    package var mentionsNanoseconds: Bool { Self.nanosecondsKey.isFound(in: json) }

    private static let nanosecondsKey = BytePattern(#""nanoseconds":"#)

    /// Whether there is no field.
    package var isEmpty: Bool { json.count <= 2 }
}

/// What a request wants to do to a record's fields: a value sets, nil removes.
package struct FieldChanges: Sendable, Hashable {
    /// The most fields that a record may have, and a request may name (LIMIT-12).
    package static let maximumCount = 256

    /// The changes by field name.
    package var values: [String: Field?]

    /// Creates changes.
    package init(_ values: [String: Field?] = [:]) {
        self.values = values
    }

    /// Reads a `fields` object, refusing a name that stands twice.
    package init(from reader: inout JSONReader) throws {
        var values: [String: Field?] = [:]
        try reader.readObject { reader, name in
            guard try reader.kind() == .object else {
                throw JSONError(
                    #"a field is an object, {"value": …}; {"value": null} removes it"#)
            }
            guard values.updateValue(try Field.read(from: &reader), forKey: name.text) == nil else {
                throw JSONError("the field is there twice")
            }
            guard values.count <= Self.maximumCount else {
                throw JSONError("more than \(Self.maximumCount) fields")
            }
        }
        self.values = values
    }

    /// Writes the changes; a removal is `{"value":null}`.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            for (name, field) in values.sorted(by: { $0.key < $1.key }) {
                writer.key(name)
                if let field {
                    field.write(to: &writer)
                } else {
                    writer.object { writer in
                        writer.key("value")
                        writer.null()
                    }
                }
            }
        }
    }
}
