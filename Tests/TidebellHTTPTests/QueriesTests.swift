// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("records/query, records/changes, zones/changes")
struct QueriesTests {
    private func api() async throws -> TestAPI {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        let records = [("n1", "low", 3), ("n2", "high", 1), ("n3", "Low", 2)].map {
            """
            {"operationType":"create","record":{"recordName":"\($0.0)","recordType":"Note",\
            "fields":{"tide":{"value":"\($0.1)"},"level":{"value":\($0.2)}}}}
            """
        }
        _ = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Notes"},"operations":[\(records.joined(separator: ","))]}
            """
        )
        return api
    }

    private func query(_ query: String, _ rest: String = "") -> String {
        #"{"zoneID":{"zoneName":"Notes"},"query":{"recordType":"Note",\#(query)}\#(rest)}"#
    }

    @Test("A query answers with whole records in the order asked for (5.1)")
    func wholeRecords() async throws {
        let api = try await api()
        let answer = try await api.post(
            "private/records/query",
            query(
                """
                "filterBy":[{"comparator":"EQUALS","fieldName":"tide",\
                "fieldValue":{"value":"low","type":"STRING"}}],\
                "sortBy":[{"fieldName":"level","ascending":false}]
                """)
        )
        let lookup = try await api.post(
            "private/records/lookup",
            """
            {"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"n1"},{"recordName":"n3"}]}
            """
        )
        #expect(answer.status == 200)
        #expect(answer.text == lookup.text)
    }

    @Test("QUERY-16, QUERY-17: pages follow their markers until there is none")
    func pages() async throws {
        let api = try await api()
        let sort = #""sortBy":[{"systemFieldName":"recordName"}]"#
        let first = try await api.post(
            "private/records/query", query(sort, #","resultsLimit":2"#))
        #expect(first.recordNames == ["n1", "n2"])
        let marker = try #require(first.continuationMarker)
        let second = try await api.post(
            "private/records/query",
            query(sort, #","resultsLimit":2,"continuationMarker":"\#(marker)""#)
        )
        #expect(second.recordNames == ["n3"])
        #expect(second.continuationMarker == nil)
        let other = try await api.post(
            "private/records/query", query(#""sortBy":[]"#, #","continuationMarker":"\#(marker)""#))
        #expect(other.status == 400)
        #expect(other.error?.reason.contains("belongs to another query") == true)
    }

    @Test("What clients write: null members, schema names, aliases, a location to sort by (4.5)")
    func spellings() async throws {
        let api = try await api()
        let null = try await api.post(
            "private/records/query",
            query(#""filterBy":null,"sortBy":null"#, #","zoneWide":null,"desiredKeys":null"#))
        #expect(null.recordNames == ["n1", "n2", "n3"])
        let schema = try await api.post(
            "private/records/query",
            query(
                """
                "filterBy":[{"comparator":"IN","fieldName":"___recordID",\
                "fieldValue":{"type":"STRING_LIST","value":["n3","n1"]}}],\
                "sortBy":[{"fieldName":"___modTime","ascending":true},\
                {"systemFieldName":"___recordID","ascending":false}]
                """)
        )
        #expect(schema.recordNames == ["n3", "n1"])
        let byDistance = try await api.post(
            "private/records/query",
            query(
                """
                "sortBy":[{"fieldName":"level","relativeLocation":\
                {"latitude":1,"longitude":2}}]
                """)
        )
        #expect(
            byDistance.error
                == .badRequest(
                    "query: sortBy[0] on 'level': only LOCATION fields are sorted by distance")
        )
    }

    @Test("QUERY-20, QUERY-12, ACCT-3: errors of the request have their status and code")
    func errors() async throws {
        let api = try await api()
        let unknown = try await api.post(
            "private/records/query", #"{"query":{"recordType":"Tide"}}"#)
        #expect(unknown.status == 404)
        #expect(unknown.error == WireError(.notFound, "Did not find record type: Tide"))
        let shared = try await api.post("shared/records/query", #"{"query":{"recordType":"Note"}}"#)
        #expect(shared.status == 400)
        let zone = try await api.post(
            "private/records/query",
            #"{"query":{"recordType":"Note"},"zoneID":{"zoneName":"No"}}"#)
        #expect(zone.status == 404)
        #expect(zone.error?.code == .zoneNotFound)
        let missing = try await api.post("private/records/query", "{}")
        #expect(missing.error?.reason.contains("missing required field 'query'") == true)
        let path = "/database/1/\(TestAPI.container)/development"
        let body = #"{"query":{"recordType":"Note"}}"#
        let stranger = try await api.send(
            "POST", "\(path)/private/records/query?ckAPIToken=\(api.apiToken)", body)
        #expect(stranger.status == 421)
        let reader = try await api.send(
            "POST", "\(path)/public/records/query?ckAPIToken=\(api.apiToken)", body)
        #expect(reader.withoutHeaders == TestAPI.Answer(status: 200, text: #"{"records":[]}"#))
    }

    @Test("getCurrentSyncToken adds the zone's token, from which nothing is new (1.3)")
    func syncToken() async throws {
        let api = try await api()
        let answer = try await api.post(
            "private/records/query", query(#""filterBy":[]"#), query: "&getCurrentSyncToken=True")
        let token = try #require(answer.syncToken)
        let changes = try await api.post(
            "private/records/changes",
            #"{"zoneID":{"zoneName":"Notes"},"syncToken":"\#(token)"}"#)
        #expect(
            changes.text == #"{"records":[],"syncToken":"\#(token)","moreComing":false}"#)
        let plain = try await api.post("private/records/query", query(#""filterBy":[]"#))
        #expect(plain.syncToken == nil)
    }

    @Test("TOK-28: records/changes answers like changes/zone of one zone, newest first if asked")
    func recordChanges() async throws {
        let api = try await api()
        let first = try await api.post(
            "private/records/changes", #"{"zoneID":{"zoneName":"Notes"},"resultsLimit":2}"#)
        #expect(first.recordNames == ["n1", "n2"])
        #expect(first.text.contains(#""moreComing":true"#))
        let token = try #require(first.syncToken)
        // TOK-2: the token is good for changes/zone, too.
        let rest = try await api.post(
            "private/changes/zone",
            #"{"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"\#(token)"}]}"#)
        #expect(rest.recordNames == ["n3"])
        let reverse = try await api.post(
            "private/records/changes",
            #"{"zoneID":{"zoneName":"Notes"},"reverse":true,"desiredKeys":[]}"#)
        #expect(reverse.recordNames == ["n3", "n2", "n1"])
        #expect(reverse.text.contains(#""reverse":true"#))
    }

    @Test("TOK-28, TOK-3: what is wrong with the zone or token fails records/changes")
    func recordChangesErrors() async throws {
        let api = try await api()
        let path = "private/records/changes"
        let standard = try await api.post(path, "{}")
        #expect(standard.error == .badRequest("cannot get changes in default zone"))
        let missing = try await api.post(path, #"{"zoneID":{"zoneName":"No"}}"#)
        #expect(missing.status == 404)
        #expect(missing.error == WireError(.zoneNotFound, "Zone 'No' does not exist"))
        let token = try await api.post(
            path, #"{"zoneID":{"zoneName":"Notes"},"syncToken":"x"}"#,
            headers: ["X-Tidebell-Extensions": "1"])
        #expect(token.status == 400)
        #expect(token.error?.detail?.ckCode == CKErrorCode.changeTokenExpired)
    }

    @Test("zones/changes lists what changed since a metaSyncToken; a syncToken means nothing (5.8)")
    func zoneChanges() async throws {
        let api = try await api()
        let first = try await api.post("private/zones/changes", "{}")
        let token = try #require(first.metaSyncToken)
        #expect(
            first.text == """
                {"zones":[{"zoneID":\(api.zoneID("Notes")),"atomic":true}],\
                "metaSyncToken":"\(token)","moreComing":false}
                """
        )
        let then = try await api.post(
            "private/zones/changes", #"{"metaSyncToken":"\#(token)"}"#)
        #expect(then.text.hasPrefix(#"{"zones":[],"#))
        let wrong = try await api.post("private/zones/changes", #"{"syncToken":"\#(token)"}"#)
        #expect(wrong.text == first.text)
        let open = try await api.post("public/zones/changes", "{}")
        #expect(open.status == 400)
    }
}

extension TestAPI.Answer {
    /// The marker of a page that is not the last.
    fileprivate var continuationMarker: String? {
        text.firstMatch(of: /"continuationMarker":"([^"]*)"/).map { String($0.output.1) }
    }

    /// The token of an answer to `zones/changes`.
    fileprivate var metaSyncToken: String? {
        text.firstMatch(of: /"metaSyncToken":"([^"]*)"/).map { String($0.output.1) }
    }
}
