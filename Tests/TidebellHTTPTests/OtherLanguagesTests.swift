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
}
