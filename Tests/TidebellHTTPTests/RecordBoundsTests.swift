// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("What one record and one request may hold")
struct RecordBoundsTests {
    /// Members of a `fields` object: `count` numbers whose names begin with `prefix`.
    private func fields(_ prefix: String, _ count: Int) -> String {
        (0..<count).map { #""\#(prefix)\#($0)":{"value":\#($0)}"# }.joined(separator: ",")
    }

    /// Changes the record `n1` of the zone `Notes`.
    private func change(_ api: TestAPI, _ fields: String) async throws -> TestAPI.Answer {
        try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Notes"},"atomic":false,"operations":[\
            {"operationType":"forceUpdate","record":{"recordName":"n1","recordType":"Note",\
            "fields":{\(fields)}}}]}
            """
        )
    }

    @Test("LIMIT-12: several saves together give a record no more fields than one may")
    func mergedFields() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        _ = try await change(api, fields("a", 200))
        let refused = try await change(api, fields("b", 100))
        #expect(refused.text.contains(#""serverErrorCode":"BAD_REQUEST""#))
        #expect(
            refused.text.contains(
                "record too large: record 'n1' would have 300 fields of at most 256"))
        #expect(try await change(api, fields("b", 56)).text.contains(#""b55""#))
        let removal = #""a0":{"value":null},"c":{"value":1}"#
        #expect(try await change(api, removal).text.contains(#""c":{"value":1"#))
        let found = try await api.post(
            "private/records/lookup",
            """
            {"zoneID":{"zoneName":"Notes"},"desiredKeys":["c"],"records":[{"recordName":"n1"}]}
            """
        )
        #expect(found.text.contains(#""fields":{"c":{"value":1,"type":"INT64"}}"#))
    }

    @Test("More desired keys or record types than a request may name are BAD_REQUEST")
    func desiredNames() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        let names = { (count: Int) in
            "[" + (0..<count).map { #""k\#($0)""# }.joined(separator: ",") + "]"
        }
        for (count, status) in [(1024, 200), (1025, 400)] {
            let keys = #""desiredKeys":\#(names(count))"#
            let bodies = [
                ("changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"},\#(keys)}]}"#),
                (
                    "changes/zone",
                    #"{"desiredRecordTypes":\#(names(count)),"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#
                ),
                (
                    "records/lookup",
                    #"{"zoneID":{"zoneName":"Notes"},\#(keys),"records":[{"recordName":"n"}]}"#
                ),
                (
                    "records/lookup",
                    #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"n",\#(keys)}]}"#
                ),
                ("records/modify", #"{"zoneID":{"zoneName":"Notes"},\#(keys),"operations":[]}"#),
            ]
            for (path, body) in bodies {
                let answer = try await api.post("private/\(path)", body)
                #expect(
                    answer.status == status, "\(path) with \(count): \(answer.text.prefix(200))")
            }
        }
    }

    // MARK: Bytes

    private static let extended = ["X-Tidebell-Extensions": "1"]

    /// A cloud whose limits two records of 600 bytes pass, and such records in a zone.
    private func crowded(_ names: String..., in zones: String...) async throws -> TestAPI {
        var limits = Limits()
        limits.namedRecordBytes = 1000
        limits.cascadedDeletionBytes = 1000
        limits.pageBytes = 1000
        let api = try await TestAPI(limits: limits)
        let text = String(repeating: "x", count: 550)
        for zone in zones {
            try await api.makeZone(zone)
            for name in names {
                _ = try await api.post(
                    "private/records/modify",
                    """
                    {"zoneID":{"zoneName":"\(zone)"},"operations":[{"operationType":"create",\
                    "record":{"recordName":"\(name)","recordType":"Note","fields":{\
                    "text":{"value":"\(text)"},"of":{"value":{"recordName":"x",\
                    "action":"DELETE_SELF"}}}}}]}
                    """
                )
            }
        }
        return api
    }

    @Test(
        "LIMIT-20: records that are too large together are not looked up or changed at once",
        arguments: [["a"], ["a", "b"], ["a", "a"]]
    )
    func namedRecords(names: [String]) async throws {
        let api = try await crowded("a", "b", in: "Notes")
        let items = names.map { #"{"recordName":"\#($0)"}"# }.joined(separator: ",")
        let operations = Set(names).map { name in
            #"{"operationType":"forceUpdate","record":{"recordName":"\#(name)","fields":{}}}"#
        }
        let lookup = try await api.post(
            "private/records/lookup", #"{"zoneID":{"zoneName":"Notes"},"records":[\#(items)]}"#,
            headers: Self.extended
        )
        let modify = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Notes"},"operations":[\(operations.joined(separator: ","))]}
            """,
            headers: Self.extended
        )
        let error = WireError.badRequest(
            "the records of the request have more than 1000 bytes; ask for fewer at a time "
                + "(namedRecordBytes)",
            ckCode: CKErrorCode.limitExceeded
        )
        #expect(lookup.error == (names.count > 1 ? error : nil))
        #expect(modify.error == (operations.count > 1 ? error : nil))
    }

