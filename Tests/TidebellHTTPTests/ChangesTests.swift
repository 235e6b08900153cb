// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("changes/database, changes/zone")
struct ChangesTests {
    @Test("changes/database lists changed zones with nothing but their IDs (5.5)")
    func databaseChanges() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        let first = try await api.post("private/changes/database", "{}")
        let token = try #require(first.syncToken)
        #expect(
            first.text == """
                {"zones":[{"zoneID":\(api.zoneID("Notes"))}],"syncToken":"\(token)",\
                "moreComing":false}
                """
        )
        let then = try await api.post(
            "private/changes/database", #"{"syncToken":"\#(token)","resultsLimit":null}"#
        )
        #expect(then.text == #"{"zones":[],"syncToken":"\#(token)","moreComing":false}"#)
    }

    @Test("changes/zone pages, each token a point to resume from (5.6)")
    func zoneChanges() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        for name in ["n1", "n2", "n3"] { try await api.save(name, in: "Notes") }
        let first = try await api.post(
            "private/changes/zone",
            #"{"zones":[{"zoneID":{"zoneName":"Notes"},"resultsLimit":2}]}"#
        )
        #expect(first.recordNames == ["n1", "n2"])
        #expect(first.text.contains(#""moreComing":true"#))
        let token = try #require(first.syncToken)
        let then = try await api.post(
            "private/changes/zone",
            #"{"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"\#(token)"}],"reverse":false}"#
        )
        #expect(then.recordNames == ["n3"])
        #expect(then.text.contains(#""moreComing":false"#))
    }

    @Test("A tombstone has its name and zone, and its type for clients that opted in (4.2, 9)")
    func tombstones() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        let before = try await api.post(
            "private/changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#
        )
        try await api.save("n1", in: "Notes")
        _ = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"forceDelete",\
            "record":{"recordName":"n1"}}]}
            """
        )
        let fetch = """
            {"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"\(before.syncToken ?? "")"}]}
            """
        let plain = try await api.post("private/changes/zone", fetch)
        let extended = try await api.post(
            "private/changes/zone", fetch, headers: ["X-Tidebell-Extensions": "1"]
        )
        let zone = api.zoneID("Notes")
        #expect(
            plain.text.contains(
                #""records":[{"recordName":"n1","deleted":true,"zoneID":\#(zone)}]"#
            )
        )
        #expect(extended.text.contains(#""recordType":"Note""#))
    }

    @Test("A zone that fails does so alone, with HTTP 200 (10.12)")
    func missingZone() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        let answer = try await api.post(
            "private/changes/zone",
            #"{"zones":[{"zoneID":{"zoneName":"No"}},{"zoneID":{"zoneName":"Notes"}}]}"#
        )
        let token = try #require(answer.syncToken)
        #expect(answer.status == 200)
        #expect(
            answer.text == """
                {"zones":[{"zoneID":\(api.zoneID("No")),"reason":"Zone 'No' does not exist",\
                "serverErrorCode":"ZONE_NOT_FOUND"},{"zoneID":\(api.zoneID("Notes")),\
                "syncToken":"\(token)","moreComing":false,"records":[]}]}
                """
        )
    }

    @Test(
        "TOK-21: a token that is garbage, of another family or zone is expired",
        arguments: ["garbage", "%%%", "ÿ🌊", "database", "other zone", "other container"]
    )
    func badTokens(kind: String) async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        try await api.makeZone("Others")
        let token: String? =
            switch kind {
            case "database": try await api.post("private/changes/database", "{}").syncToken
            case "other zone":
                try await api.post(
                    "private/changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Others"}}]}"#
                ).syncToken
            case "other container":
                try await api.send(
                    "POST",
                    api.target("private/zones/modify").replacing("example.notes", with: "other"),
                    """
                    {"operations":[{"operationType":"create","zone":{"zoneID":\
                    {"zoneName":"Notes"}}}]}
                    """
                ).syncToken
            default: kind
            }
        let answer = try await api.post(
            "private/changes/zone",
            #"{"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"\#(try #require(token))"}]}"#,
            headers: ["X-Tidebell-Extensions": "1"]
        )
        #expect(answer.status == 200)
        #expect(answer.text.contains(#""serverErrorCode":"BAD_REQUEST""#))
        #expect(
            answer.text.contains(#""reason":"client knowledge differs from server knowledge: "#)
        )
        #expect(answer.text.contains(#""ext":{"ckCode":\#(CKErrorCode.changeTokenExpired)}"#))
    }

    @Test("The public database tracks no changes (5.5)")
    func publicDatabase() async throws {
        let api = try await TestAPI()
        let answer = try await api.post("public/changes/database", "{}")
        #expect(answer.status == 400)
        #expect(answer.error?.code == .badRequest)
    }
}

extension TestAPI.Answer {
    /// The names of the records in the text, in order.
    var recordNames: [String] {
        text.matches(of: /"recordName":"([^"]*)"/).map { String($0.output.1) }
    }
}
