// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// The just-in-time schema: the first value of a field fixes its type (ENV-1).
struct RecordSchema {
    /// Field types by record type, as stored.
    let known: [String: [String: FieldType]]
    /// What this batch adds.
    private(set) var added: [String: [String: FieldType]] = [:]
    /// The fields that this batch stores encrypted.
    private(set) var encrypted: [String: Set<String>] = [:]

    init(known: [String: [String: FieldType]]) {
        self.known = known
    }

    /// Returns the changes with every value of the type its field has, or fails
    /// naming the field (SAVE-13).
    mutating func conform(
        _ changes: FieldChanges, of type: String, in scope: DatabaseScope, limits: Limits
    ) throws -> [String: Field?] {
        // A type is known by its first record, though that may have no field.
        if known[type] == nil, added[type] == nil { added[type] = [:] }
        var conformed = changes.values
        for (name, field) in changes.values {
            try Names.checkFieldName(name, limits: limits)
            guard let field else { continue }
            guard !(field.isEncrypted && scope == .public) else {
                throw WireError.badRequest(
                    "encrypted fields are not supported in the public database (field '\(name)')"
                )
            }
            let value = try conform(field.value, field: name, of: type)
            if field.isEncrypted { encrypted[type, default: []].insert(name) }
            // A value that became another type has no times any more.
            let nanoseconds = value.timeCount == field.nanoseconds.count ? field.nanoseconds : []
            conformed[name] = .some(
                Field(value, isEncrypted: field.isEncrypted, nanoseconds: nanoseconds)
            )
        }
        return conformed
    }

    private mutating func conform(
        _ value: FieldValue, field: String, of type: String
    ) throws -> FieldValue {
        guard let expected = known[type]?[field] ?? added[type]?[field] else {
            guard let found = value.type else {
                // REC-5
                throw WireError.badRequest(
                    "cannot use an empty list to initialize a new field (field '\(field)' "
                        + "in record type '\(type)' should be more precise)"
                )
            }
            added[type, default: [:]][field] = found
            return value
        }
        do {
            return try value.coerced(to: expected)
        } catch is JSONError {
            throw WireError.badRequest(
                "Invalid value, expected type \(expected.rawValue). (field '\(field)' "
                    + "of record type '\(type)')"
            )
        }
    }
}
