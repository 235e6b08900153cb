// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Crypto
import Foundation
import Synchronization
import TestSupport
import Testing

/// A device that saves records with files, each under a name of its own.
final class FileWriter: Sendable {
    /// What was saved.
    struct Saved {
        /// The digests of files whose record was acknowledged.
        var acknowledged: [String: SHA256Digest] = [:]
        /// Those of saves that got no answer.
        var unknown: [String: SHA256Digest] = [:]

        /// What is wrong with the records that came back, as sentences.
        func problems(in found: [String: Found]) -> [String] {
            let lost = acknowledged.keys.filter { found[$0] == nil }.map {
                "the record of \($0) is lost"
            }
            let wrong = found.compactMap { name, found -> String? in
                guard let digest = found.digest else { return "the file of \(name) is lost" }
                return digest == acknowledged[name] ?? unknown[name]
                    ? nil : "the file of \(name) is another one"
            }
            return lost.sorted() + wrong.sorted()
        }
    }

    /// A record that came back.
    struct Found {
        /// The digest of its file; nil where it has none.
        var digest: SHA256Digest?
    }

    private static let largest = 100_000

    private let household: Household
    private let folder: URL
    private let ledger: Ledger
    private let state = Mutex(Saved())

    /// Creates a writer that keeps its files in a folder until they are saved, and pauses when the ledger says so.
    init(household: Household, folder: URL, ledger: Ledger = Ledger()) throws {
        self.household = household
        self.ledger = ledger
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    var acknowledged: Int { state.withLock(\.acknowledged.count) }

    /// Saves so many files, or fewer if the task is cancelled.
    func write(seed: UInt64, upTo count: Int = .max) async throws {
        var random = SeededGenerator(seed: seed)
        let (_, database) = try household.database()
        var number = 0
        while !Task.isCancelled, number < count {
            await ledger.pace()
            number += 1
            let name = "file-\(number)"
            let bytes = Data(
                (0..<Int.random(in: 1...Self.largest, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            )
            let url = folder.appendingPathComponent(name)
            try bytes.write(to: url)
            let record = CKRecord(
                recordType: "File", recordID: CKRecord.ID(recordName: name)
            )
            record["file"] = CKAsset(fileURL: url)
            let digest = SHA256.hash(data: bytes)
            do {
                _ = try await database.save(record)
                state.withLock { $0.acknowledged[name] = digest }
            } catch {
                state.withLock { $0.unknown[name] = digest }
            }
            try? FileManager.default.removeItem(at: url)
        }
    }

    /// Looks at every file that was acknowledged, and at every one that may be there.
    func check() async throws {
        let (_, database) = try household.database(in: folder)
        let saved = state.withLock(\.self)
        let names = Array(saved.acknowledged.keys) + Array(saved.unknown.keys)
        var found: [String: Found] = [:]
        for start in stride(from: 0, to: names.count, by: 100) {
            let ids = names[start..<min(start + 100, names.count)].map {
                CKRecord.ID(recordName: $0)
            }
            for (id, result) in try await database.records(for: ids) {
                // Not there, or an error: its file is lost.
                guard case .success(let record) = result else { continue }
                let asset: CKAsset? = record["file"]
                // What cannot be read is lost.
                let bytes = asset?.fileURL.flatMap { try? Data(contentsOf: $0) }
                found[id.recordName] = Found(digest: bytes.map { SHA256.hash(data: $0) })
            }
        }
        for problem in saved.problems(in: found) { Issue.record("\(problem)") }
    }

    /// The names of the acknowledged records whose file is not there as it was.
    func lost() async throws -> [String] {
        let (_, database) = try household.database(in: folder)
        var lost: [String] = []
        for (name, digest) in state.withLock(\.acknowledged) {
            // The record of a lost file is an error.
            let record = try? await database.record(for: CKRecord.ID(recordName: name))
            let asset: CKAsset? = record?["file"]
            let bytes = asset?.fileURL.flatMap { try? Data(contentsOf: $0) }  // one that is lost
            if bytes.map({ SHA256.hash(data: $0) }) != digest { lost.append(name) }
        }
        return lost
    }
}
