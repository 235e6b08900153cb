// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The fields of a record that the server keeps encrypted (REC-11).
///
/// A view: it keeps the record alive and reads and writes its state.
final class EncryptedRecordValues: NSObject, CKRecordKeyValueSetting, Sendable {
    private let record: CKRecord

    /// Shows the encrypted fields of `record`.
    init(of record: CKRecord) {
        self.record = record
    }

    /// Returns the value of a field; nil when it has none.
    func object(forKey key: String) -> (any __CKRecordObjCValue)? {
        record.value(ofField: key, isEncrypted: true)?.object
    }

    /// Sets the value of a field; nil removes it.
    func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: String) {
        record.setField(object, forKey: key, isEncrypted: true)
    }

    /// The value of a field; setting nil removes it.
    @_disfavoredOverload
    subscript(key: String) -> (any __CKRecordObjCValue)? {
        get { object(forKey: key) }
        set { setObject(newValue, forKey: key) }
    }

    /// Returns the names of the fields that have a value, in ascending order.
    func allKeys() -> [String] {
        record.state.withLock { $0.encrypted.values.keys.sorted() }
    }

    /// Returns the names of the fields set or removed since the last fetch or save.
    func changedKeys() -> [String] {
        record.state.withLock { $0.encrypted.changedKeys.sorted() }
    }
}
