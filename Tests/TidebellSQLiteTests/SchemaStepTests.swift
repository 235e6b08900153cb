// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import StoreConformance
import Testing
import TidebellCore
import TidebellWire

@testable import TidebellSQLite

@Suite("Steps from the frozen tables on")
final class SchemaStepTests {
    private static let colour = SchemaSteps.Step(
        name: "records have a colour", sql: "ALTER TABLE record ADD COLUMN colour TEXT"
    )
    private static let shades = SchemaSteps.Step(
        name: "colours have shades",
        sql: """
            CREATE TABLE shade (colour TEXT PRIMARY KEY) STRICT;
            CREATE INDEX record_colour ON record (colour) WHERE colour IS NOT NULL;
            """
    )

    /// Steps that come after those that are released.
    private static func steps(_ steps: SchemaSteps.Step...) -> SchemaSteps {
        SchemaSteps(steps: SchemaSteps.released.steps + steps)
    }

    private let path = SQLiteEngine.newPath()

    deinit {
        try? FileManager.default.removeItem(
            at: URL(fileURLWithPath: path).deletingLastPathComponent()
        )
    }

    /// Makes a store with 500 accounts and returns a plain connection to it.
    private func makeStore() async throws -> DatabaseQueue {
        let store = try SQLiteStore.open(at: path)
        try await store.write(.everything) { transaction in
            for number in 0..<500 {
                _ = try transaction.createAccount(
                    named: "user \(number)", at: Instant(rawValue: 0)
                )
            }
        }
        try await store.close()
        return try DatabaseQueue(path: path)
    }

    private func version(_ queue: DatabaseQueue) throws -> Int? {
        try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
    }

