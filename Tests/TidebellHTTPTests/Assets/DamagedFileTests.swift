// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire

@testable import TidebellSQL
@testable import TidebellSQLite
import TidebellServer
import TestSupport

/// What callers and the operator learn of kept files that the disk damaged.
@Suite("Damaged files")
struct DamagedFileTests {
    private let api: TestAPI
    private let asset: WireAsset
    /// Four frames.
    private static let bytes = Array(String(repeating: "0123456789", count: 20_000).utf8)

    init() async throws {
        api = try await TestAPI()
        let uploaded = try await api.upload(Self.bytes, to: "f", of: "r")
        _ = try await api.save(uploaded, as: "f", of: "r")
        asset = try await api.asset("f", of: "r")
    }

    /// The only kept file below the data folder.
    private var file: String {
        get throws {
            let name = try #require(try api.keptFiles().first)
            return "assets/kept/\(name.prefix(2))/\(name)"
        }
    }

    private func damage(_ change: (inout Data) throws -> Void) throws {
        let url = api.folder.appendingPathComponent(try file)
        var stored = try Data(contentsOf: url)
        try change(&stored)
        try stored.write(to: url)
    }

    private func line(_ problem: String) throws -> String {
        "a file of records is damaged or cannot be read; \(DamageHints.ofFiles)"
            + "put it back from a backup, where it has the same name "
            + #"["error=\#(problem)", "file=\#(try file)"]"#
    }

    private static let changed = "what is in it is not what was written"

    @Test("A file that is damaged in its middle breaks off, and the log names it once")
    func middle() async throws {
        try damage { $0.replaceSubrange(120_000..<120_004, with: [1, 2, 3, 4]) }
        for _ in 1...3 {
            await #expect(throws: (any Error).self) { try await api.download(asset) }
        }
        #expect(api.log.detailedLines == [try line(Self.changed)])
    }

    @Test("A file whose damage is found at once is an error that names it, and is logged once")
    func beginning() async throws {
        try damage { $0[5] ^= 1 }
        for _ in 1...3 {
            let answer = try await api.download(asset)
            #expect(answer.status == 500)
            #expect(answer.error?.reason.hasSuffix(DamageHints.ofAnswers) == true)
        }
        #expect(api.log.detailedLines == [try line(Self.changed)])
    }

    @Test(
        "What is no file, such as a pipe that blocks whoever opens it, is damaged like others",
        arguments: [S_IFIFO, S_IFSOCK, S_IFDIR]
    )
    func noFile(kind: mode_t) async throws {
        let path = api.folder.appendingPathComponent(try file).path
        try FileManager.default.removeItem(atPath: path)
        #expect((kind == S_IFDIR ? mkdir(path, 0o700) : mknod(path, kind | 0o600, 0)) == 0)
        let answer = try await api.download(asset)
        #expect(answer.status == 500)
        #expect(answer.error?.reason.hasSuffix(DamageHints.ofAnswers) == true)
        #expect(api.log.detailedLines == [try line("what stands there is no file")])
    }

    @Test(
        "A size in the database that no file has is an error, and ends nothing",
        arguments: [-1, Int64.max]
    )
    func impossibleSize(size: Int64) async throws {
        try await api.cloud.store.write(.everything) { transaction in
            let transaction = try #require(transaction as? SQLTransaction)
            try transaction.connection.run("UPDATE asset SET size = ?", size)
        }
        #expect(try await api.download(asset).status == 500)
    }

    @Test("A file that was cut is named in the log")
    func cut() async throws {
        try damage { $0 = $0.prefix(100) }
        #expect(try await api.download(asset).status == 500)
        #expect(api.log.detailedLines == [try line("it is shorter than it was")])
    }

    @Test("A file that somebody took away is named; one that the store forgot is not")
    func missing() async throws {
        let line = try line("it is missing")
        let url = api.folder.appendingPathComponent(try file)
        try FileManager.default.removeItem(at: url)
        for _ in 1...2 {
            let answer = try await api.download(asset)
            #expect(answer.status == 404)
            #expect(answer.error?.reason.contains("has lost the file") == true)
        }
        #expect(api.log.detailedLines == [line])
        let fresh = try await DamagedFileTests()
        _ = try await fresh.api.post(
            "private/records/modify",
            #"{"operations":[{"operationType":"forceDelete","record":{"recordName":"r"}}]}"#
        )
        let link = fresh.asset
        try await fresh.api.cloud.store.write(.everything) {
            _ = try $0.removeUnusedAssets(since: Instant(rawValue: .max), limit: 10)
        }
        #expect(try await fresh.api.download(link).status == 404)
        #expect(fresh.api.log.detailedLines == [])
    }

    @Test("ASSET-4: a file that is gone comes back with the next upload of its content")
    func comesBack() async throws {
        let bytes = try await api.download(asset).text
        try FileManager.default.removeItem(at: api.folder.appendingPathComponent(try file))
        let uploaded = try await api.upload(Array(bytes.utf8), to: "f", of: "other")
        #expect(try await api.save(uploaded, as: "f", of: "other").status == 200)
        #expect(try await api.download(api.asset("f", of: "other")).text == bytes)
        // Also for the record that had it before.
        #expect(try await api.download(asset).text == bytes)
        #expect(try api.keptFiles().count == 1)
    }
}
