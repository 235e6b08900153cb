// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire
import TidebellServer

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

    // MARK: Parents

    /// Changes records of the zone `Notes` (or, in `public`, of the default zone).
    private func modify(
        _ api: TestAPI, in scope: String = "private", atomic: Bool = false,
        as webToken: String? = nil,
        _ operations: String...
    ) async throws -> [String] {
        let zone = scope == "public" ? "" : #""zoneID":{"zoneName":"Notes"},"atomic":\#(atomic),"#
        let answer = try await api.send(
            "POST",
            api.target("\(scope)/records/modify")
                .replacing(api.webToken, with: webToken ?? api.webToken),
            "{\(zone)\"operations\":[\(operations.joined(separator: ","))]}"
        )
        #expect(answer.status == 200, "\(answer.text)")
        return answer.text.matches(
            of: /"serverErrorCode":"([A-Z_]*)"|"deleted":(true|false)/
        ).map { String($0.output.1 ?? $0.output.2 ?? "") }
    }

    /// An operation that saves a record, with a parent or a reference.
    private func save(
        _ name: String, parent: String? = nil, to target: String? = nil,
        _ action: String = "DELETE_SELF"
    ) -> String {
        let field = target.map {
            #""of":{"value":{"recordName":"\#($0)","action":"\#(action)"},"type":"REFERENCE"}"#
        }
        return #"{"operationType":"forceUpdate","record":{"recordName":"\#(name)","#
            + #""recordType":"Page","fields":{\#(field ?? "")}"#
            + (parent.map { #","parent":{"recordName":"\#($0)"}"# } ?? "") + "}}"
    }

    private func remove(_ name: String) -> String {
        #"{"operationType":"forceDelete","record":{"recordName":"\#(name)"}}"#
    }

    @Test("SAVE-24: a parent that would go with another record keeps that one")
    func cascadedParent() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        _ = try await modify(
            api, save("x"), save("y"), save("p", to: "x"), save("q", to: "p"),
            save("c", parent: "q")
        )
        #expect(
            try await modify(api, remove("x"), remove("y"))
                == ["VALIDATING_REFERENCE_ERROR", "true"])
        for name in ["x", "p", "q", "c"] {
            #expect(try await exists(api, name, in: "Notes"), "\(name)")
        }
        #expect(try await modify(api, remove("x"), remove("c")) == ["true", "true"])
        for name in ["x", "p", "q", "c"] {
            #expect(try await !exists(api, name, in: "Notes"), "\(name)")
        }
    }

    @Test("REF-6: a child does not outlive the parent that the same batch takes along")
    func childOfCascadedParent() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        _ = try await modify(api, save("x"), save("p", to: "x"), save("old", parent: "p"))
        #expect(
            try await modify(api, save("c", parent: "p"), save("old"), remove("x"))
                == ["false", "false", "VALIDATING_REFERENCE_ERROR"])
        _ = try await modify(api, remove("old"), remove("c"))
        #expect(
            try await modify(api, save("c", parent: "p"), remove("x"))
                == ["VALIDATING_REFERENCE_ERROR", "true"])
        for name in ["x", "p", "c"] {
            #expect(try await !exists(api, name, in: "Notes"), "\(name)")
        }
    }

    @Test("REF-4, REF-6: the child of a record that one reference too many keeps away fails too")
    func childOfRefusedParent() async throws {
        var limits = Limits()
        limits.deleteSelfReferences = 1
        let api = try await TestAPI(limits: limits)
        try await api.makeZone("Notes")
        _ = try await modify(api, save("x"), save("a", to: "x"))
        #expect(
            try await modify(api, save("c", parent: "p"), save("p", to: "x"))
                == ["VALIDATING_REFERENCE_ERROR", "BAD_REQUEST"])
        #expect(try await !exists(api, "c", in: "Notes"))
    }

    @Test("SAVE-24: in the public database nobody keeps another's record by a child of theirs")
    func publicParent() async throws {
        let api = try await TestAPI()
        let ben = try await api.cloud.accounts.add(named: "ben")
        _ = try await modify(api, in: "public", save("mine"), save("validated"))
        _ = try await modify(
            api, in: "public", as: ben, save("child", parent: "mine"),
            save("source", to: "validated", "VALIDATE")
        )
        #expect(
            try await modify(api, in: "public", remove("mine"), remove("validated"))
                == ["true", "true"])
        // Both can still be changed by the user who made them.
        #expect(
            try await modify(api, in: "public", as: ben, save("child"), save("source"))
                == ["false", "false"])
        #expect(
            try await modify(api, in: "public", as: ben, save("late", parent: "mine"))
                == ["VALIDATING_REFERENCE_ERROR"])
    }

    @Test("REF-10: what VALIDATE refers to must exist, and stays as long as the reference")
    func validated() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        #expect(
            try await modify(api, save("a", to: "b", "VALIDATE")) == ["VALIDATING_REFERENCE_ERROR"])
        #expect(
            try await modify(api, save("a", to: "b", "VALIDATE"), save("b")) == ["false", "false"])
        #expect(try await modify(api, remove("b")) == ["VALIDATING_REFERENCE_ERROR"])
        #expect(
            try await modify(api, save("a"), remove("b")) == [
                "false", "VALIDATING_REFERENCE_ERROR",
            ])
        #expect(try await modify(api, save("b"), save("a", to: "b", "NONE")) == ["false", "false"])
        #expect(try await modify(api, remove("b")) == ["true"])
    }

    @Test(
        "REF-2: in the public database nobody keeps another's record by references without end",
        arguments: [false, true]
    )
    func publicCascade(byBytes: Bool) async throws {
        var limits = Limits()
        if byBytes { limits.cascadedDeletionBytes = 100 } else { limits.cascadedDeletions = 1 }
        let api = try await TestAPI(limits: limits)
        let ben = try await api.cloud.accounts.add(named: "ben")
        _ = try await modify(api, in: "public", save("mine"))
        _ = try await modify(
            api, in: "public", as: ben, save("a", to: "mine"), save("b", to: "mine"))
        let query = """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"q",\
            "subscriptionType":"query","query":{"recordType":"Page"},"firesOn":["delete"]}}]}
            """
        #expect(try await api.post("public/subscriptions/modify", query).text.contains("firesOn"))
        // What stays may get a child.
        #expect(
            try await modify(api, in: "public", remove("mine"), save("c", parent: "a"))
                == ["true", "false"])
        #expect(
            try await modify(api, in: "public", as: ben, save("a"), save("b")) == [
                "false", "false",
            ])
    }
}
