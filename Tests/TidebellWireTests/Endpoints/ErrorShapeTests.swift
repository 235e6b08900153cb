// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@Suite("Shapes of errors")
struct ErrorShapeTests {
    @Test("ERR-51: a request-level error carries uuid, code, reason, retryAfter and redirectURL")
    func requestError() throws {
        let error = WireError(
            .authenticationRequired,
            "request needs authorization",
            uuid: "u-1",
            retryAfter: 30,
            redirectURL: "https://example.org/sign-in"
        )
        let json =
            #"{"uuid":"u-1","reason":"request needs authorization","#
            + #""serverErrorCode":"AUTHENTICATION_REQUIRED","retryAfter":30.0,"#
            + #""redirectURL":"https://example.org/sign-in"}"#
        #expect(written { error.write(to: &$0) } == json)
        #expect(try JSONReader.read(utf8(json)) { try WireError(from: &$0) } == error)
    }

    @Test("a code from the future is an internal error that names it")
    func unknownCode() throws {
        let json = #"{"serverErrorCode":"ZONE_BUSY","reason":"later"}"#
        let error = try JSONReader.read(utf8(json)) { try WireError(from: &$0) }
        #expect(error == WireError(.internalError, "ZONE_BUSY: later"))
    }

    @Test("a body without a code is no error body")
    func noCode() {
        #expect(
            failure(reading: #"{"reason":"x"}"#) { _ = try WireError(from: &$0) }
                == "missing required field 'serverErrorCode'"
        )
    }

    @Test("ERR-50: every code has the status and the CKError code of its table row")
    func codeTable() {
        let table: [String: (status: Int, ckError: Int)] = [
            "ACCESS_DENIED": (403, 10), "ATOMIC_ERROR": (400, 22),
            "AUTHENTICATION_FAILED": (401, 9), "AUTHENTICATION_REQUIRED": (421, 9),
            "BAD_REQUEST": (400, 12), "CONFLICT": (409, 14), "EXISTS": (409, 14),
            "INTERNAL_ERROR": (500, 1), "NOT_FOUND": (404, 11), "QUOTA_EXCEEDED": (413, 25),
            "THROTTLED": (429, 7), "TRY_AGAIN_LATER": (503, 6), "UNIQUE_FIELD_ERROR": (409, 19),
            "VALIDATING_REFERENCE_ERROR": (412, 31), "ZONE_NOT_FOUND": (404, 26),
        ]
        #expect(Set(table.keys) == Set(ServerErrorCode.allCases.map(\.rawValue)))
        for code in ServerErrorCode.allCases {
            #expect(code.status == table[code.rawValue]?.status, "\(code)")
            #expect(code.ckErrorCode == table[code.rawValue]?.ckError, "\(code)")
        }
    }

    @Test("detail decides the CKError code where there is some")
    func detailDecides() {
        #expect(WireError(.badRequest, "expired").ckErrorCode == 12)
        let detail = WireError.Detail(ckCode: 21)
        #expect(WireError(.badRequest, "expired", detail: detail).ckErrorCode == 21)
    }

    @Test("TOK-23: a zone's error keeps its extension detail")
    func zoneErrorDetail() throws {
        let zoneID = ZoneID(zoneName: "Z")
        let error = WireError(
            .zoneNotFound,
            "Zone 'Z' does not exist",
            detail: WireError.Detail(ckCode: 28)
        )
        let result = ZoneResult.failed(zoneID, error)
        let bytes = JSONWriter.write { result.write(to: &$0) }
        #expect(try JSONReader.read(bytes) { try ZoneResult(from: &$0) } == result)
    }
}
