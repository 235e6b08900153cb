// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("References between records")
struct ReferenceTests {
    /// Saves a record whose field `of` refers to another one.
    private func refer(
        _ api: TestAPI, from name: String, to reference: String, in zone: String = "Notes"
    ) async throws -> TestAPI.Answer {
        try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"\(zone)"},"atomic":false,"operations":[\
            {"operationType":"forceUpdate","record":{"recordName":"\(name)","recordType":"Page",\
            "fields":{"of":{"value":\(reference),"type":"REFERENCE"}}}}]}
            """
        )
    }

    private func delete(_ api: TestAPI, _ name: String, in zone: String) async throws {
        let answer = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"\(zone)"},"operations":[\
            {"operationType":"forceDelete","record":{"recordName":"\(name)"}}]}
            """
        )
        #expect(answer.text.contains(#""deleted":true"#))
    }

    private func exists(_ api: TestAPI, _ name: String, in zone: String) async throws -> Bool {
        try await api.post(
            "private/records/lookup",
            #"{"zoneID":{"zoneName":"\#(zone)"},"records":[{"recordName":"\#(name)"}]}"#
        ).text.contains("created")
    }

    @Test("REF-1: a reference with an action into another zone is refused, by field and zone")
    func otherZone() async throws {
        let api = try await TestAPI()
        for zone in ["Notes", "Books"] {
            try await api.makeZone(zone)
            try await api.save("b", in: zone)
        }
        for action in ["DELETE_SELF", "VALIDATE"] {
            let answer = try await refer(
                api, from: "p",
                to: #"{"recordName":"b","zoneID":{"zoneName":"Books"},"action":"\#(action)"}"#
            )
            #expect(answer.text.contains(#""serverErrorCode":"BAD_REQUEST""#))
            #expect(answer.text.contains("field 'of'") && answer.text.contains("zone 'Books'"))
        }
        let other = try await refer(
            api, from: "p",
            to: """
                {"recordName":"b","zoneID":{"zoneName":"Notes","ownerRecordName":"_someone"},\
                "action":"DELETE_SELF"}
                """
        )
        #expect(other.text.contains(#""serverErrorCode":"BAD_REQUEST""#))
        // Without an action it is a name and nothing more.
        let plain = try await refer(
            api, from: "p",
            to: #"{"recordName":"b","zoneID":{"zoneName":"Books"},"action":"NONE"}"#
        )
        #expect(plain.text.contains(#""recordChangeTag""#))
        try await delete(api, "b", in: "Notes")
        #expect(try await exists(api, "p", in: "Notes"))
    }

    @Test(
        "REF-1: the record's own zone may be named, with any spelling of its owner",
        arguments: ["", #","ownerRecordName":"__defaultOwner__""#, #","ownerRecordName":"ME""#]
    )
    func sameZone(owner: String) async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        try await api.save("b", in: "Notes")
        let owner = owner.replacing("ME", with: api.user)
        let answer = try await refer(
            api, from: "p",
            to: #"{"recordName":"b","zoneID":{"zoneName":"Notes"\#(owner)},"action":"DELETE_SELF"}"#
        )
        #expect(answer.text.contains(#""recordChangeTag""#))
        try await delete(api, "b", in: "Notes")
        #expect(try await !exists(api, "p", in: "Notes"))
    }
}