    /// Where every table and index begins in the file.
    private func rootPages(_ queue: DatabaseQueue) throws -> [String: Int] {
        try queue.read { database in
            let rows = try Row.fetchAll(
                database, sql: "SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0"
            )
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["name"], $0["rootpage"]) })
        }
    }

    @Test("A step that adds a column or an index moves no table and writes few pages")
    func stepsAdd() async throws {
        let queue = try await makeStore()
        let before = try rootPages(queue)
        try Self.steps(Self.colour, Self.shades).apply(to: queue)
        let after = try rootPages(queue)
        #expect(after.filter { before[$0.key] != nil } == before)
        let added = Set(after.keys).subtracting(before.keys)
        #expect(added.isSuperset(of: ["shade", "record_colour"]))
        // A log of all changes: the pages of 500 accounts are not among them.
        let pages = try await queue.read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        let written = try FileManager.default.attributesOfItem(atPath: "\(path)-wal")[.size]
        let writtenPages = ((written as? NSNumber)?.intValue ?? 0) / 4096
        #expect(writtenPages < pages / 2, "\(writtenPages) of \(pages) pages")
        #expect(try version(queue) == Schema.version + 2)
        try queue.close()
    }

    @Test("Each step is taken once, in order, also where an older Tidebell took some")
    func stepsAreTakenOnce() async throws {
        let queue = try await makeStore()
        try Self.steps(Self.colour).apply(to: queue)
        #expect(try version(queue) == Schema.version + 1)
        try Self.steps(Self.colour, Self.shades).apply(to: queue)
        let names = try await queue.read {
            try String.fetchAll($0, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
        }
        #expect(names == Self.steps(Self.colour, Self.shades).steps.map(\.name))
        #expect(try version(queue) == Schema.version + 2)
        try queue.close()
    }

    @Test("A step that fails leaves the store as it was before it")
    func failure() async throws {
        let queue = try await makeStore()
        let broken = SchemaSteps.Step(
            name: "breaks",
            sql: "ALTER TABLE record ADD COLUMN shade TEXT; ALTER TABLE nothing ADD COLUMN x;"
        )
        #expect(throws: DatabaseError.self) {
            try Self.steps(Self.colour, broken).apply(to: queue)
        }
        #expect(try version(queue) == Schema.version + 1)
        let columns = try await queue.read { try $0.columns(in: "record").map(\.name) }
        #expect(columns.contains("colour"))
        #expect(!columns.contains("shade"))
        try queue.close()
    }

    @Test("A Tidebell that lacks a step refuses the store and does not touch it")
    func newerStore() async throws {
        let queue = try await makeStore()
        let steps = Self.steps(Self.colour)
        try steps.apply(to: queue)
        try queue.close()
        let error = StoreOpenError.newerSchema(
            path: path, version: steps.version, supported: Schema.version
        )
        #expect(throws: error) { try SQLiteStore.open(at: path) }
    }

    @Test("A store that has all steps is not written")
    func nothingToDo() async throws {
        let queue = try await makeStore()
        let steps = Self.steps(Self.colour, Self.shades)
        try steps.apply(to: queue)
        let before = try files()
        try steps.apply(to: queue)
        #expect(try files() == before)
        try queue.close()
    }

    @Test("ACCT-9: zones of an older store count from the next one that is created")
    func zonesAreCounted() async throws {
        var store = try SQLiteStore.open(at: path)
        let key = DatabaseKey(
            container: ContainerKey(container: "notes", environment: .development),
            scope: .public, owner: nil)
        func create(_ name: String) async throws {
            try await store.write(.everything) { transaction throws in
                let id = try transaction.makeDatabase(key).id
                let position = try transaction.advance(id, by: 1, at: Self.noon)
                _ = try transaction.createZones([(name, position)], in: id)
            }
        }
        func use() async throws -> Int64? {
            try await store.read { try $0.database(key)?.use.bytes }
        }
        // As for a zone whose key is lost.
        func resetDefaultZone() async throws {
            try await store.write(.everything) { transaction throws in
                let id = try transaction.makeDatabase(key).id
                let zone = try #require(
                    try transaction.zones([ZoneID.defaultName], in: id).first)
                let first = try transaction.advance(id, by: 2, at: Self.noon)
                try transaction.deleteZones(
                    [(zone.key, first)], reason: .encryptedDataReset, at: Self.noon)
                _ = try transaction.createZones(
                    [(ZoneID.defaultName, first.advanced(by: 1))], in: id)
            }
        }
        for name in ["a", "b"] { try await create(name) }
        #expect(try await use() == 2 * StoredZone.overhead)
        try await store.close()
        let queue = try DatabaseQueue(path: path)
        try await queue.write { try $0.execute(sql: "UPDATE database SET zones = NULL") }
        try queue.close()
        store = try SQLiteStore.open(at: path)
        #expect(try await use() == 0)
        try await resetDefaultZone()
        #expect(try await use() == 0)
        try await create("c")
        #expect(try await use() == 3 * StoredZone.overhead)
        try await resetDefaultZone()
        #expect(try await use() == 3 * StoredZone.overhead)
        #expect(try StoreCheck.run(at: path).problems == [])
        try await store.close()
    }

    @Test("A store with checksums of whole records is too new for who knows those of fields only")
    func checksumsOfWholeRecords() async throws {
        let step = try #require(
            SchemaSteps.released.steps.firstIndex { $0.name == "checksums are of whole records" })
        let older = SchemaSteps.released.upTo(version: Schema.frozenVersion + step)
        let queue = try await makeStore()
        // What a Tidebell compares with its own before it opens a store.
        #expect(try #require(try version(queue)) > older.version)
        try queue.close()
    }

    @Test("Routes of an older store go on with what they have not delivered, and nothing else")
    func routeQueues() async throws {
        let container = ContainerKey(container: "notes", environment: .development)
        var store = try SQLiteStore.open(at: path)
        let (users, hooks, tokens, log) = try await store.write(.everything) { transaction throws in
            let users = try (0..<3).map { number in
                try transaction.makeUser(
                    of: try transaction.createAccount(named: "u\(number)", at: Self.noon),
                    in: number == 2
                        ? ContainerKey(container: "chess", environment: .development) : container,
                    recordName: "_u\(number)", at: Self.noon
                ).id
            }
            let tokens = try ["aa", "bb"].map { token in
                let device = try transaction.registerDevice(
                    clientID: "of \(token)", user: users[0], container: container, at: Self.noon)
                try transaction.putPushToken(
                    StoredPushToken(
                        token: token, apnsEnvironment: .development, courier: nil,
                        registeredAt: Self.noon),
                    notifying: device.key)
                return PushTargetKey(token: token, device: device.key)
            }
            let hooks = try (0..<2).map { _ in
                try transaction.createWebhook(for: container, url: "u", secret: [1], at: Self.noon)
                    .id
            }
            let log = try transaction.appendNotifications([
                Self.push("0", to: users[0]), Self.push("1", to: users[1]),
                Self.push("2", to: users[2]),
                Self.push("3", to: users[0]),
            ])
            return (users, hooks, tokens, log.map(\.sequence))
        }
        try await store.close()
        let queue = try DatabaseQueue(path: path)
        try await queue.write { database in
            for table in ["webhook_queue", "push_queue"] {
                try database.execute(sql: "DROP TABLE \(table)")
            }
            try database.execute(
                sql: """
                    DROP INDEX webhook_container;
                    ALTER TABLE database DROP COLUMN zones;
                    DELETE FROM grdb_migrations
                        WHERE identifier IN ('routes have queues', 'databases count their zones');
                    PRAGMA user_version = \(Schema.frozenVersion + 4);
                    UPDATE webhook SET delivered = \(log[1].rawValue) WHERE id = \(hooks[0].rawValue);
                    UPDATE webhook SET delivered = \(log[3].rawValue) WHERE id = \(hooks[1].rawValue);
                    UPDATE push_token_device SET delivered = \(log[3].rawValue) WHERE token = 'bb';
                    """
            )
        }
        try queue.close()
        store = try SQLiteStore.open(at: path)
        try await store.read { reader throws in
            #expect(
                try reader.queuedDeliveries(in: .webhook(hooks[0]), limit: 9)
                    == [.webhook(hooks[0], users[0])]
            )
            #expect(try reader.webhookCursor(hooks[0], of: users[0]) == log[1])
            #expect(try reader.queuedDeliveries(in: .webhook(hooks[1]), limit: 9) == [])
            #expect(
                try reader.queuedDeliveries(in: .pushTargets(container), limit: 9)
                    == [.pushTarget(tokens[0], in: container)]
            )
        }
        try await store.close()
    }

    private static let noon = Instant(rawValue: 1_800_000_000_000)

    private static func push(_ id: String, to user: UserID) -> StoredNotification {
        StoredNotification(
            user: user, notificationID: id, database: DatabaseID(rawValue: 1),
            subscriptionID: "all", originClient: nil, payload: Array("{}".utf8),
            isBackground: false, collapseID: nil, createdAt: Self.noon
        )
    }

    /// The database and its log.
    private func files() throws -> [Data] {
        try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: path + $0)) }
    }
}
