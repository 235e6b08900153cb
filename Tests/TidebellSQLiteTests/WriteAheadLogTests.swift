// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import GRDBSQLite
import StoreConformance
import TestSupport
import Testing
import TidebellCore
import TidebellSQL

@testable import TidebellSQLite

@Suite("The write-ahead log", .hangs)
struct WriteAheadLogTests {
    private let path = SQLiteEngine.newPath()

    @Test("The log starts over instead of growing for ever")
    func staysShort() async throws {
        let store = try SQLiteStore.open(at: path)
        for number in 0..<60 {
            try await store.add("\(number)", bytes: 1024 * 1024)
            store.log.background?.wait()
        }
        #expect(try logSize() <= WriteAheadLog.keptBytes)
        #expect(try timesStartedOver() > 0)
        try await SQLiteEngine().remove(store)
    }

    @Test("Commits go on while the log is copied, and what they wrote is copied behind it")
    func besideCommits() async throws {
        let store = try await openWithShortLog()
        let background = try #require(store.log.background)
        let gate = BlockingGate()
        let copying = background.hold(at: gate)
        await gate.untilReached()
        for number in 0..<100 { try await store.add("\(number)", bytes: 4096) }
        #expect(background.isRunning)
        #expect(try timesStartedOver() == 0)
        gate.open()
        await copying.value
        for number in 100..<120 {
            try await store.add("\(number)", bytes: 4096)
            background.wait()
        }
        #expect(try timesStartedOver() > 0)
        #expect(try await store.read { try $0.accountNames() }.count == 120)
        try await SQLiteEngine().remove(store)
    }

    @Test("A store that is closed while its log is copied leaves all in the database")
    func closedMeanwhile() async throws {
        let store = try await openWithShortLog()
        let gate = BlockingGate()
        let copying = try #require(store.log.background).hold(at: gate)
        await gate.untilReached()
        for number in 0..<100 { try await store.add("\(number)", bytes: 4096) }
        #expect(store.log.background?.isRunning == true)
        let closing = Task { try await store.close() }
        gate.open()
        await copying.value
        try await closing.value
        #expect((try? logSize()) ?? 0 == 0)
        #expect(try names(inCopyOfFiles: [""]).count == 100)
        try FileManager.default.removeItem(at: folder)
    }

    @Test(
        "M4: a log that is copied and starts over all the time beside writers and readers loses nothing"
    )
    func underLoad() async throws {
        let store = try await openWithShortLog()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    for number in 0..<150 {
                        try await store.add("\(writer)-\(number)", bytes: 700 * (number % 9))
                    }
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<40 { _ = try await store.read { try $0.accountNames().count } }
                }
            }
            try await group.waitForAll()
        }
        #expect(try timesStartedOver() > 0)
        // As a process leaves them that is killed here.
        let names = try names(inCopyOfFiles: ["", "-wal"])
        #expect(names == Set((0..<8).flatMap { writer in (0..<150).map { "\(writer)-\($0)" } }))
        try await SQLiteEngine().remove(store)
    }

    @Test(
        "Where what was copied does not come to the disk, the process ends, and the next one has all of it"
    )
    func notFlushed() async throws {
        let child = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [path = path as String] in
            let store = try SQLiteStore.open(at: path)
            let server = try #require(store.server)
            try await store.add("before", bytes: 4096)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let reader = try DatabaseQueue(path: path, configuration: configuration)
            try await reader.writeWithoutTransaction { database in
                try database.execute(sql: "BEGIN")
                _ = try Row.fetchAll(database, sql: "SELECT * FROM account")
            }
            for number in 0..<20 { try await store.add("\(number)", bytes: 4096) }
            let background = try BackgroundCheckpoint(
                ofStoreAt: path, holding: server, flush: { _ in SQLITE_IOERR })
            background.begin()
            background.wait()
        }
        let output = String(decoding: child?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains("the next start copies them again"))
        let store = try SQLiteStore.open(at: path)
        #expect(try await store.read { try $0.accountNames() }.count == 21)
        try await SQLiteEngine().remove(store)
    }

    private var folder: URL { URL(fileURLWithPath: path).deletingLastPathComponent() }

    /// A store whose log is copied after every few commits.
    private func openWithShortLog() async throws -> SQLiteStore {
        let store = try SQLiteStore.open(at: path)
        try await store.pool.writeWithoutTransaction { [log = store.log] _ in
            log.checkpointPages = 32
        }
        return store
    }

    private func logSize() throws -> Int {
        try Data(contentsOf: URL(fileURLWithPath: "\(path)-wal")).count
    }

    /// How often the log has started over: the sequence number of checkpoints in its header.
    private func timesStartedOver() throws -> UInt32 {
        let header = try Data(contentsOf: URL(fileURLWithPath: "\(path)-wal")).prefix(32)
        return header[12..<16].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The accounts of a store whose pages are sound, without what was added to their names.
    private func names(inCopyOfFiles ends: [String]) throws -> Set<String> {
        let copy = folder.appendingPathComponent("copy").path
        for end in ends { try FileManager.default.copyItem(atPath: path + end, toPath: copy + end) }
        let queue = try DatabaseQueue(path: copy)
        defer { try? queue.close() }
        return try queue.read { database in
            let check = try String.fetchAll(database, sql: "PRAGMA integrity_check")
            #expect(check == ["ok"])
            let names = try String.fetchAll(database, sql: "SELECT name FROM account")
            return Set(names.map { String($0.prefix { $0 != " " }) })
        }
    }
}

extension SQLiteStore {
    /// Adds an account with a name that fills so many bytes more.
    fileprivate func add(_ name: String, bytes: Int) async throws {
        let name = name + " " + String(repeating: "x", count: bytes)
        _ = try await write(.everything) { try $0.createAccount(named: name, at: .noon) }
    }
}

extension BackgroundCheckpoint {
    /// Holds the connection until the gate opens.
    fileprivate func hold(at gate: BlockingGate) -> Task<Void, Never> {
        Task {
            await withCheckedContinuation { continuation in
                queue.asyncWriteWithoutTransaction { _ in
                    gate.reached()
                    gate.waitUntilOpen()
                    continuation.resume()
                }
            }
        }
    }
}
