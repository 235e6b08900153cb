// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A type with fields: a record, or the encrypted fields of a record.
///
/// See <https://developer.apple.com/documentation/cloudkit/ckrecordkeyvaluesetting>.
public protocol CKRecordKeyValueSetting: NSObjectProtocol {
    /// Returns the value of a field; nil when it has none.
    func object(forKey key: String) -> (any __CKRecordObjCValue)?

    /// Sets the value of a field; nil removes it.
    func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: String)

    /// The value of a field; setting nil removes it.
    @_disfavoredOverload
    subscript(key: String) -> (any __CKRecordObjCValue)? { get set }

    /// Returns the names of the fields that have a value, in ascending order (REC-8).
    func allKeys() -> [String]

    /// Returns the names of the fields that were set or removed since the last fetch or save
    /// (REC-8).
    func changedKeys() -> [String]
}

extension CKRecordKeyValueSetting {
    /// The value of a field as the type that the caller expects; nil if it has another type.
    public subscript<T: CKRecordValueProtocol>(key: CKRecord.FieldKey) -> T? {
        get { object(forKey: key) as? T }
        set { setObject(newValue.map { recordObject($0) }, forKey: key) }
    }

    /// The value of a field; setting nil removes it.
    public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
        get { object(forKey: key) as? any CKRecordValueProtocol }
        set { setObject(newValue.map { recordObject($0) }, forKey: key) }
    }
}

/// Returns `value` as the other of the two protocols of field values.
///
/// - Precondition: `value` is of a type CloudKit supports (REC-4). On Apple's systems
///   other types raise an exception too.
private func recordObject(_ value: any CKRecordValueProtocol) -> any __CKRecordObjCValue {
    guard let object = value as? any __CKRecordObjCValue else {
        preconditionFailure("A record cannot have a value of type \(type(of: value)).")
    }
    return object
}

/// Iterates over the fields of a record in ascending order of their names.
public struct CKRecordKeyValueIterator: IteratorProtocol {
    /// The name and the value of a field.
    public typealias Element = (CKRecord.FieldKey, any CKRecordValueProtocol)

    private var fields: ArraySlice<(CKRecord.FieldKey, CKRecord.FieldValue)>

    init(_ fields: [CKRecord.FieldKey: CKRecord.FieldValue]) {
        self.fields = fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }[...]
    }

    /// Returns the next field; nil after the last.
    public mutating func next() -> (CKRecord.FieldKey, any CKRecordValueProtocol)? {
        fields.popFirst().map { ($0.0, $0.1.object) }
    }
}
