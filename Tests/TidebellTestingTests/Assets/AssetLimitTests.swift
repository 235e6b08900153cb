// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellTesting

/// Disks that are full and memory that is short, each in a process of its own, whose
/// limits the tests may change.
@Suite("Files and the limits of a machine", .hangs, .finishesClouds)
struct AssetLimitTests {
    @Test(
        "A full disk of the server refuses the file, keeps none of it, and is reported with a wait"
    )
    func fullServer() async {
        await #expect(processExitsWith: .success) {
            let home = try await AssetHome(sockets: true)
            let record = home.note(try home.files.write("large", bytes: 16 << 20))
            setLargestFile(8 << 20)
            let error = try #require(await ckError { try await home.database.save(record) })
            #expect(error.code == .serviceUnavailable)
            #expect(error.retryAfterSeconds == 60)
            #expect(error.localizedDescription == "the server has no room for files now")
            #expect(try await eventually { try home.serverFiles().isEmpty })
            setLargestFile(nil)
            try await home.database.save(record)
            try home.end()
        }
    }

    @Test("ASSET-9: a full disk of the device fails the record and leaves nothing of its file")
    func fullDevice() async {
        await #expect(processExitsWith: .success) {
            let home = try await AssetHome(sockets: true)
            let record = home.note(try home.files.write("large", bytes: 16 << 20))
            let small = home.note(try home.files.write("small", "small"), named: "small")
            try await home.database.save(record)
            try await home.database.save(small)
            setLargestFile(8 << 20)
            let ids = [record.recordID, small.recordID]
            let results = try await home.database.records(for: ids)
            #expect(
                results.mapValues(\.ckCode)
                    == [record.recordID: .assetNotAvailable, small.recordID: nil]
            )
            #expect(await eventually { home.stagedFiles().count == 1 })
            setLargestFile(nil)
            let again = try await home.database.records(for: ids)
            #expect(again.mapValues(\.ckCode) == [record.recordID: nil, small.recordID: nil])
            try home.end()
        }
    }

    @Test("A file is never whole in memory, neither on its way up nor on its way down")
    func memory() async {
        await #expect(processExitsWith: .success) {
            let size = 192 << 20
            let home = try await AssetHome(sockets: true)
            let url = home.files.folder.appendingPathComponent("large")
            _ = FileManager.default.createFile(atPath: url.path, contents: nil)
            let file = try FileHandle(forWritingTo: url)
            try file.truncate(atOffset: UInt64(size))
            try file.close()
            // What is loaded with the first file is not counted.
            _ = try await home.savedNote("small")
            let before = try peakMemory()
            let record = home.note(url, named: "large")
            try await home.database.save(record)
            let found = try await home.database.record(for: record.recordID)
            let copy = try #require((found["f"] as? CKAsset)?.fileURL)
            let grown = try peakMemory() - before
            #expect(FileManager.default.contentsEqual(atPath: url.path, andPath: copy.path))
            // Server and device are in this process; both together hold a few pieces.
            #expect(grown < size / 3, "\(grown >> 20) MB")
            try home.end()
        }
    }
}

/// Lets no file of this process become longer, as on a full disk; nil lifts the limit.
private func setLargestFile(_ bytes: UInt64?) {
    // Without it the system ends the process.
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    limit.rlim_cur = bytes.map { rlim_t($0) } ?? limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
}

/// The most memory this process has had, in bytes.
private func peakMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    let kilobytes = try #require(line.split(separator: " ").compactMap { Int($0) }.first)
    return kilobytes << 10
}
