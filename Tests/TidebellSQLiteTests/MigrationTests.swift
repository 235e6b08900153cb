// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Testing
import TidebellCore
import TidebellWire

@testable import TidebellSQLite

@Suite("A store of an older version")
final class MigrationTests {
    let path = SQLiteEngine.newPath()
    /// Where a store is made that is of this version at first.
    private let other = SQLiteEngine.newPath()
    private let container = ContainerKey(
        container: "iCloud.org.example.notes", environment: .development
    )
    private let user = UserID(rawValue: 5)
    private let database = DatabaseID(rawValue: 2)

    init() throws {
        try SQLiteEngine.makeStore(
            at: path, ofVersion: 1, Version1.tables, Version1.rows)
    }

    deinit {
        for path in [path, other] {
            // Not every test makes the second.
            try? FileManager.default.removeItem(
                at: URL(fileURLWithPath: path).deletingLastPathComponent()
            )
        }
    }

    /// Makes a store, changes its file to what an older version left, and opens it again.
    private func migrated(
        _ change: @escaping @Sendable (Database) throws -> Void
    ) async throws -> SQLiteStore {
        try await SQLiteStore.open(at: other).close()
        let queue = try DatabaseQueue(path: other)
        try await queue.writeWithoutTransaction(change)
        try queue.close()
        return try SQLiteStore.open(at: other)
    }

    @Test("gets the tables a new store has")
    func tables() async throws {
        try await SQLiteStore.open(at: path).close()
        try await SQLiteStore.open(at: other).close()
        #expect(try schema(of: path) == schema(of: other))
    }

