// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

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

    @Test("A file in a form is refused: what is around it would become part of the file")
    func filesInForms() async throws {
        let api = try await TestAPI()
        let asked = try await api.post(
            "private/assets/upload",
            #"{"tokens":[{"recordName":"a","recordType":"Note","fieldName":"file"}]}"#)
        let path = try #require(asked.text.firstMatch(of: /http:\/\/localhost(\/assets\/[^"]+)/)).1
        let form = try await api.send(
            "POST", String(path), "--x\r\n\r\nbytes\r\n--x--",
            headers: ["Content-Type": "Multipart/Form-Data; boundary=x"])
        #expect(form.status == 400)
        #expect(form.text.contains("the body is the file itself"))
        #expect(try await api.send("POST", String(path), "bytes").status == 200)
    }
}
