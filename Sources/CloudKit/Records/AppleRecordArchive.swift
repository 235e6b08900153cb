// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reads records that Apple's CloudKit archived.
enum AppleRecordArchive {
    /// Reads a record, or only its system fields; nil when the archive holds none.
    static func values(from coder: NSCoder) -> CKRecord.ArchivedValues? {
        guard let recordType = coder.appleString(forKey: "RecordType"),
            let recordID = coder.appleObject(CKRecordID.self, forKey: "RecordID")
        else { return nil }
        var state = CKRecord.State()
        state.server = CKRecord.ServerState(
            recordChangeTag: coder.appleString(forKey: "ETag"),
            creationDate: coder.appleDate(forKey: "RecordCtime"),
            creatorUserRecordID: coder.appleObject(CKRecordID.self, forKey: "CreatorUserRecordID"),
            modificationDate: coder.appleDate(forKey: "RecordMtime"),
            lastModifiedUserRecordID: coder.appleObject(
                CKRecordID.self,
                forKey: "LastModifiedUserRecordID"
            )
        )
        state.parent = coder.appleObject(CKRecordReference.self, forKey: "ParentReference")
        state.share = coder.appleObject(CKRecordReference.self, forKey: "ShareReference")
        return CKRecord.ArchivedValues(
            identity: CKRecord.Identity(recordType: recordType, recordID: recordID),
            state: state
        )
    }
}
