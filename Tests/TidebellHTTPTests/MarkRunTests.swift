// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire
import TidebellServer

/// Texts whose comparison would take hours if it took a time that grows with the square of
/// their runs of marks: a test that ends proves that it does not.
@Suite("Requests with long runs of marks")
struct MarkRunTests {
    private static let pairs = 100_000
    private static let marks = "a" + String(repeating: "\u{301}\u{316}", count: pairs)
    /// The same text, spelled otherwise.
    private static let otherMarks = "a" + String(repeating: "\u{316}\u{301}", count: pairs)

    private let api: TestAPI

    init() async throws {
        api = try await TestAPI()
        try await api.makeZone("Notes")
    }

    private func isRefused(
        _ endpoint: String, _ body: String, naming path: String
    ) async throws -> Bool {
        let answer = try await api.post("private/\(endpoint)", body)
        let reason = answer.error?.reason ?? ""
        return answer.status == 400 && answer.text.utf8.count < 500
            && reason.hasSuffix("more than the 1024 of a name in \(path)")
    }

    private func operation(_ record: String) -> String {
        #"{"operationType":"forceReplace","record":{"recordType":"Note",\#(record)}}"#
    }

    private func save(_ records: String...) async throws -> TestAPI.Answer {
        let operations = records.map(operation).joined(separator: ",")
        return try await api.post(
            "private/records/modify",
            #"{"zoneID":{"zoneName":"Notes"},"atomic":true,"operations":[\#(operations)]}"#
        )
    }

    @Test("of a password: its length is looked at first")
    func password() async throws {
        // A command's does not come in JSON.
        #expect(!PasswordRule.mayBeTried(Self.marks))
        try await api.cloud.accounts.setPassword("correct horse", of: "me", cost: .least)
        let answer = try await api.send(
            "POST", api.target(under: "ext", "account/signIn"),
            #"{"user":"me","password":"\#(Self.marks)"}"#
        )
        #expect(answer.error?.code == .authenticationFailed)
        let name = try await api.send(
            "POST", api.target(under: "ext", "account/signIn"),
            #"{"user":"\#(Self.marks)","password":"correct horse","\#(Self.marks)":1}"#
        )
        #expect(name.error?.code == .authenticationFailed)
    }

    @Test("of names: the request is refused, and what is too long is named")
    func names() async throws {
        let marks = Self.marks
        let record = operation(#""recordName":"\#(marks)""#)
        #expect(
            try await isRefused(
                "records/modify",
                #"{"zoneID":{"zoneName":"Notes"},"operations":[\#(record)]}"#,
                naming: "operations[0].record.recordName"))
        #expect(
            try await isRefused(
                "zones/lookup", #"{"zones":[{"zoneName":"\#(marks)"}]}"#,
                naming: "zones[0].zoneName"))
        #expect(
            try await isRefused(
                "subscriptions/lookup", #"{"subscriptions":[{"subscriptionID":"\#(marks)"}]}"#,
                naming: "subscriptions[0].subscriptionID"))
        #expect(
            try await isRefused(
                "records/query",
                #"{"query":{"recordType":"Note","sortBy":[{"fieldName":"\#(marks)"}]}}"#,
                naming: "query.sortBy[0].fieldName"))
    }

    @Test("of a field's name: its record is refused, and the others are saved")
    func fieldName() async throws {
        let answer = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Notes"},"atomic":false,"operations":[\
            \(operation(#""recordName":"n1","fields":{"\#(Self.marks)":{"value":1}}"#)),\
            \(operation(#""recordName":"n2""#))]}
            """
        )
        #expect(answer.status == 200)
        #expect(answer.text.utf8.count < 2000)
        #expect(answer.text.contains("must be a letter followed by letters"))
        #expect(answer.text.contains(#""recordName":"n2","recordType":"Note""#))
    }

    @Test("QUERY-8: of values: they are saved, found and sorted as the text they are")
    func values() async throws {
        let saved = try await save(
            #""recordName":"n1","fields":{"t":{"value":"\#(Self.marks)"}}"#,
            #""recordName":"n2","fields":{"t":{"value":"\#(Self.otherMarks)"}}"#,
            #""recordName":"n3","fields":{"t":{"value":"b"}}"#
        )
        #expect(saved.status == 200)
        let found = { (query: String) in
            try await api.post(
                "private/records/query",
                """
                {"zoneID":{"zoneName":"Notes"},"desiredKeys":[],\
                "query":{"recordType":"Note",\(query)}}
                """
            ).recordNames
        }
        let filter = { (comparator: String) in
            #""filterBy":[{"comparator":"\#(comparator)","fieldName":"t","fieldValue":{"value":"az"}}]"#
        }
        let sort = #""sortBy":[{"fieldName":"t"},{"systemFieldName":"recordName"}]"#
        #expect(try await found(sort) == ["n1", "n2", "n3"])
        #expect(try await found(filter("EQUALS")) == [])
        #expect(try await found(filter("BEGINS_WITH")) == [])
        #expect(try await found(filter("GREATER_THAN") + "," + sort) == ["n1", "n2", "n3"])
        #expect(try await found(filter("CONTAINS_ALL_TOKENS")) == [])
    }

    @Test("of a header field or a parameter of the path")
    func head() async throws {
        let marks = String(repeating: "\u{301}\u{316}", count: 20_000)
        let answer = try await api.send(
            "GET", api.target("public/users/caller") + "&clientId=x\(marks)",
            headers: ["If-None-Match": marks, "Range": marks, "X-CloudKit-Group-Name": marks]
        )
        #expect(answer.status == 400)
        #expect(answer.text.utf8.count < 500)
    }

    @Test("HIGH-2: a name is repeated in the error of each item by no more than 60 bytes")
    func amplification() async throws {
        // One character of 999 bytes.
        let name = "a" + String(repeating: "\u{301}", count: 499)
        let records = (1..<200).map { #"{"recordName":"n\#($0)","recordType":"Note"}"# }
        let operations = (records + [#"{"recordName":"\#(name)","recordType":"Note"}"#]).map {
            #"{"operationType":"create","record":\#($0)}"#
        }
        let answer = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Notes"},"atomic":true,\
            "operations":[\(operations.joined(separator: ","))]}
            """
        )
        #expect(answer.status == 200)
        #expect(answer.text.contains("ATOMIC_ERROR"))
        #expect(answer.text.utf8.count < 200 * 300)
    }
}
