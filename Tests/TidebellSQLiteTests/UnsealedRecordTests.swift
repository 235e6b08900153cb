// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Testing
import TidebellCore
import TidebellWire

@testable import TidebellSQLite

@Suite("Encrypted fields that an older version stored in clear text")
final class UnsealedRecordTests {
    /// Turns bytes round, and notes for what.
    private struct Reversal: FieldCipher {
        let rootKeyID = "root"

        func makeKey(of zone: ZoneKey) -> WrappedKey? { WrappedKey([UInt8(zone.rawValue)]) }

        func seal(
            _ bytes: [UInt8], ofRecord name: String, in zone: ZoneKey, under key: WrappedKey
        ) -> [UInt8] { Array(name.utf8) + key.bytes + bytes.reversed() }

        func open(
            _ sealed: [UInt8], ofRecord name: String, in zone: ZoneKey, under key: WrappedKey
        ) -> [UInt8] { sealed.dropFirst(name.utf8.count + key.bytes.count).reversed() }
    }

    private let path = SQLiteEngine.newPath()
    private let plain = ["title": Field(.string("hello"))]
    private let encrypted = [
        "title": Field(.string("hello")), "secret": Field(.string("word"), isEncrypted: true),
    ]

    deinit {
        try? FileManager.default.removeItem(
            at: URL(fileURLWithPath: path).deletingLastPathComponent()
        )
    }

    /// A store as version 3 had it: `n1` to `n5` with an encrypted field, `p` without.
    private func makeStore() async throws {
        let store = try SQLiteStore.open(at: path)
        try await store.write(.everything) { [plain, encrypted] transaction in
            let database = try transaction.makeDatabase(
                DatabaseKey(
                    container: ContainerKey(container: "c", environment: .development),
                    scope: .private, owner: UserID(rawValue: 1)
                )
            )
            let zone = try #require(try transaction.zones(nil, in: database.id).first)
            let records = ["n1", "n2", "n3", "n4", "n5", "p"].enumerated().map { index, name in
                StoredRecord(
                    name: name, type: "Note", position: Position(rawValue: Int64(index) + 1),
                    created: RecordStamp(timestamp: 1, userRecordName: "_a", deviceID: ""),
                    modified: RecordStamp(timestamp: 1, userRecordName: "_a", deviceID: ""),
                    fields: RecordFields(name == "p" ? plain : encrypted)
                )
            }
            try transaction.putRecords(records, in: zone.key)
        }
        try await store.close()
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    DROP TABLE zone_key; DROP TABLE unsealed_record;
                    ALTER TABLE zone DROP COLUMN sealed; ALTER TABLE asset DROP COLUMN key;
                    PRAGMA user_version = 3;
                    """
            )
        }
        try queue.close()
    }

    private static func records(_ reader: any StoreReader) throws -> (
        zone: StoredZone, records: [StoredRecord]
    ) {
        let zone = try #require(try reader.zones(nil, in: DatabaseID(rawValue: 1)).first)
        let page = try reader.recordChanges(
            in: zone.key, after: .start, limit: 10, byteLimit: .max, reverse: false
        )
        return (zone, page.records)
    }

    @Test("REC-11: are encrypted step by step, also after a stop, and nobody sees a change")
    func steps() async throws {
        try await makeStore()
        let first = try SQLiteStore.open(at: path)
        let before = try await first.read { try Self.records($0).records }
        let one = try await first.write(.everything) {
            try SealRecords.run(limit: 3, with: Reversal(), in: $0)
        }
        #expect(one == 3)
        try await first.close()
        let store = try SQLiteStore.open(at: path)
        let counts = try await store.write(.everything) { transaction in
            try (1...2).map { _ in
                try SealRecords.run(limit: 3, with: Reversal(), in: transaction)
            }
        }
        #expect(counts == [2, 0])
        try await store.read { reader throws in
            let (zone, records) = try Self.records(reader)
            #expect(records.map(\.fields.isSealed) == [true, true, true, true, true, false])
            var opened = records
            for index in opened.indices where opened[index].fields.isSealed {
                opened[index].fields = try Reversal().opened(
                    opened[index].fields, ofRecord: opened[index].name, in: zone
                )
            }
            #expect(opened == before)
            #expect(zone.fieldKey == .wrapped(WrappedKey([UInt8(zone.key.rawValue)])))
        }
        try await store.close()
    }

    @Test("REC-11: of records that were deleted or whose zone went, nothing is left to do")
    func gone() async throws {
        try await makeStore()
        let store = try SQLiteStore.open(at: path)
        let counts = try await store.write(.everything) { transaction in
            var (zone, records) = try Self.records(transaction)
            records[0].fields = .none
            records[0].isDeleted = true
            try transaction.putRecords([records[0]], in: zone.key)
            let first = try SealRecords.run(limit: 1, with: Reversal(), in: transaction)
            try transaction.deleteZones(
                [(zone.key, Position(rawValue: 9))], reason: .deleted, at: Instant(rawValue: 1)
            )
            return [first, try SealRecords.run(limit: 9, with: Reversal(), in: transaction)]
        }
        #expect(counts == [1, 0])
        try await store.close()
    }

    @Test("A record with encrypted values shows that they are there, and nothing of them")
    func sealedForm() async throws {
        let sealed = RecordFields(sealing: encrypted) { Array($0.reversed()) }
        #expect(
            try sealed.decoded().filter { $0.key != "" }
                == [
                    "title": Field(.string("hello")),
                    "secret": Field(.bytes([]), isEncrypted: true),
                ]
        )
        #expect(try sealed.opened { Array($0.reversed()) } == RecordFields(encrypted))
        let shown =
            #"{"secret":{"value":"","type":"BYTES","isEncrypted":true},"#
            + #""title":{"value":"hello","type":"STRING"}}"#
        for fields in [sealed, RecordFields(encrypted)] {
            #expect(
                try String(decoding: fields.withoutEncryptedValues().json, as: UTF8.self) == shown)
        }
        #expect(try RecordFields(plain).withoutEncryptedValues() == RecordFields(plain))
    }
}
