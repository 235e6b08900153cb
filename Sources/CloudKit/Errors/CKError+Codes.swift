// SPDX-License-Identifier: Apache-2.0

// Apple's importer gives every code a second name on the error itself, so that
// `catch CKError.zoneNotFound` and `error.code == .zoneNotFound` both compile.
extension CKError {
    /// An internal error that CloudKit cannot recover from (ERR-10).
    public static var internalError: CKError.Code { .internalError }

    /// Some items failed, others succeeded; see `partialErrorsByItemID` (ERR-11).
    public static var partialFailure: CKError.Code { .partialFailure }

    /// The network is not available (ERR-12).
    public static var networkUnavailable: CKError.Code { .networkUnavailable }

    /// The network is available, but the connection failed (ERR-13).
    public static var networkFailure: CKError.Code { .networkFailure }

    /// The container is unknown or not provisioned (ERR-14).
    public static var badContainer: CKError.Code { .badContainer }

    /// The service is not available; try again after `retryAfterSeconds` (ERR-15).
    public static var serviceUnavailable: CKError.Code { .serviceUnavailable }

    /// The client sends too many requests; try again after `retryAfterSeconds` (ERR-16).
    public static var requestRateLimited: CKError.Code { .requestRateLimited }

    /// The app lacks a required entitlement (ERR-17).
    public static var missingEntitlement: CKError.Code { .missingEntitlement }

    /// No user is signed in (ERR-18).
    public static var notAuthenticated: CKError.Code { .notAuthenticated }

    /// The user may not do this (ERR-19).
    public static var permissionFailure: CKError.Code { .permissionFailure }

    /// The record, subscription or type does not exist (ERR-20).
    public static var unknownItem: CKError.Code { .unknownItem }

    /// The request contains invalid values (ERR-21).
    public static var invalidArguments: CKError.Code { .invalidArguments }

    /// The results were cut off; never returned any more (ERR-22).
    @available(*, deprecated, message: "Will not be returned")
    public static var resultsTruncated: CKError.Code { .resultsTruncated }

    /// The record on the server is newer than the one saved (ERR-23).
    public static var serverRecordChanged: CKError.Code { .serverRecordChanged }

    /// The server refuses the request, and will refuse it again (ERR-24).
    public static var serverRejectedRequest: CKError.Code { .serverRejectedRequest }

    /// The file of an asset does not exist (ERR-25).
    public static var assetFileNotFound: CKError.Code { .assetFileNotFound }

    /// The file of an asset changed while it was saved (ERR-26).
    public static var assetFileModified: CKError.Code { .assetFileModified }

    /// The app is older than the oldest version allowed (ERR-27).
    public static var incompatibleVersion: CKError.Code { .incompatibleVersion }

    /// A field that must be unique is not (ERR-28).
    public static var constraintViolation: CKError.Code { .constraintViolation }

    /// The operation was cancelled (ERR-29).
    public static var operationCancelled: CKError.Code { .operationCancelled }

    /// The change token is too old or does not fit; fetch again without one (ERR-30).
    public static var changeTokenExpired: CKError.Code { .changeTokenExpired }

    /// Another item in the same atomic batch failed (ERR-31).
    public static var batchRequestFailed: CKError.Code { .batchRequestFailed }

    /// The zone is busy; try again after `retryAfterSeconds` (ERR-32).
    public static var zoneBusy: CKError.Code { .zoneBusy }

    /// The operation cannot be done in this database (ERR-33).
    public static var badDatabase: CKError.Code { .badDatabase }

    /// Saving would exceed the quota of the user (ERR-34).
    public static var quotaExceeded: CKError.Code { .quotaExceeded }

    /// The zone does not exist on the server (ERR-35).
    public static var zoneNotFound: CKError.Code { .zoneNotFound }

    /// Too many items or too much data in one request; halve it (ERR-36).
    public static var limitExceeded: CKError.Code { .limitExceeded }

    /// The user deleted the zone in the system settings (ERR-37).
    public static var userDeletedZone: CKError.Code { .userDeletedZone }

    /// The share has too many participants (ERR-38).
    public static var tooManyParticipants: CKError.Code { .tooManyParticipants }

    /// The record, or one above or below it, is shared already (ERR-39).
    public static var alreadyShared: CKError.Code { .alreadyShared }

    /// The target of a parent or share reference does not exist (ERR-40).
    public static var referenceViolation: CKError.Code { .referenceViolation }

    /// A managed account may not do this (ERR-41).
    public static var managedAccountRestricted: CKError.Code { .managedAccountRestricted }

    /// The user has to verify the invitation first (ERR-42).
    public static var participantMayNeedVerification: CKError.Code {
        .participantMayNeedVerification
    }

    /// The request was done, but its response was lost (ERR-43).
    public static var serverResponseLost: CKError.Code { .serverResponseLost }

    /// The file of an asset cannot be read now (ERR-44).
    public static var assetNotAvailable: CKError.Code { .assetNotAvailable }

    /// The account has to be verified in the system settings first (ERR-45).
    public static var accountTemporarilyUnavailable: CKError.Code { .accountTemporarilyUnavailable }

    /// The person was invited to the share already (ERR-46).
    public static var participantAlreadyInvited: CKError.Code { .participantAlreadyInvited }
}
