// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CKError {
    /// For a `partialFailure`, the error of each failed item by its ID (ERR-2, ERR-4).
    public var partialErrorsByItemID: [AnyHashable: any Error]? {
        let value = userInfo[CKPartialErrorsByItemIDKey]
        if let errors = value as? [AnyHashable: any Error] { return errors }
        guard let dictionary = value as? NSDictionary else { return nil }
        var errors: [AnyHashable: any Error] = [:]
        for (key, error) in dictionary {
            guard let key = key as? AnyHashable, let error = error as? any Error else { return nil }
            errors[key] = error
        }
        return errors
    }

    /// For a `serverRecordChanged`, the record before either side changed it (ERR-2).
    ///
    /// It has the fields the client's record had when it was fetched or last saved, and its
    /// change tag. Nil when the record was never on the server, and when the client's record
    /// was changed, archived and read again before it was saved.
    public var ancestorRecord: CKRecord? {
        userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord
    }

    /// For a `serverRecordChanged`, the record on the server; merge your changes into this one
    /// (ERR-2).
    public var serverRecord: CKRecord? {
        userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord
    }

    /// For a `serverRecordChanged`, the record that the client tried to save (ERR-2).
    public var clientRecord: CKRecord? {
        userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord
    }

    /// The seconds to wait before trying again; an error with any code may have them (ERR-2,
    /// ERR-6).
    public var retryAfterSeconds: Double? {
        switch userInfo[CKErrorRetryAfterKey] {
        case let seconds as Double: seconds
        case let number as NSNumber: number.doubleValue
        case let seconds as Int: Double(seconds)
        default: nil
        }
    }
}
