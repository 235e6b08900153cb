// SPDX-License-Identifier: Apache-2.0

extension CKError.Code {
    /// The meaning of the code in one sentence, for what a server gave no reason for and for descriptions in logs.
    var sentence: String {
        CKError.Code.sentences[self] ?? "CloudKit failed with code \(rawValue)."
    }

    // Without `resultsTruncated`, which is never given and may not be named any more.
    private static let sentences: [CKError.Code: String] = [
        .internalError: "CloudKit had an internal error.",
        .partialFailure: "Some items failed, others succeeded.",
        .networkUnavailable: "The network is not available.",
        .networkFailure: "The connection to the server failed.",
        .badContainer: "The container does not exist or is not provisioned.",
        .serviceUnavailable: "The service is not available now.",
        .requestRateLimited: "Too many requests; wait before trying again.",
        .missingEntitlement: "The app lacks a required entitlement.",
        .notAuthenticated: "No user is signed in.",
        .permissionFailure: "The user is not permitted to do this.",
        .unknownItem: "The item does not exist.",
        .invalidArguments: "The request contains invalid values.",
        .serverRecordChanged: "The record on the server has changed.",
        .serverRejectedRequest: "The server rejected the request.",
        .assetFileNotFound: "The file of the asset was not found.",
        .assetFileModified: "The file of the asset changed while it was saved.",
        .incompatibleVersion: "The app is too old for this container.",
        .constraintViolation: "A value that must be unique is not.",
        .operationCancelled: "The operation was cancelled.",
        .changeTokenExpired: "The change token has expired.",
        .batchRequestFailed: "Another item of the same atomic batch failed.",
        .zoneBusy: "The zone is busy; wait before trying again.",
        .badDatabase: "The operation cannot be done in this database.",
        .quotaExceeded: "The quota of the user is exceeded.",
        .zoneNotFound: "The zone does not exist.",
        .limitExceeded: "The request is too large.",
        .userDeletedZone: "The user deleted this zone.",
        .tooManyParticipants: "The share has too many participants.",
        .alreadyShared: "The record is shared already.",
        .referenceViolation: "The target of a reference does not exist.",
        .managedAccountRestricted: "A managed account may not do this.",
        .participantMayNeedVerification: "The participant has to verify the invitation first.",
        .serverResponseLost: "The response of the server was lost.",
        .assetNotAvailable: "The file of the asset cannot be read now.",
        .accountTemporarilyUnavailable: "The account is temporarily unavailable.",
        .participantAlreadyInvited: "The participant was invited already.",
    ]
}
