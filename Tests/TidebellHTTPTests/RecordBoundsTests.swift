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
}
