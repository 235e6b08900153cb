// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension CKError {
    /// What went wrong: the 37 codes of CloudKit, without gaps.
    ///
    /// A code matches errors in a pattern: `catch CKError.zoneNotFound`.
    /// See <https://developer.apple.com/documentation/cloudkit/ckerror/code>.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error the code belongs to.
        public typealias _ErrorType = CKError

        /// An internal error that CloudKit cannot recover from (ERR-10).
        case internalError = 1
        /// Some items failed, others succeeded; see `partialErrorsByItemID` (ERR-11).
        case partialFailure = 2
        /// The network is not available (ERR-12).
        case networkUnavailable = 3
        /// The network is available, but the connection failed (ERR-13).
        case networkFailure = 4
        /// The container is unknown or not provisioned (ERR-14).
        case badContainer = 5
        /// The service is not available; try again after `retryAfterSeconds` (ERR-15).
        case serviceUnavailable = 6
        /// The client sends too many requests, or did not wait as long as the server asked; try
        /// again after `retryAfterSeconds` (ERR-16, ERR-52).
        case requestRateLimited = 7
        /// The app lacks a required entitlement (ERR-17).
        case missingEntitlement = 8
        /// No user is signed in (ERR-18).
        case notAuthenticated = 9
        /// The user may not do this (ERR-19).
        case permissionFailure = 10
        /// The record, subscription or type does not exist (ERR-20).
        case unknownItem = 11
        /// The request contains invalid values (ERR-21).
        case invalidArguments = 12
        /// The results were cut off; never returned any more (ERR-22).
        @available(*, deprecated, message: "Will not be returned")
        case resultsTruncated = 13
        /// The record on the server is newer than the one saved (ERR-23).
        case serverRecordChanged = 14
        /// The server refuses the request, and will refuse it again (ERR-24).
        case serverRejectedRequest = 15
        /// The file of an asset does not exist (ERR-25).
        case assetFileNotFound = 16
        /// The file of an asset changed while it was saved (ERR-26).
        case assetFileModified = 17
        /// The app is older than the oldest version allowed (ERR-27).
        case incompatibleVersion = 18
        /// A field that must be unique is not (ERR-28).
        case constraintViolation = 19
        /// The operation was cancelled (ERR-29).
        case operationCancelled = 20
        /// The change token is too old or does not fit; fetch again without one (ERR-30).
        case changeTokenExpired = 21
        /// Another item in the same atomic batch failed (ERR-31).
        case batchRequestFailed = 22
        /// The zone is busy; try again after `retryAfterSeconds` (ERR-32).
        case zoneBusy = 23
        /// The operation cannot be done in this database (ERR-33).
        case badDatabase = 24
        /// Saving would exceed the quota of the user (ERR-34).
        case quotaExceeded = 25
        /// The zone does not exist on the server (ERR-35).
        case zoneNotFound = 26
        /// Too many items or too much data in one request; halve it (ERR-36).
        case limitExceeded = 27
        /// The user deleted the zone in the system settings (ERR-37).
        case userDeletedZone = 28
        /// The share has too many participants (ERR-38).
        case tooManyParticipants = 29
        /// The record, or one above or below it, is shared already (ERR-39).
        case alreadyShared = 30
        /// The target of a parent or share reference does not exist (ERR-40).
        case referenceViolation = 31
        /// A managed account may not do this (ERR-41).
        case managedAccountRestricted = 32
        /// The user has to verify the invitation first (ERR-42).
        case participantMayNeedVerification = 33
        /// The request was done, but its response was lost (ERR-43).
        ///
        /// Only operations that wait for the network fail with it, if the answer to a write was
        /// lost and the write could not be sent again for a day, after which the server might do it
        /// twice. Other operations fail with `networkFailure`: the request may not have arrived at
        /// all.
        case serverResponseLost = 34
        /// The file of an asset cannot be read now (ERR-44).
        case assetNotAvailable = 35
        /// The account has to be verified in the system settings first (ERR-45).
        case accountTemporarilyUnavailable = 36
        /// The person was invited to the share already (ERR-46).
        case participantAlreadyInvited = 37
    }
}
