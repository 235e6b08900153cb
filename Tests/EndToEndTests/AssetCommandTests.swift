// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Testing
import TidebellProcesses

private let curlPath = "/usr/bin/curl"

/// Files of records on a server as an operator runs it.
struct AssetCommandTests {
    private let program: TidebellProgram
    private let file: URL

    init() throws {
        program = try Built.tidebell()
        try FileManager.default.createDirectory(
            at: program.dataFolder, withIntermediateDirectories: true
        )
        file = program.dataFolder.appendingPathComponent("file")
    }

    private func record(bytes: Int) throws -> CKRecord {
        try Data(repeating: 65, count: bytes).write(to: file)
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        record["f"] = CKAsset(fileURL: file)
        return record
    }

    @Test(
        "ASSET-7: tidebell serve --max-asset-size bounds files; the refusal names field and sizes")
    func largestFile() async throws {
        let server = try await program.serve(arguments: ["--max-asset-size", "1k"])
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let (_, database) = try await Household(program: program, user: "anna").database()
        let error = try await #require(throws: CKError.self) {
            try await database.save(try record(bytes: 1025))
        }
        #expect(error.code == .limitExceeded)
        #expect(
            error.localizedDescription
                == "the file for field 'f' of record 'n' has 1025 bytes; "
                + "an asset may have 1024 here (assetBytes)"
        )
        // Longer than what the connection holds while the refusal is on its way.
        #expect(
            await #expect(throws: CKError.self) {
                try await database.save(try record(bytes: 32 << 20))
            }?.code == .limitExceeded
        )
        try await database.save(try record(bytes: 1024))
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    @Test(
        "A size that is none is refused in one sentence", arguments: ["0", "65G", "x", "1T", "-1"])
    func noSize(text: String) async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let error = try await #require(throws: ProcessFailure.self) {
            _ = try await program.run(["serve", "--max-asset-size=\(text)"])
        }
        #expect(
            error.description.contains(
                "--max-asset-size must be 1 to 64G (bytes, or with K, M or G), not '\(text)'."
            )
        )
    }

    /// Runs curl and returns what it printed.
    private func curl(_ arguments: [String]) async throws -> [String] {
        let child = try ChildProcess(
            URL(fileURLWithPath: curlPath), ["-sS"] + arguments, mergesErrors: true
        )
        var output: [String] = []
        for await line in child.lines {
            output.append(line.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        #expect(await child.waitUntilExit() == 0)
        return output
    }

    @Test(
        "curl gets a file, a part of it, its head, and nothing new when it has it",
        .enabled(if: FileManager.default.isExecutableFile(atPath: curlPath))
    )
    func withCurl() async throws {
        let server = try await program.serve()
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let home = try await Household(program: program, user: "anna")
        let (_, database) = try home.database()
        try await database.save(try record(bytes: 1024))
        let found = try await home.post("records/lookup", #"{"records":[{"recordName":"n"}]}"#)
        let url = try #require(
            found.components(separatedBy: #""downloadURL":""#).last?.split(separator: "\"").first
        ).replacingOccurrences(of: "${f}", with: "a.txt")
        let target = program.dataFolder.appendingPathComponent("copy").path
        let head = ["-D", "-", "-o", target]

        func headers(_ arguments: [String]) async throws -> [String: String] {
            var headers: [String: String] = [:]
            for line in try await curl(arguments + [url]) where !line.isEmpty {
                let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
                let name = parts[0].lowercased()
                #expect(headers[name] == nil, "\(name) is there twice")
                headers[name] = parts.count == 2 ? String(parts[1].dropFirst()) : ""
            }
            return headers.filter {
                ["content-length", "content-range"].contains($0.key) || $0.key.hasPrefix("http")
                    || $0.key == "etag"
            }
        }
        let tag = try #require(try await headers(["-I"])["etag"])
        let rows: [([String], [String: String])] = [
            (["-I"], ["http/1.1 200 ok": "", "content-length": "1024"]),
            (head, ["http/1.1 200 ok": "", "content-length": "1024"]),
            (
                head + ["-r", "2-4"],
                [
                    "http/1.1 206 partial content": "", "content-length": "3",
                    "content-range": "bytes 2-4/1024",
                ]
            ),
            (head + ["-H", "If-None-Match: \(tag)"], ["http/1.1 304 not modified": ""]),
        ]
        for (arguments, expected) in rows {
            let found = try await headers(arguments)
            #expect(found == expected.merging(["etag": tag]) { old, _ in old }, "\(arguments)")
        }
        try Data(repeating: 65, count: 1000).write(to: URL(fileURLWithPath: target))
        let resumed = try await curl(["-C", "-", "-o", target, "-w", "%{size_download}\n", url])
        #expect(resumed == ["24"])
        #expect(FileManager.default.contentsEqual(atPath: target, andPath: file.path))
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }
}
