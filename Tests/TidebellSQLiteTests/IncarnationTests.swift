// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Testing
import TidebellCore
import TidebellScheduling
import TidebellWire

@testable import TidebellSQL
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
        try await store.write(.everything) { transaction throws in
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
        let anybody = UserID(rawValue: 1)
        let floor = try await store.read { try $0.notificationFloor(of: anybody) }
        #expect(floor.rawValue == after["notification"])
        #expect(try await store.read { try $0.notificationHead(of: anybody) } == floor)
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

    @Test("H6: an old copy gives out nothing that one of several lives since gave")
    func severalLives() async throws {
        try await SQLiteStore.open(at: path).close()
        let copy = try Data(contentsOf: URL(fileURLWithPath: path))
        var given: [StoredZone] = []
        var now = moment
        for isCopy in [false, false, false, true] {
            now = now.advanced(by: .seconds(1))
            if isCopy { try copy.write(to: URL(fileURLWithPath: path)) }
            let store = try SQLiteStore.open(at: path)
            try await store.beginNewIncarnation(at: now)
            given.append(try await makeZone(in: store, at: now))
            try await store.close()
        }
        let keys = given.map(\.key.rawValue)
        let positions = given.map(\.position)
        #expect(keys == keys.sorted() && Set(keys).count == keys.count)
        #expect(positions == positions.sorted() && Set(positions).count == positions.count)
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

@Suite("A store that is brought back without a word")
final class LostLifeTests {
    private let path = SQLiteEngine.newPath()
    private let moment = Instant(rawValue: 1_800_000_000_000)
    private let key = DatabaseKey(
        container: ContainerKey(container: "c", environment: .development), scope: .public,
        owner: nil
    )

    deinit {
        try? FileManager.default.removeItem(
            at: URL(fileURLWithPath: path).deletingLastPathComponent()
        )
    }

    private func open(_ purpose: StorePurpose = .serving) throws -> SQLiteStore {
        try SQLiteStore.open(
            at: path, for: purpose,
            time: Time(now: { [moment] in moment }, clock: ContinuousClock())
        )
    }

    /// Makes a change in the store, as a record is one; in a user's database if one is named.
    private func change(
        _ store: SQLiteStore, at seconds: Int = 0, of user: Int64? = nil
    ) async throws -> Position {
        try await store.write(.everything) { [key, moment] transaction throws in
            var key = key
            if let user {
                key = DatabaseKey(
                    container: key.container, scope: .private, owner: UserID(rawValue: user)
                )
            }
            let database = try transaction.makeDatabase(key)
            return try transaction.advance(
                database.id, by: 1, at: moment.advanced(by: .seconds(seconds))
            )
        }
    }

    /// The files of the store as a killed server leaves them.
    private func files(_ suffixes: [String] = ["", "-wal"]) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for suffix in suffixes {
            files[suffix] = try Data(contentsOf: URL(fileURLWithPath: path + suffix))
        }
        return files
    }

    /// Replaces the files of a closed store.
    private func put(_ files: [String: Data]) throws {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
        for (suffix, data) in files { try data.write(to: URL(fileURLWithPath: path + suffix)) }
    }

    /// Has the store as it was at a kill, with the note as it was then.
    private func kill(_ store: SQLiteStore) async throws -> [String: Data] {
        let files = try files(["", "-wal", "-server"])
        try await store.close()
        return files
    }

    @Test("H6: an older copy is seen to be one, and gives out nothing a second time")
    func olderCopy() async throws {
        var store = try open()
        _ = try await change(store)
        try await store.close()
        let copy = try files([""])
        store = try open()
        #expect(store.cameBackOlder == false)
        let lost = try await change(store, at: 60)
        try await store.close()
        try put(copy)
        store = try open()
        #expect(store.cameBackOlder)
        #expect(store.incarnation == Incarnation(rawValue: moment.rawValue))
        #expect(try await change(store) > lost)
        try await store.close()
        // Once is enough.
        store = try open()
        #expect(store.cameBackOlder == false)
        #expect(store.incarnation == Incarnation(rawValue: moment.rawValue))
        try await store.close()
        // Of a life before: later than the one that was lost.
        try put(copy)
        store = try open()
        #expect(store.cameBackOlder)
        #expect(store.incarnation == Incarnation(rawValue: moment.rawValue + 1))
        try await store.close()
    }

    @Test("H6: a log that lost its last commit, or all of them, is seen to have done so")
    func cutLog() async throws {
        var store = try open()
        _ = try await change(store)
        _ = try await change(store, at: 60)
        let killed = try await kill(store)
        let log = try #require(killed["-wal"])
        for (length, expected) in [
            (log.count, false), (log.count - 100, true), (32, true),
        ] {
            var files = killed
            files["-wal"] = log.prefix(length)
            try put(files)
            store = try open()
            #expect(store.cameBackOlder == expected, "\(length) of \(log.count) bytes")
            try await store.close()
        }
        var files = killed
        files["-wal"] = nil
        try put(files)
        store = try open()
        #expect(store.cameBackOlder)
        try await store.close()
    }

    @Test(
        "H6: a lost change is seen though another database has later positions",
        arguments: [nil, 1] as [Int64?])
    func laterDatabase(isNew user: Int64?) async throws {
        var store = try open()
        _ = try await change(store)
        _ = try await change(store, at: 3600, of: 2)
        _ = try await change(store, at: 60, of: user)
        var files = try await kill(store)
        files["-wal"] = files["-wal"]?.dropLast(100)
        try put(files)
        store = try open()
        #expect(store.cameBackOlder)
        try await store.close()
    }

    /// What ends or begins something, without a position or a notification that shows it.
    static let others = [
        "revoked token", "password", "sign-out", "disabled", "device", "push token",
        "subscription", "webhook", "permission",
    ]

    /// Makes one of ``others`` in a store with an account.
    private func make(_ other: String, in store: SQLiteStore) async throws {
        try await store.write(.everything) { [key, moment] transaction throws in
            let account = try #require(try transaction.account(named: "anna"))
            let user = try transaction.makeUser(
                of: account, in: key.container, recordName: "_anna", at: moment)
            func device() throws -> StoredDevice {
                try transaction.registerDevice(
                    clientID: "phone", user: user.id, container: key.container, at: moment)
            }
            switch other {
            case "revoked token": try transaction.removeToken(hash: [1], .api)
            case "password": try transaction.setPassword("hash", of: account)
            case "sign-out": try transaction.removeSession(SessionID(rawValue: "s"))
            case "disabled": try transaction.setDisabled(true, account)
            case "device": _ = try device()
            case "push token":
                let token = StoredPushToken(
                    token: "t", apnsEnvironment: .development, courier: nil, topic: nil,
                    registeredAt: moment)
                try transaction.putPushToken(token, notifying: try device().key, in: nil)
            case "subscription":
                let database = try transaction.makeDatabase(key)
                try transaction.putSubscriptions([
                    StoredSubscription(
                        database: database.id, user: user.id,
                        subscription: WireSubscription(subscriptionID: "s", kind: .database))
                ])
            case "webhook":
                _ = try transaction.createWebhook(
                    for: key.container, url: "https://receiver.example", secret: [1], at: moment)
            default:
                try transaction.setPermission(.userDiscoverability, of: user.id, to: .granted)
            }
        }
    }

    @Test(
        "H6: a lost change that moved no position and no notification is seen",
        arguments: others, [StorePurpose.serving, .administering])
    func otherChange(_ other: String, by purpose: StorePurpose) async throws {
        var store = try open()
        _ = try await change(store)
        _ = try await store.write(.everything) { [key, moment] transaction throws in
            let account = try transaction.createAccount(named: "anna", at: moment)
            try transaction.putToken(
                StoredToken(hash: [1], name: "ci", createdAt: moment), .api)
            let session = SessionID(rawValue: "s")
            try transaction.putWebToken(
                StoredWebToken(
                    account: account, expiresAt: moment, session: session, origin: .device),
                hash: [2])
            _ = try transaction.makeUser(
                of: account, in: key.container, recordName: "_anna", at: moment)
        }
        if purpose == .administering {
            let command = try open(.administering)
            try await make(other, in: command)
            try await command.close()
        } else {
            try await make(other, in: store)
        }
        let killed = try await kill(store)
        var files = killed
        files["-wal"] = files["-wal"]?.dropLast(100)
        try put(files)
        store = try open()
        #expect(store.cameBackOlder)
        try await store.close()
        // Whole it is no loss.
        try put(killed)
        store = try open()
        #expect(!store.cameBackOlder)
        try await store.close()
    }

    @Test("H6: an account that was erased with its database is no loss")
    func erasedDatabase() async throws {
        var store = try open()
        _ = try await change(store)
        _ = try await change(store, at: 60, of: 2)
        try await store.write(.everything) { transaction in
            let transaction = try #require(transaction as? SQLTransaction)
            try transaction.connection.run("DELETE FROM database WHERE owner = 2")
        }
        try put(try await kill(store))
        store = try open()
        #expect(!store.cameBackOlder)
        try await store.close()
    }

    @Test("H6: a log that a killed command has copied back is no loss")
    func copiedLog() async throws {
        var store = try open()
        _ = try await change(store)
        try put(try await kill(store))
        let command = try DatabaseQueue(path: path)
        try await command.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try command.close()
        #expect(FileManager.default.contents(atPath: "\(path)-wal")?.isEmpty != false)
        store = try open()
        #expect(store.cameBackOlder == false)
        try await store.close()
    }

    @Test("H6: neither kills nor commands at a killed server's store are taken for a loss")
    func noFalseAlarm() async throws {
        var store = try open()
        _ = try await change(store)
        let killed = try await kill(store)
        try put(killed)
        let command = try open(.administering)
        _ = try await command.write(.everything) {
            try $0.createAccount(named: "a", at: Instant(rawValue: 1))
        }
        try await command.close()
        for _ in 0..<2 {
            store = try open()
            #expect(store.cameBackOlder == false)
            #expect(store.incarnation == .first)
            try await store.close()
        }
        // A store of an earlier version has an empty file there, and another store its own.
        let other = StoreNote(
            identity: 8,
            progress: StoreProgress(incarnation: .first, position: Position(rawValue: .max))
        )
        for note in [Data(), Data(other.bytes)] {
            try note.write(to: URL(fileURLWithPath: "\(path)-server"))
            store = try open()
            #expect(store.cameBackOlder == false)
            try await store.close()
        }
    }

    @Test("H6: a life that was begun on purpose is noted: what was before it is older")
    func restored() async throws {
        var store = try open()
        try await store.close()
        let copy = try files([""])
        store = try open()
        try await store.beginNewIncarnation(at: moment)
        try await store.close()
        try put(copy)
        store = try open()
        #expect(store.cameBackOlder)
        #expect(store.incarnation > Incarnation(rawValue: moment.rawValue))
        try await store.close()
    }

    @Test("H6: the latest change that is noted is one of this life")
    func noteOfAnotherLife() async throws {
        var store = try open()
        _ = try await change(store)
        try await store.close()
        let note = URL(fileURLWithPath: "\(path)-server")
        let before = try Data(contentsOf: note)
        #expect(StoreNote(bytes: Array(before.prefix(StoreNote.size)))?.progress.latest != nil)
        store = try open()
        try await store.beginNewIncarnation(at: moment)
        try await store.close()
        try before.write(to: note)
        store = try open()
        #expect(store.cameBackOlder == false)
        try await store.close()
        let after = try #require(
            StoreNote(bytes: Array(try Data(contentsOf: note).prefix(StoreNote.size))))
        #expect(after.progress.incarnation == store.incarnation)
        #expect(after.progress.latest == nil)
    }

    @Test("A note of an earlier version is read, so that its store is known for older")
    func earlierNote() {
        let line = "tidebell 7 1 50 3 1 15962048092200701509"
        let blanks = String(repeating: " ", count: StoreNote.size - 1 - line.utf8.count)
        let note = StoreNote(bytes: Array((line + blanks + "\n").utf8))
        #expect(
            note
                == StoreNote(
                    identity: 7,
                    progress: StoreProgress(
                        incarnation: Incarnation(rawValue: 1), position: Position(rawValue: 50),
                        notification: NotificationSequence(rawValue: 3)
                    )
                )
        )
    }

    @Test("A note comes back whole, and a damaged one not at all")
    func note() {
        let note = StoreNote(
            identity: .max,
            progress: StoreProgress(
                incarnation: Incarnation(rawValue: .max), position: Position(rawValue: .max),
                notification: NotificationSequence(rawValue: .max),
                latest: LatestChange(
                    database: DatabaseID(rawValue: .max), position: Position(rawValue: .max)
                )
            ),
        )
        #expect(note.bytes.count == StoreNote.size)
        #expect(StoreNote(bytes: note.bytes) == note)
        for index in 0..<100 {
            var damaged = note.bytes
            damaged[index] ^= 1
            #expect(StoreNote(bytes: damaged) != note, "byte \(index)")
        }
    }
}
