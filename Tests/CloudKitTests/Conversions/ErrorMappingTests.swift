// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit
import TestSupport

@Suite struct ErrorMappingTests {
    /// ERR-50, row by row: server error code, HTTP status, CKError.
    static let serverCodes: [(String, Int, CKError.Code)] = [
        ("ACCESS_DENIED", 403, .permissionFailure),
        ("ATOMIC_ERROR", 400, .batchRequestFailed),
        ("AUTHENTICATION_FAILED", 401, .notAuthenticated),
        ("AUTHENTICATION_REQUIRED", 421, .notAuthenticated),
        ("BAD_REQUEST", 400, .invalidArguments),
        ("CONFLICT", 409, .serverRecordChanged),
        ("EXISTS", 409, .serverRecordChanged),
        ("INTERNAL_ERROR", 500, .internalError),
        ("NOT_FOUND", 404, .unknownItem),
        ("QUOTA_EXCEEDED", 413, .quotaExceeded),
        ("THROTTLED", 429, .requestRateLimited),
        ("TRY_AGAIN_LATER", 503, .serviceUnavailable),
        ("UNIQUE_FIELD_ERROR", 409, .constraintViolation),
        ("VALIDATING_REFERENCE_ERROR", 412, .referenceViolation),
        ("ZONE_NOT_FOUND", 404, .zoneNotFound),
        ("SOMETHING_NEW", 418, .internalError),
    ]

    @Test("ERR-50: the code of a request's error", arguments: serverCodes)
    func theCodeOfARequestsError(row: (String, Int, CKError.Code)) async {
        let (serverCode, status, code) = row
        let body = """
            {"uuid":"U-1","serverErrorCode":"\(serverCode)","reason":"why","retryAfter":99}
            """
        let error = await fetchError(.json(body, status: status))
        #expect(error?.code == code)
        #expect(error?.retryAfterSeconds == 99)
        #expect(error?.userInfo["RequestUUID"] as? String == "U-1")
        #expect(error?.userInfo["ContainerID"] as? String == "iCloud.notes")
        let reason = serverCode == "SOMETHING_NEW" ? "SOMETHING_NEW: why" : "why"
        #expect(error?.userInfo["ServerErrorDescription"] as? String == reason)
        #expect(error?.localizedDescription == reason)
    }

    @Test("The exact CKError code of the extensions wins over the server error code")
    func theExactCodeWins() async {
        let error = await fetchError(
            .json(
                #"{"serverErrorCode":"BAD_REQUEST","reason":"old","ext":{"ckCode":21}}"#,
                status: 400
            )
        )
        #expect(text(error) == "changeTokenExpired: old")
        #expect(error?.userInfo["RequestUUID"] as? String == "REQUEST-1")
    }

    @Test("A code of the extensions that no CKError has is an internal error")
    func anUnknownExactCode() async {
        let error = await fetchError(
            .json(#"{"serverErrorCode":"BAD_REQUEST","ext":{"ckCode":-5}}"#, status: 400)
        )
        #expect(error?.code == .internalError)
    }

    /// HTTP statuses that come without an error of the API.
    static let statuses: [(Int, CKError.Code)] = [
        (204, .serverRejectedRequest), (301, .serverRejectedRequest),
        (400, .serverRejectedRequest), (401, .notAuthenticated), (403, .permissionFailure),
        (404, .serverRejectedRequest), (408, .networkFailure), (413, .limitExceeded),
        (421, .notAuthenticated), (429, .requestRateLimited), (500, .serverRejectedRequest),
        (502, .serviceUnavailable), (503, .serviceUnavailable), (504, .serviceUnavailable),
    ]

    @Test("The code of a status without JSON, with Retry-After", arguments: statuses)
    func theCodeOfAStatus(row: (Int, CKError.Code)) async {
        let (status, code) = row
        let response = TransportResponse(
            status: status,
            headers: [("Retry-After", "77")],
            body: Array("<html>".utf8)
        )
        let error = await fetchError(response)
        #expect(text(error) == "\(code): The server answered with HTTP status \(status).")
        #expect(error?.retryAfterSeconds == 77)
    }

    @Test(
        "An answer that is not what was asked for is an internal error, not a crash",
        arguments: ["", "[]", "{}", "{\"zones\":{}}", "{\"zones\":[1]}", "{\"zones\":[]} x"]
    )
    func anUnreadableAnswer(body: String) async {
        let error = await fetchError(.json(body))
        #expect(error?.code == .internalError)
        #expect(
            error?.localizedDescription.hasPrefix("The server's answer cannot be read: ") == true)
    }

    /// What a transport throws.
    static let failures: [(any Error & Sendable, String)] = [
        (
            TransportError.unreachable("refused"),
            "networkUnavailable: The server cannot be reached (refused). Is it running, and "
                + "is its address right (TIDEBELL_SERVER, or of tidebell login)?"
        ),
        (
            TransportError.timedOut(.milliseconds(1500)),
            "networkFailure: The server did not answer within 1.5 seconds."
        ),
        (
            TransportError.tooLarge(limit: 9),
            "limitExceeded: The server's answer is longer than 9 bytes."
        ),
        (CancellationError(), "operationCancelled: The operation was cancelled."),
        (POSIXError(.EIO), "networkFailure: The request failed: \(POSIXError(.EIO))"),
    ]

    @Test("ERR-12, ERR-13: the code of a transport's failure", arguments: failures.indices)
    func theCodeOfATransportFailure(row: Int) async {
        let (failure, expected) = Self.failures[row]
        let transport = ScriptedTransport { _, _ in throw failure }
        let result = await Result {
            try await TestDevice(transport).database.allRecordZones()
        }
        #expect(text(result) == expected)
    }

    @Test("ERR-5: the error of an item carries the ID of its request")
    func anItemsErrorCarriesTheRequestID() async {
        let transport = ScriptedTransport(
            answering: Answer.records(Answer.failedRecord("n", "NOT_FOUND"))
        )
        let result = await Result {
            try await TestDevice(transport).database.record(for: CKRecord.ID(recordName: "n"))
        }
        #expect(text(result) == "unknownItem: because of NOT_FOUND")
        #expect(result.error?.userInfo["RequestUUID"] as? String == "REQUEST-1")
    }

    /// Returns the error of listing the zones; retryAfter is so long that the read is not
    /// sent again.
    private func fetchError(_ response: TransportResponse) async -> CKError? {
        let transport = ScriptedTransport { _, _ in response }
        let database = TestDevice(transport, clock: ManualClock()).database
        return await Result { try await database.allRecordZones() }.error
    }
}
