// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
import Foundation

/// Reads records that Apple's CloudKit archived.
///
/// Such an archive holds either a whole record or its system fields; both have the
/// same keys.
enum AppleRecordArchive {
    /// Reads a record; nil when the archive holds none.
    static func values(from coder: NSCoder) -> CKRecord.ArchivedValues? {
        guard let recordType = coder.appleString(forKey: "RecordType"),
            let recordID = coder.appleObject(CKRecordID.self, forKey: "RecordID")
        else { return nil }
        var state = CKRecord.State()
        state.server = serverState(from: coder)
        state.parent = coder.appleObject(CKReference.self, forKey: "ParentReference")
        state.share = coder.appleObject(CKReference.self, forKey: "ShareReference")
        state.plain = fields(from: coder, forKey: "ValueStore")
        state.encrypted = fields(from: coder, forKey: "EncryptedValueStore")
        return CKRecord.ArchivedValues(
            identity: CKRecord.Identity(recordType: recordType, recordID: recordID),
            state: state
        )
    }

    private static func serverState(from coder: NSCoder) -> CKRecord.ServerState {
        CKRecord.ServerState(
            recordChangeTag: coder.appleString(forKey: "ETag"),
            creationDate: coder.appleDate(forKey: "RecordCtime"),
            creatorUserRecordID: coder.appleObject(CKRecordID.self, forKey: "CreatorUserRecordID"),
            modificationDate: coder.appleDate(forKey: "RecordMtime"),
            lastModifiedUserRecordID: coder.appleObject(
                CKRecordID.self,
                forKey: "LastModifiedUserRecordID"
            )
        )
    }

    private static func fields(from coder: NSCoder, forKey key: String) -> CKRecord.Fields {
        coder.appleObject(AppleRecordValueStore.self, forKey: key)?.fields ?? CKRecord.Fields()
    }
}

/// Stands in for the classes that hold the values of a record in Apple's archives.
final class AppleRecordValueStore: NSObject, NSSecureCoding {
    /// The values, and which of them changed.
    let fields: CKRecord.Fields

    private static let valueClasses: [AnyClass] = [
        NSDictionary.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSArray.self,
        CLLocation.self, CKReference.self, CKAsset.self,
    ]

    /// Reads the values; those of no known type are left out.
    init?(coder: NSCoder) {
        var fields = CKRecord.Fields()
        if coder.holdsValue(forKey: "RecordValues") {
            let object = coder.decodeObject(of: Self.valueClasses, forKey: "RecordValues")
            for (key, value) in object as? [String: Any] ?? [:] {
                fields.values[key] = CKRecord.FieldValue(value)
            }
        }
        if coder.holdsValue(forKey: "ChangedKeys") {
            let classes: [AnyClass] = [NSSet.self, NSString.self]
            let keys = coder.decodeObject(of: classes, forKey: "ChangedKeys") as? Set<String>
            fields.changedKeys = keys ?? []
        }
        self.fields = fields
    }

    static var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) {
        preconditionFailure("This class only reads the archives of Apple's systems.")
    }
}
