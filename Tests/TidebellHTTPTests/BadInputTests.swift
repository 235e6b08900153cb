// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire
import TestSupport

/// A request that is refused as a whole.
struct BadRequest: Sendable, CustomTestStringConvertible {
    var path: String
    var body: String
    var reason: String
    var code = ServerErrorCode.badRequest

    init(
        _ path: String, _ body: String, _ reason: String,
        code: ServerErrorCode = .badRequest
    ) {
        self.path = path
        self.body = body
        self.reason = reason
        self.code = code
    }

    var testDescription: String { "\(path) \(body.prefix(60))" }
}

@Suite("Bad input")
struct BadInputTests {
    private static let long = String(repeating: "x", count: 256)
    private static let shortened = String(repeating: "x", count: 57) + "..."
    private static let malformed = "BadRequestException: "

    static let requests: [BadRequest] = [
        // JSON that is none
        BadRequest("private/records/modify", "", malformed + "unexpected end of the document"),
        BadRequest(
            "private/records/modify", "{", malformed + "expected a member name at byte 1"
        ),
        BadRequest(
            "private/records/modify", #"{"operations":["#,
            malformed + "unexpected end of the document in operations[0]"
        ),
        BadRequest(
            "private/zones/lookup", #"{"zones":[]} {}"#,
            malformed + "unexpected text after the document at byte 13"
        ),
        BadRequest(
            "private/zones/list", "[1]", malformed + "expected an object, found an array"
        ),
        BadRequest(
            "private/zones/lookup", "\u{FEFF}\u{FEFF}{}",
            malformed + "unexpected character at byte 3"
        ),
        BadRequest(
            "private/zones/lookup", String(repeating: "[", count: 100_000),
            malformed + "expected an object, found an array"
        ),
        // Wrong types, with the culprit's path
        BadRequest(
            "private/records/modify", #"{"operations":{}}"#,
            malformed + "expected an array, found an object in operations"
        ),
        BadRequest(
            "private/records/modify",
            #"{"operations":[{"operationType":"create","record":{"recordName":7}}]}"#,
            malformed + "expected a string, found a number in operations[0].record.recordName"
        ),
        BadRequest(
            "private/changes/zone", #"{"zones":[{"zoneID":{"zoneName":true}}]}"#,
            malformed + "expected a string, found a boolean in zones[0].zoneID.zoneName"
        ),
        BadRequest(
            "private/changes/database", #"{"resultsLimit":1.5}"#,
            malformed + "expected a whole number, found 1.5 in resultsLimit"
        ),
        // Missing members
        BadRequest(
            "private/records/modify", "{}", malformed + "missing required field 'operations'"
        ),
        BadRequest(
            "private/records/modify", #"{"operations":[{"record":{}}]}"#,
            malformed + "missing required field 'operationType' in operations[0]"
        ),
        BadRequest(
            "private/records/modify",
            #"{"operations":[{"operationType":"explode","record":{}}]}"#,
            malformed + "unknown operation type \"explode\" in operations[0].operationType"
        ),
        BadRequest(
            "private/records/modify",
            #"{"operations":[{"operationType":"update","record":{"recordName":"a"}}]}"#,
            malformed + "missing required field 'recordChangeTag' in operations[0] (update)"
        ),
        BadRequest(
            "private/records/lookup", #"{"records":[{}]}"#,
            malformed + "missing required field 'recordName' in records[0]"
        ),
        BadRequest(
            "private/subscriptions/lookup", #"{"subscriptions":[{}]}"#,
            malformed + "missing required field 'subscriptionID' in subscriptions[0]"
        ),
        // Zones that do not exist
        BadRequest(
            "private/records/lookup", #"{"zoneID":{"zoneName":"No"},"records":[]}"#,
            "Zone 'No' does not exist", code: .zoneNotFound
        ),
        BadRequest(
            "private/records/modify", #"{"zoneID":{"zoneName":"No"},"operations":[]}"#,
            "Zone 'No' does not exist", code: .zoneNotFound
        ),
        // Contradictions
        BadRequest(
            "private/records/modify",
            """
            {"operations":[{"operationType":"forceDelete","record":{"recordName":"a"}},\
            {"operationType":"forceDelete","record":{"recordName":"a"}}]}
            """,
            "record 'a' is in the request twice"
        ),
        BadRequest(
            "private/records/modify", #"{"atomic":true,"operations":[]}"#,
            "atomic operations not supported in default zone"
        ),
    ]

    @Test(
        "A request that makes no sense is refused with the path of the culprit",
        arguments: requests)
    func refused(request: BadRequest) async throws {
        let api = try await TestAPI()
        let answer = try await api.post(request.path, request.body)
        #expect(answer.error == WireError(request.code, request.reason), "\(answer.text)")
        #expect(answer.status == request.code.status)
        #expect(answer.uuid == answer[header: "X-Apple-Request-UUID"])
        #expect(api.log.detailedLines.isEmpty)
    }

    @Test("A name that is too long fails its item and is named (LIMIT-11)")
    func longNames() async throws {
        let api = try await TestAPI()
        let record = try await api.post(
            "private/records/modify",
            """
            {"operations":[{"operationType":"create",\
            "record":{"recordName":"\(Self.long)","recordType":"Note"}}]}
            """
        )
        #expect(record.text.contains("record name '\(Self.shortened)' is longer than 255"))
        let zone = try await api.post(
            "private/zones/modify",
            """
            {"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"\(Self.long)"}}}]}
            """
        )
        #expect(zone.text.contains("zone name '\(Self.shortened)' is longer than 255"))
    }

    @Test("A client ID that is too long is refused and named")
    func longClientID() async throws {
        let api = try await TestAPI()
        let answer = try await api.get("private/zones/list", query: "&clientId=\(Self.long)")
        #expect(
            answer.error
                == .badRequest("clientId '\(Self.shortened)' is longer than 255 bytes")
        )
    }

    @Test("A query parameter with a broken escape is refused and named")
    func brokenEscape() async throws {
        let api = try await TestAPI()
        let answer = try await api.get("private/zones/list", query: "&clientId=%GG")
        #expect(
            answer.error
                == .badRequest("the query parameter 'clientId' is not properly percent-encoded")
        )
    }

    @Test("A body over the limit is 413, with that reason (LIMIT-2)")
    func longBody() async throws {
        var limits = Limits()
        limits.requestBytes = 100
        let api = try await TestAPI(limits: limits)
        let fits = #"{"zones":[]}"#.padding(to: 100)
        #expect(try await api.post("private/zones/lookup", fits).status == 200)
        let answer = try await api.post(
            "private/zones/lookup", fits + " ", headers: ["X-Tidebell-Extensions": "1"]
        )
        #expect(answer.status == 413)
        #expect(
            answer.error
                == .badRequest(
                    "the request body is longer than 100 bytes (requestBytes)",
                    ckCode: CKErrorCode.limitExceeded
                )
        )
    }

    @Test("An extension's detail is not shown to clients that did not opt in (9)")
    func hiddenDetail() async throws {
        var limits = Limits()
        limits.requestBytes = 10
        let api = try await TestAPI(limits: limits)
        let answer = try await api.post("private/zones/lookup", #"{"zones":[]}"#)
        #expect(
            answer.error
                == .badRequest("the request body is longer than 10 bytes (requestBytes)"))
    }
}

extension String {
    /// The text with spaces up to a length.
    fileprivate func padding(to length: Int) -> String {
        self + String(repeating: " ", count: length - utf8.count)
    }
}
