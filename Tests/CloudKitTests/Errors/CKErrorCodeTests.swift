// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@testable import CloudKit

@Suite struct CKErrorCodeTests {
    @Test("The codes that the server sends are those of CKError.Code")
    func serverCodes() {
        let pairs: [(Int, CKError.Code)] = [
            (CKErrorCode.internalError, .internalError),
            (CKErrorCode.tooManyParticipants, .tooManyParticipants),
            (CKErrorCode.alreadyShared, .alreadyShared),
            (CKErrorCode.participantMayNeedVerification, .participantMayNeedVerification),
            (CKErrorCode.serviceUnavailable, .serviceUnavailable),
            (CKErrorCode.requestRateLimited, .requestRateLimited),
            (CKErrorCode.notAuthenticated, .notAuthenticated),
            (CKErrorCode.permissionFailure, .permissionFailure),
            (CKErrorCode.unknownItem, .unknownItem),
            (CKErrorCode.invalidArguments, .invalidArguments),
            (CKErrorCode.serverRecordChanged, .serverRecordChanged),
            (CKErrorCode.serverRejectedRequest, .serverRejectedRequest),
            (CKErrorCode.constraintViolation, .constraintViolation),
            (CKErrorCode.changeTokenExpired, .changeTokenExpired),
            (CKErrorCode.batchRequestFailed, .batchRequestFailed),
            (CKErrorCode.badDatabase, .badDatabase),
            (CKErrorCode.quotaExceeded, .quotaExceeded),
            (CKErrorCode.zoneNotFound, .zoneNotFound),
            (CKErrorCode.limitExceeded, .limitExceeded),
            (CKErrorCode.userDeletedZone, .userDeletedZone),
            (CKErrorCode.referenceViolation, .referenceViolation),
            (CKErrorCode.managedAccountRestricted, .managedAccountRestricted),
            (CKErrorCode.assetNotAvailable, .assetNotAvailable),
            (CKErrorCode.accountTemporarilyUnavailable, .accountTemporarilyUnavailable),
        ]
        for (sent, code) in pairs { #expect(sent == code.rawValue) }
        for code in ServerErrorCode.allCases {
            #expect(pairs.contains { $0.0 == code.ckErrorCode }, "\(code)")
        }
    }
}
