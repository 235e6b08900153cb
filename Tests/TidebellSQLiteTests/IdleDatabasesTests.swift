// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellSQL
import TidebellWire

@testable import TidebellSQLite

@Suite("Databases that stay in the queue with nothing pending", .hangs)
struct IdleDatabasesTests {
    private static let container = ContainerKey(
        container: "iCloud.org.example.notes", environment: .development)

    private func change(of database: DatabaseID) -> OutboxEntry {
        OutboxEntry(
            database: database, zoneName: "Notes", zoneOwner: "_anna", event: .zoneCreated,
            originUser: nil, originClient: nil, committedAt: Instant(rawValue: 0))
    }

    /// Changes a database, and processes the change.
    private func changeAndProcess(
        _ databases: [DatabaseID], times: Int = 1, in store: SQLiteStore
    ) async throws {
        try await store.write(.everything) { transaction in
            for database in databases {
                for _ in 0..<times {
                    try transaction.appendOutbox([change(of: database)])
                }
            }
        }
        let pending = try await store.read {
            try $0.outboxes(of: databases, limit: .max, byteLimit: .max)
        }
        try await store.write(.everything) { transaction in
            for outbox in pending {
                let end = try #require(outbox.entries.last?.position)
                try transaction.markNotified(upTo: end, in: outbox.database, keeping: true)
            }
        }
    }

    private struct Queue: Equatable {
        var databases: [DatabaseID]
        var pending: [DatabaseID]
    }

    private func queue(of store: SQLiteStore) async throws -> Queue {
        try await store.read { reader in
            let connection = try #require(reader as? SQLReader).connection
            return Queue(
                databases: try connection.rows("SELECT database FROM outbox_queue ORDER BY turn") {
                    try $0.value(0)
                },
                pending: try reader.queuedDatabases(limit: 100)
            )
        }
    }

    private func withDatabases(
        _ count: Int, _ body: ([DatabaseID], SQLiteStore) async throws -> Void
    ) async throws {
        let engine = SQLiteEngine()
        let store = try SQLiteStore.open(at: SQLiteEngine.newPath())
        let databases = try await store.write(.everything) { transaction in
            try (0..<count).map { index in
                try transaction.makeDatabase(
                    DatabaseKey(
                        container: Self.container, scope: .private,
                        owner: UserID(rawValue: Int64(index + 1)))
                ).id
            }
        }
        try await body(databases, store)
        try await engine.remove(store)
    }

    @Test("One that was processed stays, is not claimed, and its next change is found")
    func stays() async throws {
        try await withDatabases(2) { databases, store in
            try await changeAndProcess([databases[0]], in: store)
            #expect(
                try await queue(of: store) == Queue(databases: [databases[0]], pending: []))
            try await store.write(.everything) { transaction in
                for database in databases.reversed() {
                    try transaction.appendOutbox([change(of: database)])
                }
            }
            #expect(try await queue(of: store) == Queue(databases: databases, pending: databases))
        }
    }

    @Test("One that was processed has its next turn after those that wait")
    func turns() async throws {
        try await withDatabases(2) { databases, store in
            try await changeAndProcess([databases[0]], in: store)
            try await store.write(.everything) { transaction in
                try transaction.appendOutbox([change(of: databases[1])])
            }
            for _ in 0..<2 {
                try await changeAndProcess([databases[0]], in: store)
                try await store.write(.everything) { transaction in
                    try transaction.appendOutbox([change(of: databases[0])])
                }
                #expect(
                    try await queue(of: store)
                        == Queue(
                            databases: databases.reversed(), pending: databases.reversed()))
            }
        }
    }

    @Test("So many stay, and no more")
    func bound() async throws {
        let most = Int(IdleDatabases.maximumQueued)
        try await withDatabases(most + 4) { databases, store in
            try await changeAndProcess(databases, in: store)
            #expect(
                try await queue(of: store)
                    == Queue(databases: Array(databases[4...]), pending: []))
        }
    }

    @Test("One leaves when others had so many changes since")
    func leaves() async throws {
        try await withDatabases(2) { databases, store in
            try await changeAndProcess([databases[0]], in: store)
            let others = Int(IdleDatabases.entriesUntilRemoval)
            try await changeAndProcess([databases[1]], times: others, in: store)
            #expect(try await queue(of: store) == Queue(databases: databases, pending: []))
            try await changeAndProcess([databases[1]], in: store)
            #expect(
                try await queue(of: store)
                    == Queue(databases: databases, pending: [databases[0]]))
            let outbox = try await store.read {
                try $0.outboxes(of: [databases[0]], limit: 9, byteLimit: 9)
            }
            #expect(outbox.map(\.entries.count) == [0])
            try await store.write(.everything) { transaction in
                try transaction.markNotified(
                    upTo: try #require(outbox.first).version.done, in: databases[0], keeping: true)
            }
            #expect(try await queue(of: store) == Queue(databases: [databases[1]], pending: []))
        }
    }
}
