// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase
import Foundation

/// The error domain of every CloudKit error (ERR-1).
public let CKErrorDomain: String = "CKErrorDomain"

/// The key of a dictionary that maps each failed item's ID to its error (ERR-1, ERR-4).
///
/// The IDs are `CKRecord.ID`s, `CKRecordZone.ID`s, subscription IDs or share URLs, depending on the
/// operation.
public let CKPartialErrorsByItemIDKey: String = "CKPartialErrors"

/// The key of the record as it was before either side changed it (ERR-1, SAVE-6).
public let CKRecordChangedErrorAncestorRecordKey: String = "AncestorRecord"

/// The key of the record on the server (ERR-1, SAVE-6).
public let CKRecordChangedErrorServerRecordKey: String = "ServerRecord"

/// The key of the record that the client tried to save (ERR-1, SAVE-6).
public let CKRecordChangedErrorClientRecordKey: String = "ClientRecord"

/// The key of a number that is true when the user reset the encrypted data of the account (ERR-1).
///
/// Apple's value of this constant is unknown; use only the constant.
public let CKErrorUserDidResetEncryptedDataKey: String = "CKErrorUserDidResetEncryptedDataKey"

/// The key of the number of seconds to wait before trying again (ERR-1, ERR-6).
public let CKErrorRetryAfterKey: String = "CKRetryAfter"
