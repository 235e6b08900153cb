// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import Testing
import TidebellCore
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

/// What programs send that were written for Apple's service with the tools of other languages (web-services 1.2).
@Suite("Programs in other languages")
struct OtherLanguagesTests {
    private static func save(_ fields: String) -> String {
        """
        {"operations":[{"operationType":"forceUpdate","record":{"recordName":"a","recordType":"Note",\
        "fields":\(fields)}}]}
        """
    }

    @Test("A byte order mark before the document is passed over, as .NET writes it")
    func byteOrderMark() async throws {
        let api = try await TestAPI()
        #expect(try await api.post("private/zones/list", "\u{FEFF}{}").status == 200)
        let twice = try await api.post("private/zones/list", "\u{FEFF}\u{FEFF}{}")
        #expect(twice.status == 400)
    }

    @Test(
        "Bytes may have their base64 in lines, as Ruby and MIME have it; other characters are refused"
    )
    func lines() async throws {
        let api = try await TestAPI()
        for text in [#"AAEC\nAwQF\n"#, #"AAEC\r\nAwQF"#] {
            let saved = try await api.post(
                "private/records/modify",
                Self.save(#"{"data":{"value":"\#(text)","type":"BYTES"}}"#))
            #expect(saved.text.contains(#""data":{"value":"AAECAwQF","type":"BYTES"}"#), "\(saved)")
        }
        // The type that the field has by now need not be said.
        let known = try await api.post(
            "private/records/modify", Self.save(#"{"data":{"value":"AA\nEC"}}"#))
        #expect(known.text.contains(#""data":{"value":"AAEC","type":"BYTES"}"#), "\(known)")
        for text in ["AA EC", "AAE", "-_8="] {
            let refused = try await api.post(
                "private/records/modify",
                Self.save(#"{"data":{"value":"\#(text)","type":"BYTES"}}"#))
            #expect(refused.status == 400)
        }
    }

    @Test("An empty owner, token or marker is none, as Go and Java send what is absent")
    func emptyTexts() async throws {
        let api = try await TestAPI()
        try await api.makeZone("A")
        _ = try await api.post("private/records/modify", Self.save("{}"))
        let zone = #"{"zoneName":"A","ownerRecordName":""}"#
        for (path, body) in [
            ("records/query", #"{"query":{"recordType":"Note"},"continuationMarker":""}"#),
            ("records/changes", #"{"zoneID":\#(zone),"syncToken":""}"#),
            ("changes/zone", #"{"zones":[{"zoneID":\#(zone),"syncToken":""}]}"#),
            ("changes/database", #"{"syncToken":""}"#), ("zones/changes", #"{"metaSyncToken":""}"#),
        ] {
            let answer = try await api.post("private/\(path)", body)
            #expect(answer.status == 200, "\(path): \(answer.text)")
            #expect(!answer.text.contains("serverErrorCode"), "\(path): \(answer.text)")
        }
    }

    @Test(
        "A field that is no object is refused with what a field is",
        arguments: ["null", "\"x\"", "3"])
    func bareFields(value: String) async throws {
        let api = try await TestAPI()
        let answer = try await api.post(
            "private/records/modify", Self.save(#"{"title":\#(value)}"#))
        #expect(
            answer.error
                == .badRequest(
                    #"BadRequestException: a field is an object, {"value": …}; {"value": null} removes it"#
                        + " in operations[0].record.fields.title"))
    }

    @Test("An empty array is an object without members, as PHP writes it")
    func emptyArrays() async throws {
        let api = try await TestAPI()
        try await api.makeZone("A")
        for (path, body) in [
            ("zones/list", "[]"),
            ("records/modify", Self.save("[ ]")),
            (
                "subscriptions/modify",
                """
                {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s","subscriptionType":"zone",\
                "zoneID":{"zoneName":"A"},"notificationInfo":[]}}]}
                """
            ),
        ] {
            let answer = try await api.post("private/\(path)", body)
            #expect(answer.status == 200, "\(path): \(answer.text)")
            #expect(!answer.text.contains("serverErrorCode"), "\(path): \(answer.text)")
        }
        #expect(try await api.post("private/zones/list", "[1]").status == 400)
        // A field is told from none.
        let field = try await api.post("private/records/modify", Self.save(#"{"title":[]}"#))
        #expect(field.status == 400)
    }

    @Test("1 and 0 are true and false, as Perl writes them; other numbers are refused")
    func booleans() async throws {
        let api = try await TestAPI()
        _ = try await api.post("private/records/modify", Self.save(#"{"rank":{"value":1}}"#))
        func query(_ ascending: String) async throws -> Int {
            try await api.post(
                "private/records/query",
                """
                {"query":{"recordType":"Note","sortBy":[{"fieldName":"rank","ascending":\(ascending)}]}}
                """
            ).status
        }
        for text in ["0", "1", "true"] { #expect(try await query(text) == 200) }
        for text in ["2", "-1", "1.5", "\"true\""] { #expect(try await query(text) == 400) }
    }

    @Test("An empty type or field name is none, as Go sends what is absent")
    func emptyNames() async throws {
        let api = try await TestAPI()
        let saved = try await api.post(
            "private/records/modify", Self.save(#"{"title":{"value":"x","type":""}}"#))
        #expect(saved.text.contains(#""title":{"value":"x","type":"STRING"}"#), "\(saved.text)")
        let found = try await api.post(
            "private/records/query",
            """
            {"query":{"recordType":"Note","filterBy":[{"comparator":"EQUALS","fieldName":"title","systemFieldName":"",\
            "fieldValue":{"value":"x","type":""},"distance":0}],\
            "sortBy":[{"systemFieldName":"","fieldName":"title","ascending":false}]}}
            """)
        #expect(found.text.contains(#""recordName":"a""#), "\(found.text)")
        let nameless = try await api.post(
            "private/records/query",
            """
            {"query":{"recordType":"Note","filterBy":[{"comparator":"CONTAINS_ALL_TOKENS","fieldName":"",\
            "fieldValue":{"value":"x"}}]}}
            """)
        #expect(
            nameless.error
                == .badRequest(
                    "BadRequestException: the field's name is empty in query.filterBy[0]"))
    }

    @Test("A file may come in a form, as OpenCloudKit sends it, cut anywhere")
    func filesInForms() async throws {
        let api = try await TestAPI()
        func upload(_ type: String, _ pieces: [String]) async throws -> TestAPI.Answer {
            let asked = try await api.post(
                "private/assets/upload",
                #"{"tokens":[{"recordName":"a","recordType":"Note","fieldName":"file"}]}"#)
            let path = try #require(
                asked.text.firstMatch(of: /http:\/\/localhost(\/assets\/[^"]+)/)
            ).1
            let response = await api.cloud.respond(
                to: WebRequest(
                    .post, String(path), headers: [.contentType: type],
                    body: .stream { writer in
                        for piece in pieces { try await writer.write(Array(piece.utf8)) }
                    }))
            guard case .bytes(let bytes) = response.body else { throw CancellationError() }
            return TestAPI.Answer(
                status: response.status,
                text: String(decoding: bytes, as: UTF8.self))
        }
        let bare = try await upload("application/octet-stream", ["by\r\n--bound\r\ntes"])
        let form =
            "------x\r\nContent-Disposition: form-data; name=\"files\"; filename=\"f\"\r\n"
            + "Content-Type: application/octet-stream\r\n\r\nby\r\n--bound\r\ntes\r\n------x--\r\n"
        let checksum = try #require(bare.text.firstMatch(of: /"fileChecksum":"[^"]*","size":16/)).0
        let type = "Multipart/Form-Data; charset=x; boundary=\"----x\""
        let whole = try await upload(type, [form])
        #expect(whole.text.contains(checksum), "\(whole.text)")
        let dripping = try await upload(type, form.unicodeScalars.map { String($0) })
        #expect(dripping.text.contains(checksum), "\(dripping.text)")
        for (type, form, reason) in [
            ("multipart/form-data", form, "the Content-Type of a form has a boundary"),
            (type, String(form.dropLast(20)), "the form with the file is not whole"),
            (
                type, String(repeating: "x", count: FormFile.mostHeadBytes),
                "the form with the file has no part"
            ),
        ] {
            let refused = try await upload(type, [form])
            #expect(refused.status == 400)
            #expect(refused.error?.reason == reason, "\(refused.text)")
        }
    }

    @Test(
        "Tokens and markers are base64 as every library reads it, and may come back in either alphabet"
    )
    func tokens() async throws {
        let api = try await TestAPI()
        try await api.makeZone("A")
        for number in 1...3 {
            _ = try await api.post(
                "private/records/modify",
                """
                {"zoneID":{"zoneName":"A"},"operations":[{"operationType":"create","record":{"recordName":"\(number)",\
                "recordType":"Note","fields":{"title":{"value":"ÿ?ÿ>"}}}}]}
                """)
        }
        func check(_ path: String, _ member: String, _ body: (String) -> String) async throws {
            let first = try await api.post(path, body("null"))
            let pattern = try Regex("\"\(member)\":\"([^\"]*)\"")
            let match = try #require(first.text.firstMatch(of: pattern), "\(first.text)")
            let token = try #require(match.output[1].substring.map(String.init))
            #expect(Data(base64Encoded: token) != nil, "\(token)")
            let older = token.replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
            for token in [token, older] {
                let next = try await api.post(path, body("\"\(token)\""))
                #expect(next.status == 200, "\(next.text)")
                #expect(!next.text.contains("serverErrorCode"), "\(next.text)")
            }
        }
        let zone = #""zoneID":{"zoneName":"A"}"#
        try await check("private/changes/zone", "syncToken") {
            #"{"zones":[{\#(zone),"syncToken":\#($0),"resultsLimit":1}]}"#
        }
        try await check("private/changes/database", "syncToken") { #"{"syncToken":\#($0)}"# }
        try await check("private/records/query", "continuationMarker") {
            """
            {\(zone),"resultsLimit":1,"continuationMarker":\($0),"query":{"recordType":"Note",\
            "sortBy":[{"fieldName":"title"}]}}
            """
        }
    }

    @Test("Subscriptions are looked up by bare IDs as well, as OpenCloudKit does")
    func bareSubscriptionIDs() async throws {
        let api = try await TestAPI()
        let answers = [
            try await api.post("private/subscriptions/lookup", #"{"subscriptions":["s"]}"#),
            try await api.post(
                "private/subscriptions/lookup", #"{"subscriptions":[{"subscriptionID":"s"}]}"#),
        ]
        #expect(answers[0].status == 200 && answers[0].text == answers[1].text)
    }
}
