// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing
import TidebellCore
import TidebellWire

@Suite("What looking up costs")
struct LookupWorkTests {
    /// Counts the URLs that are made.
    private final class CountingSeals: AssetSeals {
        private let count = Mutex(0)
        var urls: Int { count.withLock { $0 } }

        func seal(_ receipt: AssetReceipt) -> String { "" }
        func receipt(_ text: String) -> AssetReceipt? { nil }
        func url(of link: AssetLink) -> String {
            count.withLock { $0 += 1 }
            return "https://here/file"
        }
        func link(url: String) -> AssetLink? { nil }
        func keys(of content: AssetContent) -> (wrappingKey: String, referenceChecksum: String) {
            ("", "")
        }
    }

    /// A record with a file, whatever way that came.
    private func makeRecord(on bench: Bench, holding fields: [String: Field]) async throws -> Int {
        _ = try await bench.makeZone("Notes")
        _ = try await bench.modify(.save(.create, "a", title: "one"))
        let call = bench.call()
        return try await bench.store.write(.everything) { transaction in
            let key = try call.database().key
            let database = try #require(try transaction.database(key))
            let zone = try #require(try transaction.zones(["Notes"], in: database.id).first)
            var record = try #require(try transaction.records(["a"], in: zone.key)["a"])
            record.fields = RecordFields(fields)
            try transaction.putRecords([record], in: zone.key)
            return record.fields.json.count
        }
    }

    private static let file = Field(
        .asset(WireAsset(fileChecksum: "sum", size: 3, content: "content"))
    )

    @Test("A record that is named often is made once for each selection of fields")
    func once() async throws {
        let bench = try await Bench()
        _ = try await makeRecord(
            on: bench, holding: ["file": Self.file, "title": Field(.string("one"))]
        )
        func urls(_ common: [String]?, _ own: [String]?...) async throws -> Int {
            let seals = CountingSeals()
            var call = bench.call()
            call.assetSeals = seals
            let named = call
            let request = LookupRecords.Request(
                zoneID: ZoneID(zoneName: "Notes"),
                records: (0..<200).map {
                    .init(recordName: "a", desiredKeys: own.isEmpty ? nil : own[$0 % own.count])
                },
                desiredKeys: common
            )
            let answer = try await bench.store.read {
                try LookupRecords.run(request, for: named, in: $0)
            }
            #expect(answer.records.count == 200)
            #expect(answer.records.allSatisfy { $0.record?.recordName == "a" })
            return seals.urls
        }
        let runs = try await urls(nil)
        // A store of tests may run each body twice.
        #expect(runs == 1 || runs == 2)
        #expect(try await urls(["file"]) == runs)
        #expect(try await urls(nil, ["file"], ["file", "title"]) == 2 * runs)
        #expect(try await urls(["title"]) == 0)
        #expect(try await urls([]) == 0)
    }

    @Test("Each item of an answer counts for the budget of a read")
    func budget() async throws {
        let bench = try await Bench()
        let fields = ["s": Field(.string(#"ASSETID, "type":"ASSETID""#)), "n": Field(.int64(1))]
        let bytes = try await makeRecord(on: bench, holding: fields)
        func look(_ count: Int, _ desiredKeys: [String]?, within bytes: Int) async throws -> Int {
            let request = LookupRecords.Request(
                zoneID: ZoneID(zoneName: "Notes"),
                records: (0..<count).map { _ in .init(recordName: "a") }, desiredKeys: desiredKeys
            )
            let call = bench.call()
            return try await bench.store.read(.within(ReadBudget(records: 1, bytes: bytes))) {
                try LookupRecords.run(request, for: call, in: $0)
            }.records.count
        }
        // A text that speaks of files is no file: the fields go out as they are stored.
        #expect(try await look(3, nil, within: 3 * bytes) == 3)
        await #expect(throws: ReadBudgetPassed.self) {
            try await look(3, nil, within: 3 * bytes - 1)
        }
        // Selecting costs once; what is repeated is empty.
        #expect(try await look(200, [], within: 3 * bytes + 200 * 2) == 200)
        await #expect(throws: ReadBudgetPassed.self) { try await look(1, [], within: bytes) }
    }
}
