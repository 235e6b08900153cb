// SPDX-License-Identifier: Apache-2.0

/// The raw values of `CKError.Code` that the server sends or means (ERR-10 to ERR-46).
///
/// The client's public type has the same ones once more, since an enumeration's are
/// literals; a test holds them together.
package enum CKErrorCode {
    package static let internalError = 1
    package static let badContainer = 5
    package static let serviceUnavailable = 6
    package static let requestRateLimited = 7
    package static let notAuthenticated = 9
    package static let permissionFailure = 10
    package static let unknownItem = 11
    package static let invalidArguments = 12
    package static let serverRecordChanged = 14
    package static let serverRejectedRequest = 15
    package static let constraintViolation = 19
    package static let changeTokenExpired = 21
    package static let batchRequestFailed = 22
    package static let badDatabase = 24
    package static let quotaExceeded = 25
    package static let zoneNotFound = 26
    package static let limitExceeded = 27
    package static let userDeletedZone = 28
    package static let tooManyParticipants = 29
    package static let alreadyShared = 30
    package static let referenceViolation = 31
    package static let managedAccountRestricted = 32
    package static let participantMayNeedVerification = 33
    package static let assetNotAvailable = 35
    package static let accountTemporarilyUnavailable = 36
    package static let participantAlreadyInvited = 37
}
