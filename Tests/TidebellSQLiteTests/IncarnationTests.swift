// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Testing
import TidebellCore
import TidebellWire

@testable import TidebellSQLite

@Suite("A store that came back from an older moment")
final class IncarnationTests {
    private let path = SQLiteEngine.newPath()
    private let moment = Instant(rawValue: 1_800_000_000_000)

    deinit {
        try? FileManager.default.removeItem(
            at: URL(fileURLWithPath: path).deletingLastPathComponent()
        )
    }

    /// The numbers given last, by table, of all tables that give some.
    private func numbers(in store: SQLiteStore) async throws -> [String: Int64] {
        try await store.pool.read { database in
            let given = try Row.fetchAll(database, sql: "SELECT name, seq FROM sqlite_sequence")
            let tables = try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_schema WHERE sql LIKE '%AUTOINCREMENT%'"
            )
            var numbers = Dictionary(uniqueKeysWithValues: tables.map { ($0, Int64(0)) })
            for row in given {
                let name: String = row["name"]
                numbers[name] = row["seq"] as Int64
            }
            return numbers
        }
    }

    private func makeZone(in store: SQLiteStore, at now: Instant) async throws -> StoredZone {
        try await store.write { transaction throws in
            let key = DatabaseKey(
                container: ContainerKey(container: "c", environment: .development),
                scope: .private, owner: UserID(rawValue: 1)
            )
            let database = try transaction.makeDatabase(key)
            let position = try transaction.advance(database.id, by: 1, at: now)
            return try transaction.createZones(
                [("z\(position.rawValue)", position)], in: database.id)[0]
        }
    }

    @Test("H6: begins a life with a number of its own and leaves out all numbers")
    func beginning() async throws {
        let store = try SQLiteStore.open(at: path)
        #expect(store.incarnation == .first)
        let old = try await makeZone(in: store, at: moment)
        let before = try await numbers(in: store)
        try await store.beginNewIncarnation(at: moment)
        #expect(store.incarnation == Incarnation(rawValue: moment.rawValue))
        let after = try await numbers(in: store)
        #expect(after.keys.sorted() == before.keys.sorted())
        #expect(after.count > 8)
        #expect(after.allSatisfy { $0.value >= moment.rawValue * 1000 })
        let floor = try await store.read { try $0.notificationFloor() }
        #expect(floor.rawValue == after["notification"])
        #expect(try await store.read { try $0.notificationHead() } == floor)
        let new = try await makeZone(in: store, at: moment)
        #expect(new.key.rawValue > moment.rawValue * 1000)
        // What the lost life may have given out while it ran ahead of the clock.
        #expect(new.position > old.position.advanced(by: 1_000_000))
        try await store.close()
        let reopened = try SQLiteStore.open(at: path)
        #expect(reopened.incarnation == Incarnation(rawValue: moment.rawValue))
        try await reopened.close()
    }

    @Test("H6: two lives that begin with the same copy have nothing in common")
    func twoLives() async throws {
        var keys: [ZoneKey] = []
        var lives: [Incarnation] = []
        try await SQLiteStore.open(at: path).close()
        let copy = try Data(contentsOf: URL(fileURLWithPath: path))
        for now in [moment, moment.advanced(by: .seconds(1))] {
            try copy.write(to: URL(fileURLWithPath: path))
            let store = try SQLiteStore.open(at: path)
            try await store.beginNewIncarnation(at: now)
            keys.append(try await makeZone(in: store, at: now).key)
            lives.append(store.incarnation)
            try await store.close()
        }
        #expect(keys[1].rawValue > keys[0].rawValue + 100_000)
        #expect(lives[0] < lives[1])
    }

    @Test("H6: each life is later than the one before, though the clock stands still or goes back")
    func clock() async throws {
        let store = try SQLiteStore.open(at: path)
        var last = (numbers: try await numbers(in: store), life: store.incarnation)
        for seconds in [0, 0, -3600] {
            try await store.beginNewIncarnation(at: moment.advanced(by: .seconds(seconds)))
            let now = try await numbers(in: store)
            #expect(store.incarnation > last.life)
            #expect(now.allSatisfy { $0.value > (last.numbers[$0.key] ?? .max) })
            last = (now, store.incarnation)
        }
        try await store.close()
    }

    @Test("H6: begins a life only where no server may run")
    func administering() async throws {
        let store = try SQLiteStore.open(at: path, for: .administering)
        await #expect(throws: StoreOpenError.inUse(path: path)) {
            try await store.beginNewIncarnation(at: Instant(rawValue: 1))
        }
        #expect(store.incarnation == .first)
        try await store.close()
    }
}
