// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire

@testable import TidebellSQL
@testable import TidebellSQLite
import TestSupport
import TidebellServer

/// What is left of a zone when the disk damages the fields of one of its records.
@Suite("Damaged records")
struct DamagedRecordTests {
    private let api: TestAPI

    init() async throws {
        api = try await TestAPI()
        try await api.makeZone("Z")
        for name in ["a", "b", "c"] { try await save(name) }
    }

    private func save(_ name: String) async throws {
        let answer = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Z"},"operations":[{"operationType":"create","record":\
            {"recordName":"\(name)","recordType":"Note","fields":{"title":{"value":"marker"}}}}]}
            """
        )
        try #require(answer.status == 200)
    }

    /// Changes what the file holds of record `b`, as a bad page would.
    private func damage(_ change: String) async throws {
        try await api.cloud.store.write(.everything) { transaction in
            let transaction = try #require(transaction as? SQLTransaction)
            try transaction.connection.run("UPDATE record SET \(change) WHERE name = 'b'")
        }
    }

    private static let breaksJSON =
        #"fields = CAST(replace(CAST(fields AS TEXT), 'marker', 'mar"er') AS BLOB)"#
    private static let keepsJSON =
        "fields = CAST(replace(CAST(fields AS TEXT), 'marker', 'market') AS BLOB)"

    /// Record names with the code of those that failed, from any answer with records.
    private func outcomes(_ answer: TestAPI.Answer) throws -> [String: String] {
        try #require(answer.status == 200)
        var root = try #require(
            try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any]
        )
        if let zone = (root["zones"] as? [[String: Any]])?.first { root = zone }
        let records = try #require(root["records"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: records.map { record in
                let reason = record["reason"] as? String ?? ""
                if let code = record["serverErrorCode"] as? String {
                    #expect(reason.contains("record 'b' of zone 'Z' is damaged"), "\(code)")
                    #expect(reason.contains("its operator finds it \(DamageHints.ofAnswers);"))
                }
                return (
                    record["recordName"] as? String ?? "",
                    record["serverErrorCode"] as? String ?? "ok"
                )
            }
        )
    }

    private static let reads: [(path: String, body: String)] = [
        ("private/changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Z"}}]}"#),
        ("private/records/changes", #"{"zoneID":{"zoneName":"Z"}}"#),
        (
            "private/records/lookup",
            """
            {"zoneID":{"zoneName":"Z"},"records":[{"recordName":"a"},{"recordName":"b"},\
            {"recordName":"c"}]}
            """
        ),
        (
            "private/records/query",
            """
            {"zoneID":{"zoneName":"Z"},"query":{"recordType":"Note","filterBy":[{"fieldName":\
            "title","comparator":"EQUALS","fieldValue":{"value":"marker"}}]}}
            """
        ),
        (
            "private/records/query",
            """
            {"zoneID":{"zoneName":"Z"},"query":{"recordType":"Note","sortBy":[{"fieldName":\
            "title","ascending":true}]}}
            """
        ),
    ]

    @Test(
        "M6: a damaged record is an item error that names it; the rest of the page comes",
        .onSQLite,
        arguments: [breaksJSON, keepsJSON, breaksJSON + ", checksum = NULL"]
    )
    func pages(change: String) async throws {
        try await damage(change)
        for (path, body) in Self.reads {
            let found = try outcomes(try await api.post(path, body))
            #expect(found == ["a": "ok", "b": "INTERNAL_ERROR", "c": "ok"], "\(path)")
        }
        #expect(
            api.log.detailedLines
                == [
                    "a record is damaged; \(DamageHints.ofTheLog) "
                        + #"["container=\#(TestAPI.container)", "database=private", "#
                        + #""environment=development", "record=b", "zone=Z"]"#
                ]
        )
    }

    @Test(
        "M6: what flips before a record's fields damages it: it is named, and forceReplace mends it",
        arguments: [
            "type = 'Nute'", "created_by = 'x'", "created_at = created_at + 1",
            "modified_device = 'x'", "parent = 'x'", "deleted = 1", "size = size + 64",
        ])
    func head(change: String) async throws {
        try await damage(change)
        for (path, body) in Self.reads[0...2] {
            let found = try outcomes(try await api.post(path, body))
            #expect(found == ["a": "ok", "b": "INTERNAL_ERROR", "c": "ok"], "\(path)")
        }
        let answer = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Z"},"operations":[{"operationType":"forceReplace","record":\
            {"recordName":"b","recordType":"Note","fields":{"title":{"value":"marker"}}}}]}
            """
        )
        #expect(try outcomes(answer) == ["b": "ok"])
        for (path, body) in Self.reads {
            let found = try outcomes(try await api.post(path, body))
            #expect(found == ["a": "ok", "b": "ok", "c": "ok"], "\(path)")
        }
    }

    @Test(
        "M6: of a record with a checksum of its fields alone, dates and sizes that none has are damage",
        arguments: [
            "created_at = 9223372036854775807", "modified_at = -9223372036854775807",
            "size = 9223372036854775807", "deleted = 1",
        ])
    func olderHead(change: String) async throws {
        try await api.cloud.store.write(.everything) { transaction in
            let transaction = try #require(transaction as? SQLTransaction)
            let fields = try #require(
                try transaction.connection.first("SELECT fields FROM record WHERE name = 'b'") {
                    $0.bytes(0)
                })
            try transaction.connection.run(
                "UPDATE record SET checksum = ? WHERE name = 'b'", FieldChecksum.of(fields))
        }
        let (path, body) = Self.reads[0]
        #expect(
            try outcomes(try await api.post(path, body)) == ["a": "ok", "b": "ok", "c": "ok"])
        try await damage(change)
        #expect(
            try outcomes(try await api.post(path, body))
                == ["a": "ok", "b": "INTERNAL_ERROR", "c": "ok"])
    }

    @Test("M6: a record of an older version, without checksum, is read as it is")
    func withoutChecksum() async throws {
        try await damage("checksum = NULL")
        let (path, body) = Self.reads[0]
        let found = try outcomes(try await api.post(path, body))
        #expect(found == ["a": "ok", "b": "ok", "c": "ok"])
    }

    @Test(
        "M6: a damaged record is mended by forceReplace or a deletion, and not merged into",
        .onSQLite,
        arguments: ["forceReplace", "forceDelete", "forceUpdate"]
    )
    func writes(type: String) async throws {
        try await damage(Self.breaksJSON)
        let answer = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Z"},"operations":[{"operationType":"\(type)","record":\
            {"recordName":"b","recordType":"Note","fields":{}}}]}
            """
        )
        let merges = type == "forceUpdate"
        #expect(try outcomes(answer) == ["b": merges ? "INTERNAL_ERROR" : "ok"])
        let (path, body) = Self.reads[0]
        let found = try outcomes(try await api.post(path, body))
        let left: [String: String] =
            switch type {
            case "forceReplace": ["b": "ok"]
            case "forceUpdate": ["b": "INTERNAL_ERROR"]
            default: [:]
            }
        #expect(found == left.merging(["a": "ok", "c": "ok"]) { first, _ in first })
    }
}
