// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import StoreConformance
import Synchronization
import TestSupport
import Testing
import TidebellCore

@testable import TidebellSQL
@testable import TidebellSQLite

@Suite("When a store mends itself", .hangs)
final class MendingTests {
    private let path = SQLiteEngine.newPath()

    deinit {
        try? FileManager.default.removeItem(
            at: URL(fileURLWithPath: path).deletingLastPathComponent()
        )
    }

    /// Makes a store with a record that an index lacks, and what else the statements do.
    private func makeUnsound(_ statements: String...) async throws {
        let store = try SQLiteStore.open(at: path)
        try await store.write(.everything) { transaction in
            let connection = try #require(transaction as? SQLTransaction).connection
            for statement in statements { try connection.run(statement) }
            try connection.run(
                """
                INSERT INTO record (zone, position, name, type, created_at, created_by,
                    created_device, modified_at, modified_by, modified_device, deleted, fields)
                VALUES (1, 1, 'a', 'Note', 0, '', '', 0, '', '', 0, x'7b7d')
                """
            )
        }
        try await store.close()
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_schema SET sql = replace(sql, 'deleted = 1', 'deleted = 0')
                    WHERE name = 'record_tombstones';
                    PRAGMA writable_schema = OFF;
                    """
            )
        }
        try queue.close()
    }

    @Test("M6: what was mended just before runs again, and no look counts as one in vain")
    func soundMeanwhile() async throws {
        let store = try SQLiteStore.open(at: path)
        for _ in 0...StoreMender.fruitlessLooks {
            #expect(try await read(store) == 2)
        }
        #expect(store.mender.mayLook)
        for _ in 0..<StoreMender.fruitlessLooks {
            await #expect(throws: StoreDamaged.self) { try await read(store, meetingDamage: 2) }
        }
        #expect(!store.mender.mayLook)
        await #expect(throws: StoreDamaged.self) { try await read(store) }
        try await store.close()
    }

    @Test("M6: a call that meets damage while the mend commits reports none")
    func readDuringCommit() async throws {
        try await makeUnsound()
        let store = try SQLiteStore.open(at: path)
        let commit = BlockingGate()
        let observer = CommitGate(commit)
        try await store.pool.writeWithoutTransaction {
            $0.add(transactionObserver: observer, extent: .databaseLifetime)
        }
        async let first = read(store)
        await commit.untilReached()
        let second = try await read(store) { commit.open() }
        #expect(try await first == 2)
        #expect(second == 2)
        #expect(store.mender.generation == 1)
        #expect(store.mender.mayLook)
        try await store.close()
    }

    @Test("M6: a full disk keeps a store from being mended for as long as it is full")
    func fullDisk() async throws {
        try await makeUnsound()
        let store = try SQLiteStore.open(at: path)
        @Sendable func setMaximumPages(_ pages: Int) async throws {
            try await store.pool.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA max_page_count = \(pages)")
            }
        }
        try await setMaximumPages(1)
        for _ in 0...StoreMender.fruitlessLooks {
            await #expect(throws: StoreDamaged.self) { try await read(store) }
        }
        try await setMaximumPages(1_000_000)
        #expect(try await read(store) == 2)
        #expect(store.mender.generation == 1)
        try await store.close()
    }

    /// What a statement finds, as numbers.
    private func numbers(_ sql: String, in store: SQLiteStore) async throws -> [Int64] {
        try await store.pool.read { try Int64.fetchAll($0, sql: sql) }
    }

    @Test("M6: a mend whose call is cancelled leaves the store as it was; the next call mends it")
    func cancelled() async throws {
        try await makeUnsound(
            """
            WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers LIMIT 2000)
            INSERT INTO record (zone, position, name, type, created_at, created_by,
                created_device, modified_at, modified_by, modified_device, deleted, fields)
            SELECT 1, n, n, 'Note', 0, '', '', 0, '', '', 0, x'7b7d' FROM numbers
            """)
        let store = try SQLiteStore.open(at: path)
        let tables = "SELECT rootpage FROM sqlite_schema ORDER BY rowid"
        let before = try await numbers(tables, in: store)
        for _ in 0...StoreMender.fruitlessLooks {
            let call = Task {
                try await read(store) { withUnsafeCurrentTask { $0?.cancel() } }
            }
            await #expect(throws: (any Error).self) { try await call.value }
        }
        #expect(store.mender.generation == 0)
        #expect(try await numbers(tables, in: store) == before)
        #expect(try await numbers("SELECT count(*) FROM record NOT INDEXED", in: store) == [2001])
        #expect(try await read(store) == 2)
        #expect(store.mender.generation == 1)
        try await store.close()
    }

    @Test(
        "M6: sizes and sums that no store has end neither a check nor a mend, and are counted anew")
    func numbersBeyond() async throws {
        let record = """
            INSERT INTO record (zone, position, name, type, created_at, created_by,
                created_device, modified_at, modified_by, modified_device, deleted, fields, size)
            VALUES
            """
        try await makeUnsound(
            """
            INSERT INTO database (id, container, environment, scope, owner, head, floor,
                subscription_kinds, bytes)
            VALUES (1, 'c', 'development', 'public', 0, 9, 0, 0, -9223372036854775808)
            """,
            """
            INSERT INTO zone (key, database, name, position, floor, bytes)
            VALUES (1, 1, 'Z', 9, 0, -9223372036854775808)
            """,
            "\(record) (1, 2, 'b', 'Note', 0, '', '', 0, '', '', 0, x'7b7d', 9223372036854775807)",
            "\(record) (1, 3, 'c', 'Note', 0, '', '', 0, '', '', 0, x'7b7d', 9223372036854775807)"
        )
        let store = try SQLiteStore.open(at: path)
        let found = try StoreCheck.run(at: path).problems.map(\.description)
        #expect(found.filter { $0.contains("cannot be looked at") } == [])
        for number in ["zone.bytes is -9223372036854775808", "record.size is 9223372036854775807"] {
            #expect(found.contains { $0.contains(number) }, "\(found)")
        }
        #expect(try await read(store) == 2)
        // A name of one byte, the type, empty fields (`{}`) and the overhead.
        let size = Int64(StoredRecord.overhead + 1 + 4 + 2)
        #expect(
            try await numbers("SELECT size FROM record ORDER BY position", in: store)
                == [size, size, size])
        #expect(
            try await numbers(
                "SELECT bytes FROM zone UNION ALL SELECT bytes FROM database", in: store)
                == [3 * size, 3 * size])
        #expect(
            try await numbers(
                "SELECT records FROM zone UNION ALL SELECT records FROM database", in: store)
                == [3, 3])
        try await store.close()
    }

    @Test("M6: records of a zone that is not known any more are kept, and the zone is named")
    func unknownZone() async throws {
        try await makeUnsound(
            "INSERT INTO sqlite_sequence (name, seq) VALUES ('zone', 7)",
            """
            INSERT INTO record (zone, position, name, type, created_at, created_by,
                created_device, modified_at, modified_by, modified_device, deleted, fields, size)
            VALUES (7, 2, 'b', 'Note', 0, '', '', 0, '', '', 0, x'7b7d', 140)
            """
        )
        let store = try SQLiteStore.open(at: path)
        let received = Mutex<[StoreTroubles.News]>([])
        store.troubles.observe { news in received.withLock { $0.append(news) } }
        #expect(try await read(store) == 2)
        var mend = StoreMend()
        mend.tables = ["record"]
        mend.unknownZones = ["1 (1 records)", "7 (1 records)"]
        #expect(received.withLock { $0 } == [.mended(mend)])
        #expect(try await numbers("SELECT zone FROM record", in: store) == [1, 7])
        let found = try StoreCheck.run(at: path).problems.map(\.description)
        #expect(found.filter { $0.contains("records belong to a zone that is gone") }.count == 2)
        try await store.close()
    }

    @Test("M6: a mend that fails does not leave the list of tables open to be written")
    func failure() async throws {
        try await makeUnsound()
        let (writer, reader) = (try DatabaseQueue(path: path), try DatabaseQueue(path: path))
        try await writer.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA query_only = 1")
            reader.inDatabase { other in
                let mending = TableMending(
                    writer: Connection(database), reader: Connection(other))
                #expect(throws: DatabaseError.self) { _ = try mending.run() }
            }
            let isWritable = try Int.fetchOne(database, sql: "PRAGMA writable_schema")
            #expect(isWritable == 0)
        }
        try writer.close()
        try reader.close()
    }
}

/// Reads, and meets damage as often as is asked for; returns how often it ran.
private func read(
    _ store: SQLiteStore, meetingDamage times: Int = 1,
    _ meet: @escaping @Sendable () -> Void = {}
) async throws -> Int {
    let runs = Mutex(0)
    return try await store.read { reader in
        let run = runs.withLock { runs -> Int in
            runs += 1
            return runs
        }
        guard run <= times else { return run }
        meet()
        let connection = try #require(reader as? SQLReader).connection
        throw connection.damaged("a page", "SELECT name FROM record")
    }
}

/// Holds the first commit up until a gate opens.
private final class CommitGate: TransactionObserver, Sendable {
    private let gate: BlockingGate
    private let isPassed = Mutex(false)

    init(_ gate: BlockingGate) { self.gate = gate }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }

    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseWillCommit() {
        let isFirst = isPassed.withLock { isPassed in
            defer { isPassed = true }
            return !isPassed
        }
        guard isFirst else { return }
        gate.reached()
        gate.waitUntilOpen()
    }

    func databaseDidCommit(_ database: Database) {}

    func databaseDidRollback(_ database: Database) {}
}
