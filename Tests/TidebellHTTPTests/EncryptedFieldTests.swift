// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Encrypted fields")
struct EncryptedFieldTests {
    /// Saves `n1` with these members of its fields, in the default zone.
    private func save(
        _ api: TestAPI, _ fields: String, in scope: String = "private"
    ) async throws -> TestAPI.Answer {
        try await api.post(
            "\(scope)/records/modify",
            """
            {"operations":[{"operationType":"forceUpdate","record":{"recordName":"n1",\
            "recordType":"Note","fields":{\(fields)}}}]}
            """
        )
    }

    private func query(_ api: TestAPI, _ field: String) async throws -> TestAPI.Answer {
        try await api.post(
            "public/records/query",
            """
            {"query":{"recordType":"Note","filterBy":[{"fieldName":"\(field)",\
            "comparator":"EQUALS","fieldValue":{"value":"x","type":"STRING"}}]}}
            """
        )
    }

    @Test("REC-11: a field that is there cannot become encrypted, whoever saves it where")
    func knownField() async throws {
        let api = try await TestAPI()
        _ = try await save(api, #""title":{"value":"x"}"#, in: "public")
        let refused = try await save(api, #""title":{"value":"x","isEncrypted":true}"#)
        #expect(refused.text.contains(#""serverErrorCode":"BAD_REQUEST""#))
        #expect(
            refused.text.contains(
                "Attempt to save encrypted data in non encrypted field type (field 'title' "
                    + "of record type 'Note')"
            )
        )
        #expect(try await query(api, "title").status == 200)
    }

    @Test("REC-11: a new field becomes encrypted with its first value and stays so")
    func newField() async throws {
        let api = try await TestAPI()
        let secret = #""secret":{"value":"x","isEncrypted":true}"#
        #expect(try await save(api, secret).text.contains(#""recordChangeTag""#))
        #expect(try await save(api, #""other":{"value":1}"#).text.contains(#""recordChangeTag""#))
        #expect(try await save(api, #""secret":{"value":null}"#).text.contains("recordChangeTag"))
        #expect(try await save(api, secret).text.contains(#""recordChangeTag""#))
        let plain = try await save(api, #""secret":{"value":"x"}"#)
        #expect(
            plain.text.contains(
                "Attempt to save plain data in encrypted field type (field 'secret' "
                    + "of record type 'Note')"
            )
        )
        #expect(try await query(api, "secret").status == 400)
    }

    @Test(
        "REC-11: assets and references are never encrypted",
        arguments: [
            #"{"value":{"recordName":"r","action":"NONE"},"type":"REFERENCE","isEncrypted":true}"#,
            #"{"value":[{"recordName":"r","action":"NONE"}],"type":"REFERENCE_LIST","isEncrypted":true}"#,
        ]
    )
    func kinds(field: String) async throws {
        let answer = try await save(try await TestAPI(), #""secret":\#(field)"#)
        #expect(answer.text.contains(#""serverErrorCode":"BAD_REQUEST""#))
        #expect(answer.text.contains("cannot be encrypted"))
    }

    @Test("ENV-1, SAVE-16: what is not stored leaves no trace in the schema")
    func failedSaves() async throws {
        let api = try await TestAPI()
        _ = try await save(api, #""a":{"value":1}"#)
        let failed = try await api.post(
            "private/records/modify",
            """
            {"operations":[{"operationType":"create","record":{"recordName":"n1",\
            "recordType":"Note","fields":{"b":{"value":1}}}},{"operationType":"forceUpdate",\
            "record":{"recordName":"n2","recordType":"Memo","fields":{"c":{"value":1},\
            "_d":{"value":1}}}},{"operationType":"forceUpdate","record":{"recordName":"n3",\
            "recordType":"Note","parent":{"recordName":"nobody"},"fields":{"e":{"value":1}}}},\
            {"operationType":"forceUpdate","record":{"recordName":"n4","recordType":"Note",\
            "fields":{"f":{"value":"text"}}}}]}
            """
        )
        let codes = failed.text.matches(of: /"serverErrorCode":"([A-Z_]*)"/).map(\.output.1)
        #expect(codes == ["EXISTS", "ACCESS_DENIED", "VALIDATING_REFERENCE_ERROR"])
        for field in ["b", "e"] {
            let saved = try await save(api, #""\#(field)":{"value":"text"}"#)
            #expect(saved.text.contains("recordChangeTag"), "\(field): \(saved.text)")
        }
        #expect(try await save(api, #""f":{"value":1}"#).text.contains("expected type STRING"))
        let query = try await api.post(
            "private/records/query", #"{"query":{"recordType":"Memo"}}"#
        )
        #expect(query.error?.reason == "Did not find record type: Memo")
    }

    @Test("ENV-1, SAVE-16: a field of a save that fails is added by the next one that has it")
    func fieldOfTwoSaves() async throws {
        let api = try await TestAPI()
        let answer = try await api.post(
            "private/records/modify",
            """
            {"operations":[{"operationType":"create","record":{"recordName":"n1",\
            "recordType":"Note","parent":{"recordName":"nobody"},"fields":{"e":{"value":1}}}},\
            {"operationType":"create","record":{"recordName":"n2","recordType":"Note",\
            "fields":{"e":{"value":2}}}}]}
            """
        )
        let codes = answer.text.matches(of: /"serverErrorCode":"([A-Z_]*)"/).map(\.output.1)
        #expect(codes == ["VALIDATING_REFERENCE_ERROR"])
        #expect(try await save(api, #""e":{"value":"x"}"#).text.contains("expected type INT64"))
    }
}
