// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase

extension CKRecord {
    /// The name of a record type in the schema.
    public typealias RecordType = String

    /// The name of a field of a record.
    public typealias FieldKey = String

    /// The record types that CloudKit itself defines (REC-10).
    public enum SystemType {
        /// The record of a user.
        public static let userRecord: CKRecord.RecordType = "Users"

        /// The record of a share.
        public static let share: CKRecord.RecordType = "cloudkit.share"
    }

    /// The names of system fields in predicates and sort descriptors.
    public enum SystemFieldKey {
        /// The ID of the record.
        public static var recordID: CKRecord.FieldKey { "___recordID" }

        /// The ID of the user who created the record.
        public static var creatorUserRecordID: CKRecord.FieldKey { "___createdBy" }

        /// The time the server first saved the record.
        public static var creationDate: CKRecord.FieldKey { "___createTime" }

        /// The ID of the user who last changed the record.
        public static var lastModifiedUserRecordID: CKRecord.FieldKey { "___modifiedBy" }

        /// The time the server last saved the record.
        public static var modificationDate: CKRecord.FieldKey { "___modTime" }

        /// The parent of the record in a shared hierarchy.
        public static let parent: CKRecord.FieldKey = "___parent"

        /// The share the record is the root of.
        public static let share: CKRecord.FieldKey = "___share"
    }
}

/// The record type of users.
@available(*, deprecated, renamed: "CKRecord.SystemType.userRecord")
public let CKRecordTypeUserRecord: String = "Users"

/// The record type of shares.
@available(*, deprecated, renamed: "CKRecord.SystemType.share")
public let CKRecordTypeShare: String = "cloudkit.share"

/// The field of a record's parent.
@available(*, deprecated, renamed: "CKRecord.SystemFieldKey.parent")
public let CKRecordParentKey: String = "___parent"

/// The field of a record's share.
@available(*, deprecated, renamed: "CKRecord.SystemFieldKey.share")
public let CKRecordShareKey: String = "___share"

/// The field of a record's ID.
@available(*, deprecated, renamed: "CKRecord.SystemFieldKey.recordID")
public let CKRecordRecordIDKey: String = "___recordID"

/// The field of a record's creator.
@available(*, deprecated, renamed: "CKRecord.SystemFieldKey.creatorUserRecordID")
public let CKRecordCreatorUserRecordIDKey: String = "___createdBy"

/// The field of a record's time of creation.
@available(*, deprecated, renamed: "CKRecord.SystemFieldKey.creationDate")
public let CKRecordCreationDateKey: String = "___createTime"

/// The field of the user who last changed a record.
@available(*, deprecated, renamed: "CKRecord.SystemFieldKey.lastModifiedUserRecordID")
public let CKRecordLastModifiedUserRecordIDKey: String = "___modifiedBy"

/// The field of a record's time of last change.
@available(*, deprecated, renamed: "CKRecord.SystemFieldKey.modificationDate")
public let CKRecordModificationDateKey: String = "___modTime"
