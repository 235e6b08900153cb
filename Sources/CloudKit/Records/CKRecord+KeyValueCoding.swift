// SPDX-License-Identifier: Apache-2.0
import Foundation

// Linux has no key-value coding; these methods cover what programs use of it.
extension CKRecord {
    /// Returns the value of a field, or of a system field by the name of its property.
    public func value(forKey key: String) -> Any? {
        if let object = object(forKey: key) { return object }
        switch key {
        case "recordID", SystemFieldKey.recordID: return recordID
        case "recordType": return recordType
        case "recordChangeTag": return recordChangeTag
        case "creationDate", SystemFieldKey.creationDate: return creationDate
        case "modificationDate", SystemFieldKey.modificationDate: return modificationDate
        case "creatorUserRecordID", SystemFieldKey.creatorUserRecordID: return creatorUserRecordID
        case "lastModifiedUserRecordID", SystemFieldKey.lastModifiedUserRecordID:
            return lastModifiedUserRecordID
        case "parent", SystemFieldKey.parent: return parent
        case "share", SystemFieldKey.share: return share
        default: return nil
        }
    }

    /// Sets the value of a field; nil and `NSNull` remove it.
    ///
    /// - Precondition: The key is not empty and the value of a type CloudKit supports (REC-4).
    public func setValue(_ value: Any?, forKey key: String) {
        setField(value is NSNull ? nil : value, forKey: key, isEncrypted: false)
    }

    /// Sets the values of several fields; `NSNull` removes one.
    ///
    /// - Precondition: As for ``setValue(_:forKey:)``.
    public func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value, forKey: key) }
    }

    /// Returns the values of several fields, `NSNull` for those without one.
    public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }) { first, _ in first }
    }
}
