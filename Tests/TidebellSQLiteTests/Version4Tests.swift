// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Testing
import TidebellCore
import TidebellWire

@testable import TidebellSQLite

/// The tables of version 4 changed under one number: whatever they were, they are migrated.
@Suite("A store of an early version 4")
final class Version4Tests {
    private let path = SQLiteEngine.newPath()
    private let user = UserID(rawValue: 5)
    private let zone = ZoneKey(rawValue: 6)

    init() throws {
        try SQLiteEngine.makeStore(
            at: path, ofVersion: 4, Version4.tables, Version4.rows)
    }

    deinit {
        try? FileManager.default.removeItem(
            at: URL(fileURLWithPath: path).deletingLastPathComponent()
        )
    }

    @Test("is refused where the last ID of a table is no number", arguments: ["'many'", "NULL"])
    func noNumber(_ value: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction {
            try $0.execute(sql: "UPDATE sqlite_sequence SET seq = \(value) WHERE name = 'outbox'")
        }
        try queue.close()
        let sentence = "the last ID of the table 'outbox' is no number"
        #expect(try StoreCheck.refusals(ofStoreAt: path).map(\.problem) == [sentence])
        #expect(throws: StoreOpenError.damaged(path: path, reason: sentence)) {
            try SQLiteStore.open(at: path)
        }
    }

    @Test("is opened, read and written")
    func works() async throws {
        let store = try SQLiteStore.open(at: path)
        let database = DatabaseID(rawValue: 2)
        try await store.write(.everything) { [user] transaction throws in
            let device = try transaction.registerDevice(
                clientID: "pad", user: user,
                container: ContainerKey(container: "c", environment: .development),
                at: Instant(rawValue: 5000)
            )
            try transaction.putPushToken(
                StoredPushToken(token: "cd", apnsEnvironment: .development, courier: nil),
                notifying: device.key, in: SessionID(rawValue: "s1")
            )
            try transaction.appendOutbox([
                OutboxEntry(
                    database: database, zoneName: "Notes", zoneOwner: "_anna", event: .zoneCreated,
                    originUser: user, originClient: "pad", committedAt: Instant(rawValue: 5000)
                )
            ])
        }
        try await store.read { reader throws in
            // What was processed before is not notified again.
            let entries = try reader.outboxes(limit: 10).flatMap(\.entries)
            #expect(entries.map(\.position.rawValue) == [9, 10])
            let size = Int64(
                StoredRecord.overhead + "n1".utf8.count + "Note".utf8.count
                    + #"{"title":{"value":"hello","type":"STRING"}}"#.utf8.count + 5000
            )
            let damaged = Int64(
                StoredRecord.overhead + "n2".utf8.count + "Note".utf8.count
                    + #"{"title":"#.utf8.count)
            #expect(
                try reader.database(id: database)?.use
                    == StorageUse(bytes: size + damaged, records: 2))
            #expect(try reader.awaitedUpload(tokenHash: [7])?.field.fieldName == "f")
        }
        try await store.close()
    }

    @Test("keeps what version 4 knew: devices of records, origins of tokens, removed people")
    func content() async throws {
        let store = try SQLiteStore.open(at: path)
        #expect(store.identity == 77)
        #expect(store.incarnation == Incarnation(rawValue: 3))
        try await store.read { [zone] reader throws in
            let record = try reader.records(["n1"], in: zone)["n1"]
            #expect(record?.created.deviceID == "sealed-1")
            #expect(record?.modified.deviceID == "sealed-2")
            #expect(
                try reader.webToken(hash: WebTokenHash(digest: [1], in: .directory))?.origin
                    == .operator)
            #expect(
                try reader.webToken(hash: WebTokenHash(digest: [2], in: .directory))?.origin
                    == .page)
            #expect(try reader.removedAccounts(limit: 9).map(\.name) == ["ben"])
        }
        try await store.close()
    }

    @Test("M6: with a damaged record is opened, and the record is damaged as before")
    func damage() async throws {
        let store = try SQLiteStore.open(at: path)
        try await store.read { [zone] reader throws in
            let records = try reader.records(["n1", "n2"], in: zone)
            #expect(records.mapValues(\.isDamaged) == ["n1": false, "n2": true])
        }
        try await store.close()
    }
}
