// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CKRecord {
    /// Everything about a record that can change.
    struct State: Sendable, Equatable {
        /// What the server alone sets.
        var server = ServerState()

        /// The fields everyone with access can read on the server.
        var plain = Fields()

        /// The fields that the server keeps encrypted (REC-11).
        var encrypted = Fields()

        /// The record above this one in a shared hierarchy.
        var parent: CKReference?

        /// Whether ``parent`` differs from what the server has.
        var isParentChanged = false

        /// The parent before it changed.
        var originalParent: CKReference?

        /// The share this record is the root of.
        var share: CKReference?
    }

    /// What the server alone sets on a record, new with every save (SAVE-29, SAVE-30).
    struct ServerState: Sendable, Equatable {
        /// The version of the record; nil when it was never saved.
        var recordChangeTag: String?

        /// The time of the first save.
        var creationDate: Date?

        /// The user of the first save.
        var creatorUserRecordID: CKRecordID?

        /// The time of the last save.
        var modificationDate: Date?

        /// The user of the last save.
        var lastModifiedUserRecordID: CKRecordID?
    }

    /// Fields, and which of them changed.
    struct Fields: Sendable, Equatable {
        /// The values by name; a field without a value is not here.
        var values: [FieldKey: FieldValue] = [:]

        /// The names set or removed since the last fetch or save.
        var changedKeys: Set<FieldKey> = []

        /// What changed fields held before; nil inside for none. Archives do not keep it.
        private var originals: [FieldKey: FieldValue?] = [:]

        /// Sets or, with nil, removes a value, and remembers the change.
        mutating func set(_ value: FieldValue?, forKey key: FieldKey) {
            if changedKeys.insert(key).inserted {
                originals.updateValue(values[key], forKey: key)
            }
            values[key] = value
        }

        /// Forgets the change of a field that the server has as `saved` now; a change that
        /// was made meanwhile stays.
        mutating func forgetChange(ofKey key: FieldKey, savedAs saved: FieldValue?) {
            if values[key] == saved {
                changedKeys.remove(key)
                originals.removeValue(forKey: key)
            } else {
                originals.updateValue(saved, forKey: key)
            }
        }

        /// The fields before any of them changed; nil when that is not known.
        var original: Fields? {
            var fields = Fields(values: values)
            for key in changedKeys {
                guard let value = originals[key] else { return nil }
                fields.values[key] = value
            }
            return fields
        }

        /// Creates fields, none of which changed.
        init(values: [FieldKey: FieldValue] = [:]) {
            self.values = values
        }

        // NB: what the fields held before makes no difference to what they are.
        static func == (one: Fields, other: Fields) -> Bool {
            one.values == other.values && one.changedKeys == other.changedKeys
        }
    }

    /// A field with its name, for the wire.
    struct Field: Sendable, Equatable {
        /// The name of the field.
        var key: FieldKey

        /// The value; nil when the field was removed.
        var value: FieldValue?

        /// Whether the server keeps the value encrypted.
        var isEncrypted = false
    }
}

// What operations do with a record between the program and the wire.
extension CKRecord {
    /// What the server alone sets.
    var serverState: ServerState { state.withLock { $0.server } }

    /// Every field with a value, in ascending order of the names.
    var fields: [Field] {
        let state = state.current
        let plain = state.plain.values.map { Field(key: $0.key, value: $0.value) }
        let encrypted = state.encrypted.values.map {
            Field(key: $0.key, value: $0.value, isEncrypted: true)
        }
        return (plain + encrypted).sorted { $0.key < $1.key }
    }

    /// The fields set or removed since the last fetch or save; removed ones without a value.
    ///
    /// A name that moved from plain to encrypted, or back, is here once, with its value.
    var changedFields: [Field] {
        let state = state.current
        var changed: [FieldKey: Field] = [:]
        for key in state.plain.changedKeys {
            changed[key] = Field(key: key, value: state.plain.values[key])
        }
        for key in state.encrypted.changedKeys {
            let field = Field(key: key, value: state.encrypted.values[key], isEncrypted: true)
            if field.value != nil || changed[key]?.value == nil { changed[key] = field }
        }
        return changed.values.sorted { $0.key < $1.key }
    }

    /// The record as it was before the app changed it, for the error of a conflict (SAVE-6).
    ///
    /// Nil when the record was never on the server, or when it came out of an archive with
    /// changes.
    var ancestor: CKRecord? {
        var state = state.current
        guard state.server.recordChangeTag != nil, let plain = state.plain.original,
            let encrypted = state.encrypted.original
        else { return nil }
        (state.plain, state.encrypted) = (plain, encrypted)
        if state.isParentChanged { state.parent = state.originalParent }
        (state.isParentChanged, state.originalParent) = (false, nil)
        if let share = self as? CKShare { return share.ancestor(of: state) }
        return CKRecord(archivedValues.identity, state: state)
    }

    /// Whether the reference to the parent was set or removed since the last fetch or save.
    var isParentChanged: Bool { state.current.isParentChanged }

    /// Returns the value of a field as the record keeps it.
    func value(ofField key: FieldKey, isEncrypted: Bool) -> FieldValue? {
        state.withLock { isEncrypted ? $0.encrypted.values[key] : $0.plain.values[key] }
    }

    /// Sets or, with nil, removes a field.
    ///
    /// A name stands for one field: setting it on one side removes it from the other.
    /// - Precondition: The key is not empty; the value is of a type CloudKit supports
    ///   (REC-4), and not a reference or an asset when encrypted (REC-11).
    func setField(_ object: Any?, forKey key: FieldKey, isEncrypted: Bool) {
        precondition(!key.isEmpty, "The name of a field must not be empty.")
        let value = object.map { object in
            guard let value = FieldValue(object) else {
                preconditionFailure(
                    "The field '\(key)' cannot hold a value of type \(Swift.type(of: object)): it holds "
                        + "a text, number, date, Data, CLLocation, CKRecord.Reference, CKAsset, or "
                        + "an array of one of these."
                )
            }
            return value
        }
        precondition(
            !isEncrypted || value?.isEncryptable != false,
            "The encrypted field '\(key)' cannot have a reference or an asset as its value."
        )
        state.withLock { $0.set(value, forKey: key, isEncrypted: isEncrypted) }
    }
}

extension CKRecord.State {
    mutating func set(
        _ value: CKRecord.FieldValue?,
        forKey key: CKRecord.FieldKey,
        isEncrypted: Bool
    ) {
        if isEncrypted {
            encrypted.set(value, forKey: key)
            if value != nil, plain.values[key] != nil { plain.set(nil, forKey: key) }
        } else {
            plain.set(value, forKey: key)
            if value != nil, encrypted.values[key] != nil { encrypted.set(nil, forKey: key) }
        }
    }

    mutating func replaceValues(_ fields: [CKRecord.Field]) {
        plain = CKRecord.Fields()
        encrypted = CKRecord.Fields()
        // Nearly all are plain.
        plain.values.reserveCapacity(fields.count)
        for field in fields {
            if field.isEncrypted {
                encrypted.values[field.key] = field.value
            } else {
                plain.values[field.key] = field.value
            }
        }
    }
}
