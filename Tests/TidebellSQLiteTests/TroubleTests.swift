// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellScheduling

@testable import TidebellSQL
@testable import TidebellSQLite

@Suite("Disks that are full, files that are gone, and who checkpoints", .hangs)
final class TroubleTests {
    private let path = SQLiteEngine.newPath()

    deinit {
        // What a test could not make need not be removed.
        try? FileManager.default.removeItem(
            at: URL(fileURLWithPath: path).deletingLastPathComponent()
        )
    }

    @Test("M3: trouble is news once when it begins and once when nothing failed for a while")
    func news() {
        let now = Mutex(Duration.zero)
        let troubles = StoreTroubles { now.withLock { $0 } }
        let received = Mutex<[StoreTroubles.News]>([])
        troubles.observe { news in received.withLock { $0.append(news) } }
        let full = StoreUnavailable(.diskIsFull, detail: "")
        troubles.noteSuccess()
        troubles.note(CancellationError())
        #expect(received.withLock { $0 } == [])
        for _ in 0..<1000 {
            troubles.note(full)
            troubles.noteSuccess()
        }
        #expect(received.withLock { $0 } == [.began(full)])
        #expect(troubles.present == full)
        now.withLock { $0 += StoreTroubles.quietTime }
        for _ in 0..<1000 { troubles.noteSuccess() }
        #expect(received.withLock { $0 } == [.began(full), .ended])
        #expect(troubles.present == nil)
        troubles.note(full)
        #expect(received.withLock { $0 } == [.began(full), .ended, .began(full)])
    }

