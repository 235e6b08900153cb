// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase
import Foundation

/// The error domain of every CloudKit error (ERR-1).
public let CKErrorDomain: String = "CKErrorDomain"

/// Key of a dictionary that maps each failed item's ID to its error (ERR-1, ERR-4).
///
/// The IDs are `CKRecord.ID`, `CKRecordZone.ID`, subscription IDs or share URLs,
/// after the operation that failed.
public let CKPartialErrorsByItemIDKey: String = "CKPartialErrors"

/// Key of the record as it was before either side changed it (ERR-1, SAVE-6).
public let CKRecordChangedErrorAncestorRecordKey: String = "AncestorRecord"

/// Key of the record as the server holds it (ERR-1, SAVE-6).
public let CKRecordChangedErrorServerRecordKey: String = "ServerRecord"

/// Key of the record the client tried to save (ERR-1, SAVE-6).
public let CKRecordChangedErrorClientRecordKey: String = "ClientRecord"

/// Key of a number that is true when the user reset the encrypted data of the account (ERR-1).
///
/// Apple's string behind this constant is unknown; code compares the constant only.
public let CKErrorUserDidResetEncryptedDataKey: String = "CKErrorUserDidResetEncryptedDataKey"

/// Key of the seconds to wait before trying again, as a number (ERR-1, ERR-6).
public let CKErrorRetryAfterKey: String = "CKRetryAfter"
