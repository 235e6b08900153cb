// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("records/modify, lookup")
struct RecordsTests {
    private static let createNote = """
        {"zoneID":{"zoneName":"Notes"},"atomic":true,"operations":[{"operationType":"create",\
        "record":{"recordName":"n1","recordType":"Note","fields":{"title":{"value":"hello"},\
        "rank":{"type":"INT64","value":3}}}}]}
        """

    /// The record of `createNote` as answers carry it.
    private func note(_ api: TestAPI, device: Substring) -> String {
        let stamp =
            #"{"timestamp":\#(TestAPI.start.rawValue),"userRecordName":"\#(api.user)","#
            + #""deviceID":"\#(device)"}"#
        return """
            {"recordName":"n1","recordType":"Note","fields":{"rank":{"value":3,"type":"INT64"},\
            "title":{"value":"hello","type":"STRING"}},"pluginFields":{},"recordChangeTag":"\(Self.secondTag)",\
            "created":\(stamp),"modified":\(stamp),"deleted":false,"zoneID":\(api.zoneID("Notes"))}
            """
    }

    /// The tag of the database's second change, while the clock stands.
    private static let secondTag = Position(rawValue: TestAPI.start.rawValue + 1).changeTag

    @Test("A created record comes back whole (web-services 6)")
    func createsRecord() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        let answer = try await api.post(
            "private/records/modify", Self.createNote, query: "&clientId=6f2c"
        )
        #expect(answer.status == 200)
        let device = try #require(answer.text.firstMatch(of: /"deviceID":"([0-9a-f]{32})"/))
        #expect(answer.text == #"{"records":[\#(note(api, device: device.output.1))]}"#)
    }

    @Test("An atomic batch with a conflict fails whole, each item at its position (SAVE-15)")
    func atomicConflict() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        try await api.save("n0", in: "Notes")
        let answer = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Notes"},"operations":[\
            {"operationType":"create","record":{"recordName":"n1","recordType":"Note"}},\
            {"operationType":"update","record":{"recordName":"n0","recordChangeTag":"old"}}]}
            """
        )
        #expect(answer.status == 200)
        let reasons = answer.text.matches(of: /"serverErrorCode":"([A-Z_]*)"/).map(\.output.1)
        #expect(reasons == ["ATOMIC_ERROR", "CONFLICT"])
        #expect(answer.text.contains(#""reason":"client oplock error updating record""#))
        #expect(!answer.text.contains("uuid"))
        #expect(!answer.text.contains("ext"))
    }

    @Test("A conflict carries the server's record for clients that opted in, and only then (9)")
    func conflictDetail() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        try await api.save("n0", in: "Notes")
        let update = """
            {"zoneID":{"zoneName":"Notes"},"operations":[\
            {"operationType":"update","record":{"recordName":"n0","recordChangeTag":"old"}}]}
            """
        let plain = try await api.post("private/records/modify", update)
        let extended = try await api.post(
            "private/records/modify", update, headers: ["X-Tidebell-Extensions": "1"]
        )
        #expect(!plain.text.contains(#""ext""#))
        #expect(extended.text.contains(#""ext":{"#))
        #expect(extended.text.contains(#""serverRecord":{"recordName":"n0""#))
    }

    @Test(
        "What times are away from their millisecond is answered to clients that opted in only (9)")
    func nanoseconds() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        let fields =
            #"{"at":{"value":7,"type":"TIMESTAMP","nanoseconds":250},"#
            + #""nanoseconds":{"value":1,"type":"INT64"}}"#
        let save = """
            {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"forceUpdate",\
            "record":{"recordName":"n1","recordType":"Note","fields":\(fields)}}]}
            """
        let bodies = [
            ("private/records/modify", save),
            (
                "private/records/lookup",
                #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"n1"}]}"#
            ),
            ("private/changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#),
        ]
        let plain = fields.replacing(#","nanoseconds":250"#, with: "")
        for (path, body) in bodies {
            let extended = try await api.post(
                path, body, headers: ["X-Tidebell-Extensions": "1"]
            )
            #expect(extended.text.contains(#""fields":\#(fields)"#), "\(path)")
            let answer = try await api.post(path, body)
            // The save of a client without extensions goes last: it keeps what it sent.
            #expect(answer.text.contains(#""fields":\#(plain)"#), "\(path)")
        }
    }

    @Test("A deleted record is acknowledged with deleted (10.9)")
    func deletesRecord() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        try await api.save("n0", in: "Notes")
        let answer = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Notes"},"operations":[\
            {"operationType":"forceDelete","record":{"recordName":"n0"}}]}
            """
        )
        #expect(answer.text == #"{"records":[{"recordName":"n0","deleted":true}]}"#)
    }

    @Test("Echoed response members and unknown ones are ignored in an update (1.2, 10.20)")
    func ignoresEchoes() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        _ = try await api.post("private/records/modify", Self.createNote)
        let answer = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Notes","zoneType":"REGULAR_CUSTOM_ZONE"},"filterBy":null,\
            "desiredKeys":null,"operations":[{"operationType":"update","note":[1,{"a":null}],\
            "record":{"recordName":"n1","recordChangeTag":"\(Self.secondTag)","pluginFields":{},"deleted":false,\
            "created":{"timestamp":1},"modified":null,"fields":{"title":{"value":null}}}}]}
            """
        )
        #expect(answer.status == 200)
        #expect(answer.text.contains(#""fields":{"rank":{"value":3,"type":"INT64"}}"#))
    }

    @Test("A lookup answers in order, a missing record as an item (5.3)")
    func looksUp() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        _ = try await api.post("private/records/modify", Self.createNote, query: "&clientID=6f2c")
        let answer = try await api.post(
            "private/records/lookup",
            #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"no"},{"recordName":"n1"}]}"#
        )
        let device = try #require(answer.text.firstMatch(of: /"deviceID":"([0-9a-f]{32})"/))
        #expect(
            answer.text == """
                {"records":[{"recordName":"no","reason":"Record not found",\
                "serverErrorCode":"NOT_FOUND"},\(note(api, device: device.output.1))]}
                """
        )
    }

    @Test("desiredKeys [] means no fields (10.16)")
    func desiresNothing() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        _ = try await api.post("private/records/modify", Self.createNote)
        let answer = try await api.post(
            "private/records/lookup",
            #"{"zoneID":{"zoneName":"Notes"},"desiredKeys":[],"records":[{"recordName":"n1"}]}"#
        )
        #expect(answer.text.contains(#""fields":{},"#))
    }

    @Test("INT64 comes as text with numbersAsStrings (10.18)")
    func numbersAsStrings() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        _ = try await api.post("private/records/modify", Self.createNote)
        let answer = try await api.post(
            "private/records/lookup",
            """
            {"zoneID":{"zoneName":"Notes"},"numbersAsStrings":true,\
            "records":[{"recordName":"n1"}]}
            """
        )
        #expect(answer.text.contains(#""rank":{"value":"3","type":"INT64"}"#))
    }

    @Test(
        "A request of 200 items is taken, one of 201 is not; clients that opted in have 400 (LIMIT-1)"
    )
    func itemLimit() async throws {
        let api = try await TestAPI()
        func lookup(_ count: Int, headers: [String: String] = [:]) async throws -> TestAPI.Answer {
            let items = (0..<count).map { #"{"recordName":"r\#($0)"}"# }.joined(separator: ",")
            return try await api.post(
                "private/records/lookup", #"{"records":[\#(items)]}"#, headers: headers
            )
        }
        let extended = ["X-Tidebell-Extensions": "1"]
        #expect(try await lookup(200).status == 200)
        let refused = try await lookup(201)
        #expect(refused.status == 400)
        #expect(refused.error?.code == .badRequest)
        #expect(
            refused.error?.reason
                == "Your request contains 201 items which is more than the maximum number of items "
                + "in a single request (200)"
        )
        #expect(try await lookup(400, headers: extended).status == 200)
        let extendedRefused = try await lookup(401, headers: extended)
        #expect(extendedRefused.error?.detail?.ckCode == CKErrorCode.limitExceeded)
    }
}