    @Test("REF-2: a deletion takes along records of any size where nobody asks what was in them")
    func largeCascade() async throws {
        let api = try await crowded("a", "b", in: "Notes")
        try await api.subscribe(to: "Notes")
        try await api.save("x", in: "Notes")
        let delete = """
            {"zoneID":{"zoneName":"Notes"},"operations":[\
            {"operationType":"forceDelete","record":{"recordName":"x"}}]}
            """
        let answer = try await api.post("private/records/modify", delete)
        #expect(answer.text.contains(#""deleted":true"#))
        let page = try await api.post(
            "private/changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#
        )
        #expect(page.status == 200)
        #expect(!page.text.contains(#""recordName""#))
    }

    @Test("REF-10: what VALIDATE refers to may be of any size, in any but a wild number")
    func validatedRecords() async throws {
        let api = try await crowded("a", "b", in: "Notes")
        func save(_ targets: [String]) async throws -> TestAPI.Answer {
            let references = targets.map { #"{"recordName":"\#($0)","action":"VALIDATE"}"# }
            return try await api.post(
                "private/records/modify",
                """
                {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"forceUpdate",\
                "record":{"recordName":"v","recordType":"Note","fields":{"all":{"value":\
                [\(references.joined(separator: ","))],"type":"REFERENCE_LIST"}}}}]}
                """,
                headers: Self.extended
            )
        }
        #expect(try await save(["a", "b"]).text.contains("recordChangeTag"))
        #expect(try await save(["a", "c"]).text.contains("VALIDATING_REFERENCE_ERROR"))
        let refused = try await save((0...5000).map { "n\($0)" })
        #expect(refused.status == 400)
        #expect(
            refused.error
                == .badRequest(
                    "the records of the request refer to 5001 others as parents or with VALIDATE, "
                        + "of at most 5000 (demandedRecords); save fewer at a time",
                    ckCode: CKErrorCode.limitExceeded
                )
        )
    }

    @Test("A deletion does not take along more than the server can notify of")
    func cascade() async throws {
        let api = try await crowded("a", "b", in: "Notes")
        try await api.save("x", in: "Notes")
        let query = """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"q",\
            "subscriptionType":"query","query":{"recordType":"Note"},"firesOn":["delete"]}}]}
            """
        #expect(
            try await api.post("private/subscriptions/modify", query).text.contains("firesOn"))
        let delete = """
            {"zoneID":{"zoneName":"Notes"},"operations":[\
            {"operationType":"forceDelete","record":{"recordName":"x"}}]}
            """
        let refused = try await api.post("private/records/modify", delete, headers: Self.extended)
        #expect(refused.error?.detail?.ckCode == CKErrorCode.limitExceeded)
        #expect(refused.error?.reason.contains("more than 1000 bytes") == true)
        _ = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Notes"},"operations":[\
            {"operationType":"forceDelete","record":{"recordName":"a"}}]}
            """
        )
        #expect(try await api.post("private/records/modify", delete).error == nil)
    }

    @Test(
        "TOK-15: one page's bytes are for all zones of a request; later ones wait, and miss nothing",
        arguments: [false, true]
    )
    func zonePages(reverse: Bool) async throws {
        let api = try await crowded("a", "b", "c", in: "Notes", "Books")
        var tokens: [String: String] = ["Notes": "", "Books": ""]
        var found: [String] = []
        var rounds = 0
        while !tokens.isEmpty, rounds < 10 {
            rounds += 1
            let zones = tokens.keys.sorted().flatMap { zone in
                let token = tokens[zone].map { $0.isEmpty ? "" : #","syncToken":"\#($0)""# } ?? ""
                let entry = #"{"zoneID":{"zoneName":"\#(zone)"},"reverse":\#(reverse)\#(token)}"#
                // The same zone over and over takes no more than once.
                return [entry, entry]
            }
            let answer = try await api.post(
                "private/changes/zone", #"{"zones":[\#(zones.joined(separator: ","))]}"#
            )
            let response = try JSONReader.read(Array(answer.text.utf8)) {
                try FetchZoneChanges.Response(from: &$0)
            }
            let pages = response.zones.compactMap { zone -> FetchZoneChanges.Page? in
                if case .changes(let page) = zone { page } else { nil }
            }
            #expect(pages.map(\.records.count).reduce(0, +) <= 2)
            for page in pages.enumerated().filter({ $0.offset.isMultiple(of: 2) }).map(\.element) {
                let zone = page.zoneID.zoneName
                for case .record(let record) in page.records {
                    found.append("\(zone)/\(record.recordName)")
                }
                tokens[zone] = page.moreComing ? page.syncToken : nil
            }
        }
        #expect(
            found.sorted() == [
                "Books/a", "Books/b", "Books/c", "Notes/a", "Notes/b", "Notes/c",
            ]
        )
    }
}
