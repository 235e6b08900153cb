// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellSQL

@testable import TidebellSQLite

@Suite("Commits that are flushed with the next one", .hangs)
struct UnflushedCommitsTests {
    /// A store whose user has had a notification, so that the next numbers are reserved.
    private static func withStore(
        _ body: (_ store: SQLiteStore, _ path: String) async throws -> Void
    ) async throws {
        let engine = SQLiteEngine()
        let path = SQLiteEngine.newPath()
        let store = try SQLiteStore.open(at: path)
        #expect(try await append("first", to: store).isFlushed)
        try await body(store, path)
        try await engine.remove(store)
    }

    private static func notification(_ id: String) -> StoredNotification {
        StoredNotification(
            user: UserID(rawValue: 1), notificationID: id, database: DatabaseID(rawValue: 1),
            subscriptionID: "s", originClient: nil, payload: Array("{}".utf8),
            isBackground: false, collapseID: nil, createdAt: .noon)
    }

    /// Appends a notification as a pass of the push pipeline does; returns its number, and whether
    /// its commit is flushed.
    private static func append(
        _ id: String, to store: SQLiteStore, durability: Durability = .eventual
    ) async throws -> (number: Int64, isFlushed: Bool) {
        try await store.writeInSteps(for: nil, about: nil, durability: durability) { steps in
            try steps.write(.everything) { transaction in
                let stored = try transaction.appendNotifications(
                    [notification(id)], unlessAfter: [:])
                return (stored[0].sequence.rawValue, try isFlushed(transaction))
            }
        }
    }

    private static func isFlushed(_ transaction: any StoreTransaction) throws -> Bool {
        let connection = try #require(transaction as? SQLTransaction).connection.sqlite
        // Not as a statement that is kept, which returns what it did when it was prepared.
        return try Int.fetchOne(connection.database, sql: "PRAGMA synchronous") == 2
    }

    @Test(
        "One that need not be durable at once is not flushed; the others are, before and after it")
    func flushes() async throws {
        try await Self.withStore { store, _ in
            #expect(try await !Self.append("second", to: store).isFlushed)
            #expect(try await Self.append("third", to: store, durability: .immediate).isFlushed)
            #expect(try await !Self.append("fourth", to: store).isFlushed)
            #expect(try await store.write(.everything) { try Self.isFlushed($0) })
            let outside = try await store.pool.writeWithoutTransaction {
                try Int.fetchOne($0, sql: "PRAGMA synchronous")
            }
            #expect(outside == 2)
        }
    }

    @Test("One that turns out to change more than notifications is made again, and flushed")
    func changesMore() async throws {
        try await Self.withStore { store, path in
            let runs = Mutex<[Bool]>([])
            try await store.writeInSteps(for: nil, about: nil, durability: .eventual) { steps in
                try steps.write(.everything) { transaction in
                    let isFlushed = try Self.isFlushed(transaction)
                    runs.withLock { $0.append(isFlushed) }
                    _ = try transaction.createAccount(named: "anna", at: .noon)
                }
            }
            #expect(runs.withLock(\.self) == [false, true])
            #expect(try await store.read { try $0.accountNames() } == ["anna"])
        }
    }

    @Test(
        "Numbers that a power cut took with their notifications are not given out again",
        arguments: [["", "-wal", "-server"], ["", "-wal"]])
    func powerCut(files: [String]) async throws {
        try await Self.withStore { store, path in
            let copy = SQLiteEngine.newPath()
            try FileManager.default.createDirectory(
                atPath: URL(fileURLWithPath: copy).deletingLastPathComponent().path,
                withIntermediateDirectories: true)
            // What is on the disk, with or without the note beside the store.
            for file in files {
                try FileManager.default.copyItem(atPath: path + file, toPath: copy + file)
            }
            let seen = try await Self.append("second", to: store)
            #expect(!seen.isFlushed)

            let restarted = try SQLiteStore.open(at: copy)
            #expect(!restarted.cameBackOlder)
            let other = try await Self.append("other", to: restarted)
            #expect(other.number > seen.number)
            let again = try await Self.append("second", to: restarted)
            #expect(again.number > other.number)
            try await SQLiteEngine().remove(restarted)
        }
    }

    @Test("A new life goes on with numbers of its own, reserved anew")
    func newLife() async throws {
        try await Self.withStore { store, _ in
            #expect(try await !Self.append("second", to: store).isFlushed)
            try await store.beginNewIncarnation(at: .noon)
            // Begun without a flush, and made again with one.
            let third = try await Self.append("third", to: store)
            #expect(third.isFlushed)
            let fourth = try await Self.append("fourth", to: store)
            #expect(!fourth.isFlushed && fourth.number == third.number + 1)
        }
    }

    @Test("After a flush that failed nothing is written before the log began anew")
    func failedFlush() async throws {
        let engine = SQLiteEngine()
        let path = SQLiteEngine.newPath()
        let store = try SQLiteStore.open(at: path)
        try await store.pool.writeWithoutTransaction { database in
            let connection = Connection(
                database, numbering: Numbering(notifications: .shared, outboxes: .shared))
            func logSize() throws -> Int {
                try Data(contentsOf: URL(fileURLWithPath: "\(path)-wal")).count
            }
            let unflushed = UnflushedCommits(Numbering(notifications: .shared, outboxes: .shared))
            unflushed.noteReserved(NotificationSequence(rawValue: 9))
            try connection.run("UPDATE store SET notification_floor = 0")
            let failure = DatabaseError(resultCode: .SQLITE_IOERR)

            unflushed.noteCommit(.start, isFlushed: true)
            unflushed.noteFailure(failure)
            try unflushed.closeHole(in: store.log, on: connection)
            #expect(try logSize() > 0, "what was flushed before has no hole")

            unflushed.noteCommit(.start, isFlushed: false)
            unflushed.noteFailure(DatabaseError(resultCode: .SQLITE_CONSTRAINT))
            try unflushed.closeHole(in: store.log, on: connection)
            #expect(try logSize() > 0 && unflushed.hasReserved(NotificationSequence(rawValue: 9)))

            unflushed.noteFailure(failure)
            #expect(!unflushed.hasReserved(NotificationSequence(rawValue: 9)))
            try unflushed.closeHole(in: store.log, on: connection)
            #expect(try logSize() == 0)
        }
        try await engine.remove(store)
    }

    @Test("A note is never ahead of what is on the disk")
    func note() async throws {
        try await Self.withStore { store, path in
            func noted() throws -> Int64? {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(path)-server"))
                return StoreNote(bytes: Array(bytes.prefix(StoreNote.size)))?
                    .progress.notification.rawValue
            }
            let before = try noted()
            let unflushed = try await Self.append("second", to: store)
            #expect(try noted() == before)
            _ = try await store.write(.everything) { try $0.createAccount(named: "a", at: .noon) }
            #expect(try noted() == unflushed.number)
        }
    }

    @Test("A store that was closed leaves no numbers out")
    func closed() async throws {
        let path = SQLiteEngine.newPath()
        let store = try SQLiteStore.open(at: path)
        let first = try await Self.append("first", to: store)
        try await store.close()
        let reopened = try SQLiteStore.open(at: path)
        let second = try await Self.append("second", to: reopened)
        #expect(second.number == first.number + 1)
        try await SQLiteEngine().remove(reopened)
    }
}