    @Test("M3: a store where larger writes meet a full disk is not ready, though a row fits")
    func rowsStillFit() async throws {
        let now = Mutex(Duration.zero)
        let store = try SQLiteStore.open(
            at: path,
            time: Time(
                now: Time.system.now, clock: ContinuousClock(), elapsed: { now.withLock { $0 } }
            )
        )
        let pages = try await store.pool.writeWithoutTransaction { database in
            let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            _ = try Int.fetchOne(database, sql: "PRAGMA max_page_count = \(pages + 2)")
            return pages
        }
        #expect(pages > 0)
        try await store.probe()
        let name = String(repeating: "x", count: 100_000)
        for _ in 0..<3 {
            let write = try await #require(throws: StoreUnavailable.self) {
                try await store.write(.everything) { try $0.createAccount(named: name, at: .noon) }
            }
            #expect(write.cause == .diskIsFull)
            let probe = try await #require(throws: StoreUnavailable.self) {
                try await store.probe()
            }
            #expect(probe.cause == .diskIsFull)
        }
        now.withLock { $0 += StoreTroubles.quietTime }
        // The first that is written ends the trouble, the probe itself too.
        try await store.probe()
        #expect(store.troubles.present == nil)
        try await store.close()
    }

    @Test(
        "M3: what may pass by itself is the machine's fault, anything else stays what it is",
        arguments: causes
    )
    func meanings(code: ResultCode, cause: StoreUnavailable.Cause?) {
        let error = DatabaseError(resultCode: code, message: "why")
        let meaning = StoreUnavailable.meant(by: error)
        #expect((meaning as? StoreUnavailable)?.cause == cause)
        #expect(cause != nil || meaning is DatabaseError)
    }

    private static let causes: [(ResultCode, StoreUnavailable.Cause?)] = [
        (.SQLITE_FULL, .diskIsFull), (.SQLITE_IOERR_WRITE, .diskFails),
        (.SQLITE_IOERR_FSYNC, .diskFails), (.SQLITE_CANTOPEN, .diskFails),
        (.SQLITE_BUSY, .isLocked), (.SQLITE_PROTOCOL, .isLocked), (.SQLITE_READONLY, .isReadOnly),
        (.SQLITE_CORRUPT, nil),
        (.SQLITE_CONSTRAINT, nil),
    ]

    @Test("W-18: a store whose file was deleted or replaced is not ready")
    func fileIsGone() async throws {
        let store = try SQLiteStore.open(at: path)
        try await store.probe()
        try FileManager.default.moveItem(atPath: path, toPath: "\(path).away")
        let error = try await #require(throws: StoreUnavailable.self) { try await store.probe() }
        #expect(error.cause == .isGone)
        #expect(store.troubles.present?.cause == .isGone)
        try Data().write(to: URL(fileURLWithPath: path))
        await #expect(throws: StoreUnavailable.self) { try await store.probe() }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: "\(path).away", toPath: path)
        try await store.probe()
        try await store.close()
    }

    @Test(
        "W-18: no write is acknowledged once a file of the store is gone, and what was is saved",
        arguments: ["", "-wal", "-shm"],
        [(false, false), (true, false), (false, true), (true, true)]
    )
    func lostFile(suffix: String, _ how: (isReplaced: Bool, isFolderEnough: Bool)) async throws {
        let isReplaced = how.isReplaced
        let store = try SQLiteStore.open(at: path)
        @Sendable func add(_ name: String) async throws {
            _ = try await store.write(.everything) {
                try $0.createAccount(named: name, at: .noon)
            }
        }
        if how.isFolderEnough {
            try await relyOnFolder(of: store)
        } else {
            // However long the test takes.
            store.files.remember(ofStoreAt: path, settledAfter: .max)
        }
        try await add("before")
        #expect(store.files.isFolderEnough == how.isFolderEnough)
        let lost = path + suffix
        try FileManager.default.moveItem(atPath: lost, toPath: "\(lost).away")
        if isReplaced { try Data().write(to: URL(fileURLWithPath: lost)) }
        for name in ["a", "b"] {
            let error = try await #require(throws: StoreUnavailable.self) { try await add(name) }
            let what = isReplaced ? "replaced" : "removed"
            #expect(error.cause == .isGone && error.detail.hasPrefix("'\(lost)' was \(what) "))
        }
        #expect(store.troubles.present?.cause == .isGone)
        let database = suffix.isEmpty ? "\(path).away" : path
        #expect(try await accountsAfterKill(database) == (isReplaced ? [] : ["before"]))
        if isReplaced { try FileManager.default.removeItem(atPath: lost) }
        try FileManager.default.moveItem(atPath: "\(lost).away", toPath: lost)
        try await add("after")
        try await store.close()
    }

    /// Has a store rely on its folder without the two seconds, once the time of the file system is
    /// beyond the folder's last change.
    private func relyOnFolder(of store: SQLiteStore) async throws {
        store.files.remember(ofStoreAt: path, settledAfter: 0)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let other = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-clock-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: other) }
        func time(_ path: String) throws -> Date? {
            try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        }
        let last = try #require(try time(folder))
        while true {
            try Data().write(to: URL(fileURLWithPath: other))
            if let now = try time(other), now > last { return }
            try FileManager.default.removeItem(atPath: other)
            await Task.yield()
        }
    }

    /// The accounts that are in the database file itself: what a kill leaves of a store without
    /// its log.
    private func accountsAfterKill(_ database: String) async throws -> [String] {
        let copy = "\(path).copy"
        try FileManager.default.copyItem(atPath: database, toPath: copy)
        let queue = try DatabaseQueue(path: copy)
        defer { try? queue.close() }
        return try await queue.read { database in
            guard try database.tableExists("account") else { return [] }
            return try String.fetchAll(database, sql: "SELECT name FROM account")
        }
    }

    @Test("W-18: what was acknowledged is saved by whatever finds a file gone, not by writes only")
    func probeSaves() async throws {
        let store = try SQLiteStore.open(at: path)
        _ = try await store.write(.everything) { try $0.createAccount(named: "before", at: .noon) }
        try FileManager.default.removeItem(atPath: "\(path)-wal")
        await #expect(throws: StoreUnavailable.self) { try await store.probe() }
        #expect(try await accountsAfterKill(path) == ["before"])
        try await store.close()
    }

    @Test("W-18: what is saved of a removed log does not end where an older reader reads")
    func olderReader() async throws {
        let store = try SQLiteStore.open(at: path)
        @Sendable func add(_ name: String) async throws {
            _ = try await store.write(.everything) {
                try $0.createAccount(named: name, at: .noon)
            }
        }
        try await add("first")
        let reads = Reads()
        let reading = Task {
            try await store.read(.long) { reader in
                _ = try reader.accountNames()
                reads.begun.withLock { $0 += 1 }
                reads.end.wait()
            }
        }
        await eventually { reads.begun.withLock(\.self) == 1 }
        try await add("second")
        try FileManager.default.removeItem(atPath: "\(path)-wal")
        // The writer waits for the reader with some of them, and the last one for the writer.
        var refused: [Task<Void, any Error>] = []
        repeat {
            refused.append(Task { try await add("refused") })
            await Task.yield()
        } while store.waitingWrites == 0
        reads.end.signal()
        try await reading.value
        for write in refused {
            await #expect(throws: StoreUnavailable.self) { try await write.value }
        }
        #expect(try await accountsAfterKill(path) == ["first", "second"])
        try await store.close()
    }

    /// Reads under way.
    private final class Reads: Sendable {
        let begun = Mutex(0)
        let failed = Mutex(0)
        let end = DispatchSemaphore(value: 0)
    }

    @Test("W-18: no reader makes a log anew that was removed, also one that is opened later")
    func laterReader() async throws {
        let store = try SQLiteStore.open(at: path)
        _ = try await store.write(.everything) { try $0.createAccount(named: "before", at: .noon) }
        try FileManager.default.removeItem(atPath: "\(path)-wal")
        // Each keeps its connection, so that the next one needs another.
        let reads = Reads()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<SQLiteStore.readers {
                group.addTask {
                    do {
                        try await store.read(.long) { _ in
                            reads.begun.withLock { $0 += 1 }
                            reads.end.wait()
                        }
                    } catch {
                        #expect((error as? StoreUnavailable)?.cause == .isGone, "\(error)")
                        reads.failed.withLock { $0 += 1 }
                    }
                }
            }
            await eventually {
                reads.begun.withLock(\.self) + reads.failed.withLock(\.self) == SQLiteStore.readers
            }
            for _ in 0..<SQLiteStore.readers { reads.end.signal() }
        }
        #expect(reads.failed.withLock(\.self) > 0)
        #expect(!FileManager.default.fileExists(atPath: "\(path)-wal"))
        #expect(try await accountsAfterKill(path) == ["before"])
        try await store.close()
    }

    @Test("M4: a command beside a server leaves the log alone, the server copies it")
    func checkpoints() async throws {
        let server = try SQLiteStore.open(at: path)
        _ = try await server.write(.everything) { try $0.createAccount(named: "before", at: .noon) }
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let command = try SQLiteStore.open(at: path, for: .administering)
        for number in 0..<20 {
            // More than SQLite's own limit of 1000 pages.
            let name = "\(number)" + String(repeating: "x", count: 300_000)
            _ = try await command.write(.everything) {
                try $0.createAccount(named: name, at: .noon)
            }
        }
        try await command.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(FileManager.default.fileExists(atPath: "\(path)-wal"))
        #expect(try await server.read { try $0.accountNames() }.count == 21)
        try await server.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) != before)
        let log = FileManager.default.contents(atPath: "\(path)-wal") ?? Data()
        #expect(log.isEmpty)
    }

    @Test(
        "M4: versions of SQLite with the WAL-reset defect are known, mended branches too",
        arguments: [
            (3_006_023, false), (3_007_000, true), (3_040_001, true), (3_044_005, true),
            (3_044_006, false), (3_045_000, true), (3_050_006, true), (3_050_007, false),
            (3_051_002, true), (3_051_003, false), (3_053_001, false),
        ]
    )
    func defects(number: Int, hasDefect: Bool) {
        #expect(SQLiteVersion(number: number).hasWALResetDefect == hasDefect)
        #expect(SQLiteVersion(number: 3_040_001).description == "3.40.1")
    }

    @Test("A checksum of fields changes with any byte, and with their number")
    func checksums() {
        let bytes = (0..<67).map { UInt8($0) }
        var sums: Set<Int64> = [FieldChecksum.of(bytes)]
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                sums.insert(FieldChecksum.of(damaged))
            }
        }
        for count in 0..<67 { sums.insert(FieldChecksum.of(Array(bytes.prefix(count)))) }
        #expect(sums.count == 1 + 67 * 8 + 67)
    }
}
