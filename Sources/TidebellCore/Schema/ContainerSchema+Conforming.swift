// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

// The first stored value of a field fixes its type, and whether it is encrypted (ENV-1,
// REC-11): a value in the public database everybody's, one in a private database its owner's.
extension ContainerSchema {
    /// A record's changes as its type demands them, and the fields they would add.
    package struct Conformed {
        package var changes: [String: Field?]
        package var additions: [String: StoredField] = [:]
    }

    /// Returns the changes with every value of the type its field has, or fails
    /// naming the field (SAVE-13), or where the schema does not grow (ENV-1).
    package func conform(
        _ changes: FieldChanges, of type: String, in scope: DatabaseScope, limits: Limits
    ) throws -> Conformed {
        let (stored, earlier) = (stored[type]?.fields, added[type]?.fields)
        try checkGrowth(by: type, limits)
        var conformed = Conformed(changes: changes.values)
        for (name, field) in changes.values {
            try Names.checkFieldName(name, limits: limits)
            guard let field else { continue }
            try Self.checkLocations(in: field.value, field: name, of: type)
            let known = stored?[name]
            let isBound = known?.binds(databaseOf: owner) ?? false
            let expected = isBound ? known : earlier?[name]
            if field.isEncrypted || expected?.isEncrypted == true {
                try Self.checkEncryption(of: field, named: name, expected, of: type, in: scope)
            }
            guard let expected else {
                // What others have privately is taken over where it suits.
                let shared = known.flatMap { Self.value(of: field, asIn: $0) }
                let found =
                    try shared.flatMap { _ in known?.type }
                    ?? Self.newType(of: field.value, field: name, of: type)
                conformed.additions[name] = StoredField(
                    found, isEncrypted: field.isEncrypted, fixedBy: owner)
                if let shared { conformed.changes[name] = .some(field.having(shared)) }
                continue
            }
            // What an earlier record adds it may not add after all: it may still fail.
            if !isBound { conformed.additions[name] = expected }
            let value = try Self.coerce(field.value, to: expected.type, field: name, of: type)
            conformed.changes[name] = .some(field.having(value))
        }
        try checkGrowth(by: conformed.additions, in: type, limits)
        return conformed
    }

    /// Fails where a record's type would be new and may not be: in production (ENV-1), or where one
    /// caller fills the schema that all share (H9).
    func checkGrowth(by type: String, _ limits: Limits) throws {
        guard isNew(type) else { return }
        guard container.growsBySaving else {
            throw WireError.notDeployed(
                "Cannot create new type \(WireError.shortened(type)) in production schema",
                container)
        }
        guard typeCount + newTypes.count >= limits.recordTypesPerContainer else { return }
        throw WireError.badRequest(
            "record type '\(WireError.shortened(type))' would be one more than the "
                + "\(limits.recordTypesPerContainer) of the container (recordTypesPerContainer)",
            ckCode: CKErrorCode.limitExceeded
        ).naming(.recordTypesPerContainer)
    }

    private func checkGrowth(
        by additions: [String: StoredField], in type: String, _ limits: Limits
    ) throws {
        guard let first = additions.keys.min() else { return }
        guard container.growsBySaving else {
            throw WireError.notDeployed(
                "Cannot create or modify field '\(WireError.shortened(first))' in record "
                    + "'\(WireError.shortened(type))' in production schema", container)
        }
        let (stored, added) = (stored[type]?.fields ?? [:], added[type]?.fields ?? [:])
        let earlier = added.keys.count { stored[$0] == nil }
        let new = additions.keys.count { stored[$0] == nil && added[$0] == nil }
        let total = stored.count + earlier + new
        guard new > 0, total > limits.fieldsPerType else { return }
        throw WireError.badRequest(
            "record type '\(WireError.shortened(type))' would have \(total) fields of at most "
                + "\(limits.fieldsPerType) (fieldsPerType)",
            ckCode: CKErrorCode.limitExceeded
        ).naming(.fieldsPerType)
    }

    /// Fails unless a value is encrypted where its field is, and may be (REC-11).
    private static func checkEncryption(
        of field: Field, named name: String, _ expected: StoredField?, of type: String,
        in scope: DatabaseScope
    ) throws {
        guard !field.isEncrypted || scope.storesEncryptedValues else {
            throw WireError.badRequest(
                "encrypted fields are not supported in the public database (field '\(name)')"
            )
        }
        if let expected, expected.isEncrypted != field.isEncrypted {
            // NB: the first sentence's words are CloudKit's (web-services 3.3).
            throw WireError.badRequest(
                "Attempt to save \(field.isEncrypted ? "encrypted" : "plain") data in "
                    + "\(field.isEncrypted ? "non encrypted" : "encrypted") field type "
                    + "(field '\(name)' of record type '\(type)')"
            )
        }
        guard field.isEncrypted, let kind = field.value.type, kind.isNeverEncrypted else { return }
        throw WireError.badRequest(
            "\(kind.rawValue) fields cannot be encrypted (field '\(name)' of record type '\(type)')"
        )
    }

    /// Fails for a location that is nowhere on Earth.
    private static func checkLocations(
        in value: FieldValue, field: String, of type: String
    ) throws {
        switch value {
        case .location(let location):
            guard (-90...90).contains(location.latitude), (-180...180).contains(location.longitude)
            else {
                throw WireError.badRequest(
                    "Invalid value, a latitude is -90 to 90 and a longitude -180 to 180, not "
                        + "\(location.latitude), \(location.longitude) (field '\(field)' of record type "
                        + "'\(type)')"
                )
            }
        case .list(_, let elements):
            for element in elements { try checkLocations(in: element, field: field, of: type) }
        default: break
        }
    }

    private static func newType(
        of value: FieldValue, field: String, of type: String
    ) throws -> FieldType {
        guard let found = value.type else {
            // REC-5
            throw WireError.badRequest(
                "cannot use an empty list to initialize a new field (field '\(field)' "
                    + "in record type '\(type)' should be more precise)"
            )
        }
        return found
    }

    /// The value as a field demands it that binds nobody here; nil where it does not suit.
    private static func value(of field: Field, asIn known: StoredField) -> FieldValue? {
        guard field.isEncrypted == known.isEncrypted else { return nil }
        return try? field.value.coerced(to: known.type)
    }

    private static func coerce(
        _ value: FieldValue, to expected: FieldType, field: String, of type: String
    ) throws -> FieldValue {
        do {
            return try value.coerced(to: expected)
        } catch is JSONError {
            let given = value.type.map { ", given as \($0.rawValue)" } ?? ""
            throw WireError.badRequest(
                "Invalid value, expected type \(expected.rawValue). (field '\(field)' "
                    + "of record type '\(type)'\(given))"
            )
        }
    }
}

extension WireError {
    /// Production lacks what a request needs of its schema.
    ///
    /// NB: the words before the semicolon are CloudKit's (ENV-1), and so is the code 12.
    static func notDeployed(_ words: String, _ container: ContainerKey) -> WireError {
        .badRequest("\(words); \(container.deployment)")
    }
}

extension Field {
    /// The same field with its value as another type.
    fileprivate func having(_ value: FieldValue) -> Field {
        // A value that became another type has no times any more.
        let isSame = value.timeCount == nanoseconds.count
        return Field(value, isEncrypted: isEncrypted, nanoseconds: isSame ? nanoseconds : [])
    }
}

extension FieldType {
    /// Whether values of the type cannot be encrypted (REC-11).
    fileprivate var isNeverEncrypted: Bool {
        switch element ?? self {
        case .asset, .reference: true
        default: false
        }
    }
}