    @Test("keeps everything: identity, records, subscriptions, outbox, log, devices, accounts")
    func content() async throws {
        let store = try SQLiteStore.open(at: path)
        #expect(store.identity == 77)
        try await store.read { [container, database, user] reader throws in
            #expect(try reader.accountNames() == ["anna"])
            #expect(try reader.user(of: AccountID(rawValue: 3), in: container)?.id == user)
            #expect(try reader.hasAPIToken(hash: [3, 4], for: container, at: Instant(rawValue: 0)))
            #expect(
                try reader.webToken(hash: WebTokenHash(digest: [1, 2], in: .directory))?.account
                    == AccountID(rawValue: 3)
            )
            #expect(
                try reader.zones(nil, in: database).map(\.name).sorted()
                    == ["Notes", "_defaultZone"]
            )
            let records = try reader.records(["n1"], in: ZoneKey(rawValue: 6))
            #expect(
                try records["n1"]?.fields.decoded() == ["title": Field(.string("hello"))]
            )
            let subscriptions = try reader.subscriptions(nil, of: user, in: database)
            #expect(subscriptions.map(\.subscription.subscriptionID) == ["all", "notes"])
            let entry = try #require(try reader.outboxes(limit: 10).first?.entries.first)
            #expect(entry.position == OutboxPosition(rawValue: 8))
            #expect(
                entry.event
                    == .records([
                        RecordChange(recordName: "n1", recordType: "Note", event: .created)
                    ])
            )
            let log = try reader.notifications(
                for: user, after: .start, excludingOrigin: nil, limit: 10
            )
            #expect(log.map(\.sequence.rawValue) == [11])
            #expect(log.map(\.payload) == [Array("{}".utf8)])
            #expect(try reader.devices(of: user).map(\.clientID) == ["tablet"])
            let courier = try reader.pushToken(courier: "capability", at: .noon)
            #expect(courier?.devices.map(\.clientID) == ["tablet"])
        }
        try await store.close()
    }

    @Test("ACCT-9: knows what its zones, databases and subscriptions take")
    func uses() async throws {
        let store = try SQLiteStore.open(at: path)
        let size = Int64(
            StoredRecord.overhead + "n1".utf8.count + "Note".utf8.count
                + #"{"title":{"value":"hello","type":"STRING"}}"#.utf8.count
        )
        try await store.read { [container, database, user] reader throws in
            let record = try reader.records(["n1"], in: ZoneKey(rawValue: 6))["n1"]
            #expect(record?.size == size)
            let use = StorageUse(bytes: size, records: 1)
            #expect(try reader.database(id: database)?.use == use)
            #expect(try reader.privateUse(of: AccountID(rawValue: 3)) == use)
            #expect(
                try reader.storageUses() == [NamedStorageUse(.account("anna"), use)])
            #expect(container.container == "iCloud.org.example.notes")
            let summaries = try reader.subscriptionSummaries(of: user, in: database)
            let whole = try reader.subscriptions(nil, of: user, in: database)
            #expect(
                summaries.map(\.duplicateHash) == whole.map(\.subscription.duplicateHash))
            #expect(summaries.allSatisfy { $0.bytes > 0 })
        }
        try await store.close()
    }

    @Test("ACCT-9: of version 3 counts the files of each record, and nothing for deleted ones")
    func usesOfFiles() async throws {
        let store = try await migrated { database in
            try database.execute(
                sql: """
                    ALTER TABLE record DROP COLUMN size;
                    INSERT INTO database (id, container, environment, scope, owner, head, floor,
                        subscription_kinds)
                    VALUES (2, 'c', 'development', 'public', 0, 3, 0, 0);
                    INSERT INTO zone (key, database, name, position, floor) VALUES (6, 2, 'z', 3, 0);
                    INSERT INTO asset (content, file, size, checksum)
                    VALUES ('x', 'f1', 5000, ''), ('y', 'f2', 70, '');
                    INSERT INTO asset_use VALUES (6, 'a', 'x'), (6, 'a', 'y'), (6, 'b', 'x');
                    PRAGMA user_version = 3;
                    """
            )
            for (position, name) in ["a", "b", "gone"].enumerated() {
                try database.execute(
                    sql: """
                        INSERT INTO record
                            (zone, position, name, type, created_at, created_by, created_device,
                            modified_at, modified_by, modified_device, deleted, fields)
                        VALUES (6, ?, ?, 'Note', 1, '_a', '', 1, '_a', '', ?, CAST('{}' AS BLOB))
                        """,
                    arguments: [position + 1, name, name == "gone"]
                )
            }
        }
        let plain = Int64(StoredRecord.overhead + "aNote{}".utf8.count)
        try await store.read { reader throws in
            let records = try reader.records(["a", "b"], in: ZoneKey(rawValue: 6))
            #expect(records.mapValues(\.size) == ["a": plain + 5070, "b": plain + 5000])
            #expect(
                try reader.storageUses().map(\.use)
                    == [StorageUse(bytes: 2 * plain + 10_070, records: 2)])
        }
        try await store.close()
    }

    @Test("is the same where it was called version 2, as some were")
    func earlyVersion2() async throws {
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA user_version = 2")
        }
        try queue.close()
        try await content()
        try await tables()
    }

    @Test("of version 2 keeps what that one knew, but not which device wrote a record")
    func lateVersion2() async throws {
        let store = try await migrated { database in
            try database.execute(
                sql: """
                    DROP TABLE web_token;
                    CREATE TABLE web_token (
                        hash BLOB NOT NULL PRIMARY KEY, account INTEGER NOT NULL,
                        expires_at INTEGER NOT NULL, lifetime INTEGER, renewed_at INTEGER
                    ) STRICT, WITHOUT ROWID;
                    INSERT INTO account (id, name, created_at) VALUES (3, 'anna', 1);
                    INSERT INTO web_token VALUES (x'01', 3, 70, 60, 50);
                    INSERT INTO device VALUES (1, 5, 'c', 'development', 'phone', 0, 7, 9);
                    INSERT INTO push_token VALUES ('t', 'development', 'capability', NULL, 8);
                    INSERT INTO push_token_device (token, device) VALUES ('t', 1);
                    INSERT INTO record
                        (zone, position, name, type, created_at, created_by, created_device,
                        modified_at, modified_by, modified_device, parent, deleted, fields)
                    VALUES
                        (6, 9, 'n', 'Note', 1, '_a', 'phone', 2, '_b', 'pad', NULL, 0, x'7b7d');
                    PRAGMA user_version = 2;
                    """
            )
        }
        try await store.read { reader throws in
            let record = try reader.records(["n"], in: ZoneKey(rawValue: 6))["n"]
            #expect(
                record?.created == RecordStamp(timestamp: 1, userRecordName: "_a", deviceID: ""))
            #expect(
                record?.modified == RecordStamp(timestamp: 2, userRecordName: "_b", deviceID: ""))
            #expect(
                try reader.webToken(hash: WebTokenHash(digest: [1], in: .directory))
                    == StoredWebToken(
                        account: AccountID(rawValue: 3), expiresAt: Instant(rawValue: 70),
                        lifetime: .milliseconds(60), renewedAt: Instant(rawValue: 50),
                        session: SessionID(rawValue: "01"), origin: .device
                    )
            )
            #expect(try reader.pushToken("t")?.registeredAt == Instant(rawValue: 8))
        }
        #expect(
            try await store.pool.read {
                try Int.fetchOne($0, sql: "SELECT seen_at FROM device")
            } == 9
        )
        try await store.close()
    }

    @Test("REC-11: of version 2 has fields encrypted only where no record has them plain")
    func plainFields() async throws {
        let store = try await migrated { database in
            try database.execute(
                sql: """
                    INSERT INTO field_type
                        (container, environment, record_type, field, type, encrypted)
                    VALUES
                        ('c', 'development', 'Note', 'mixed', 'STRING', 1),
                        ('c', 'development', 'Note', 'secret', 'STRING', 1),
                        ('other', 'development', 'Note', 'mixed', 'STRING', 1);
                    INSERT INTO database (id, container, environment, scope, owner, head, floor,
                        subscription_kinds)
                    VALUES (2, 'c', 'development', 'private', 5, 1, 0, 0);
                    INSERT INTO zone (key, database, name, position, floor) VALUES (6, 2, 'z', 1, 0);
                    PRAGMA user_version = 2;
                    """
            )
            for (position, record) in [
                #"{"mixed":{"value":"x","type":"STRING","isEncrypted":true},"#
                    + #""secret":{"value":"x","type":"STRING","isEncrypted":true}}"#,
                #"{"mixed":{"value":"y","type":"STRING"}}"#,
            ].enumerated() {
                try database.execute(
                    sql: """
                        INSERT INTO record
                            (zone, position, name, type, created_at, created_by, created_device,
                            modified_at, modified_by, modified_device, parent, deleted, fields)
                        VALUES
                            (6, ?, ?, 'Note', 1, '_a', '', 1, '_a', '', NULL, 0, CAST(? AS BLOB))
                        """,
                    arguments: [position, "n\(position)", record]
                )
            }
        }
        let fields = try await store.read { reader throws in
            try ["c", "other"].map { name in
                try reader.recordTypes(
                    ["Note"], in: ContainerKey(container: name, environment: .development)
                )["Note"]?.fields
            }
        }
        let (plain, encrypted) = (
            StoredField(.string), StoredField(.string, isEncrypted: true)
        )
        #expect(fields == [["mixed": plain, "secret": encrypted], ["mixed": encrypted]])
        try await store.close()
    }

    @Test("has no damage where it gave up files with a lost root key")
    func lostFiles() async throws {
        try await SQLiteStore.open(at: path).close()
        let queue = try DatabaseQueue(path: path)
        try await queue.write { database in
            try database.execute(
                sql: """
                    DROP TABLE lost_asset;
                    PRAGMA user_version = 4;
                    INSERT INTO asset_use (zone, record, content) VALUES (1, 'n', 'gone');
                    """
            )
        }
        try queue.close()
        let store = try SQLiteStore.open(at: path)
        let lost = try await store.pool.read { database in
            try String.fetchAll(database, sql: "SELECT content FROM lost_asset")
        }
        #expect(lost == ["gone"])
        try await store.close()
    }

    @Test("ENV-1: of version 21 has in production what was deployed, with all indexes, and shares")
    func deployedSchemas() async throws {
        let production = ContainerKey(container: "c", environment: .production)
        let store = try await migrated { database in
            try database.execute(
                sql: """
                    DROP TABLE schema_trait;
                    DROP TABLE schema_deployment;
                    DROP TABLE query_use;
                    DROP TABLE user_role;
                    DROP TABLE private_field;
                    ALTER TABLE field_type DROP COLUMN fixed_by;
                    ALTER TABLE field_type DROP COLUMN indexes;
                    DELETE FROM grdb_migrations
                        WHERE identifier LIKE 'schemas have indexes, roles, deployments%'
                            OR identifier LIKE 'private records fix %';
                    PRAGMA user_version = 21;
                    INSERT INTO field_type VALUES
                        ('c', 'production', 'Note', 'title', 'STRING', 0),
                        ('c', 'production', 'Note', 'secret', 'STRING', 1);
                    """
            )
        }
        let schema = try await store.read { try $0.schemaDefinition(of: production) }
        let note = StoredRecordType(fields: [
            "title": StoredField(.string), "secret": StoredField(.string, isEncrypted: true),
        ])
        #expect(
            schema
                == SchemaDefinition(types: [
                    "Note": note, "cloudkit.share": StoredRecordType(),
                ]))
        try await store.close()
    }

    @Test("has the tables of the frozen version, which do not change: what comes is a step")
    func tablesAreFrozen() {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in Schema.tables.joined(separator: "\n").utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        #expect([UInt64(Schema.frozenVersion), hash] == [6, 15_609_900_759_178_329_071])
    }

    @Test("never gives a number twice")
    func numbersGoOn() async throws {
        let store = try SQLiteStore.open(at: path)
        let head = try await store.read { try $0.notificationHead(of: UserID(rawValue: 1)) }
        #expect(head.rawValue == 40)
        try await store.close()
    }

    @Test("is not changed under a server that runs on it")
    func runningServer() throws {
        let server = try ServerLock(storeAt: path)
        #expect(throws: StoreOpenError.inUse(path: path)) {
            try SQLiteStore.open(at: path, for: .administering)
        }
        server.release()
    }

    @Test("is migrated by a command too, when no server runs")
    func administering() async throws {
        let store = try SQLiteStore.open(at: path, for: .administering)
        #expect(try await store.read { try $0.accountNames() } == ["anna"])
        try await store.close()
        try await SQLiteStore.open(at: path).close()
    }

    private func schema(of path: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { database in
            try String.fetchAll(
                database,
                sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name"
            )
        }
    }
}
