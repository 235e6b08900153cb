// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import GRDBSQLite
import StoreConformance
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellWire

@testable import TidebellSQL
@testable import TidebellSQLite

@Suite("Group commit", .hangs)
struct GroupCommitTests {
    @Test("Writes that wait share one transaction")
    func waitingWritesShareACommit() async throws {
        var bounds = StoreBounds()
        // However busy the machine is.
        bounds.commitTime = .seconds(3600)
        try await withStore(bounds) { store in
            let commits = CommitCounter()
            try await commits.attach(to: store)
            let gate = BlockingGate()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await store.block(at: gate) }
                await gate.untilReached()
                for number in 0..<GroupCommit.writesPerCommit {
                    group.addTask {
                        try await store.write(.everything) {
                            _ = try $0.createAccount(named: "\(number)", at: .noon)
                        }
                    }
                }
                try await store.untilWaiting(GroupCommit.writesPerCommit)
                gate.open()
                try await group.waitForAll()
            }
            // The transaction of the write that blocked, and that of all others.
            #expect(commits.count.withLock { $0 } == 2)
            let names = try await store.read { try $0.accountNames() }
            #expect(names.count == GroupCommit.writesPerCommit)
            try await commits.detach(from: store)
        }
    }

    @Test("ZONE-1: writes that share a transaction take no name for another that Swift calls equal")
    func memoryOfNames() async throws {
        let key = DatabaseKey(
            container: ContainerKey(container: "iCloud.notes", environment: .development),
            scope: .private, owner: UserID(rawValue: 1))
        let (kelvin, letter) = ("\u{212A}", "K")
        #expect(kelvin == letter)
        try await withStore { store in
            let found = try await store.write(.everything) { transaction in
                let transaction = try #require(transaction as? SQLTransaction)
                try transaction.makeZone(letter, in: key)
                let database = try transaction.makeDatabase(key).id
                return try [letter, kelvin].map {
                    try transaction.zones([$0], in: database).count
                }
            }
            #expect(found == [1, 0])
        }
    }

    @Test("Writes that share a transaction read what stands in it, also after one was undone")
    func memory() async throws {
        struct Undone: Error {}
        let container = ContainerKey(container: "iCloud.notes", environment: .development)
        let key = DatabaseKey(container: container, scope: .private, owner: UserID(rawValue: 1))
        /// Reads, writes and reads again, and compares with what stands in the tables.
        @Sendable func step(
            in store: SQLiteStore, _ body: @escaping @Sendable (SQLTransaction) throws -> Void
        ) async throws {
            try await store.write(.everything) { transaction in
                let transaction = try #require(transaction as? SQLTransaction)
                let stored = SQLReader(transaction.connection, .short)
                func compare() throws {
                    let database = try stored.database(key)
                    #expect(try transaction.database(key) == database)
                    if let id = database?.id {
                        for name in ["diary", "other"] {
                            let zones = try stored.zones([name], in: id)
                            #expect(try transaction.zones([name], in: id) == zones)
                        }
                    }
                    let revision = try stored.schemaRevision(of: key.container)
                    #expect(try transaction.schemaRevision(of: key.container) == revision)
                    let use = try stored.privateUse(of: AccountID(rawValue: 1))
                    #expect(try transaction.privateUse(of: AccountID(rawValue: 1)) == use)
                    let token = try stored.webToken(hash: WebTokenHash(digest: [1], in: .directory))
                    #expect(
                        try transaction.webToken(hash: WebTokenHash(digest: [1], in: .directory))
                            == token)
                }
                try compare()
                defer { #expect(throws: Never.self) { try compare() } }
                try body(transaction)
            }
        }
        let steps: [@Sendable (SQLTransaction) throws -> Void] = [
            { try $0.makeZone("diary", in: key) },
            { try $0.change("diary", in: key) },
            { transaction in
                try transaction.change("diary", in: key)
                throw Undone()
            },
            { try $0.change("diary", in: key) },
            { transaction in
                let database = try transaction.makeDatabase(key).id
                try transaction.putSubscriptions([
                    StoredSubscription(
                        database: database, user: UserID(rawValue: 1),
                        subscription: WireSubscription(subscriptionID: "all", kind: .database))
                ])
            },
            { transaction in
                let note = StoredRecordType(fields: ["text": StoredField(.string)])
                try transaction.addRecordTypes(["Note": note], in: key.container)
                throw Undone()
            },
            { transaction in
                let database = try transaction.makeDatabase(key).id
                guard let zone = try transaction.zones(["diary"], in: database).first else {
                    return
                }
                let position = try transaction.advance(database, by: 1, at: .noon, adding: .zero)
                try transaction.deleteZones([(zone.key, position)], reason: .deleted, at: .noon)
                try transaction.makeZone("other", in: key)
            },
            { try $0.makeZone("diary", in: key) },
            { try $0.change("diary", in: key) },
        ]
        try await withStore { store in
            try await store.write(.everything) { transaction in
                let account = try transaction.createAccount(named: "anna", at: .noon)
                let anna = try transaction.joinContainer(
                    container, as: account, recordName: "_anna", limits: Limits(), at: .noon)
                #expect([account.rawValue, anna.id.rawValue] == [1, 1])
            }
            let gate = BlockingGate()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await store.block(at: gate) }
                await gate.untilReached()
                for (index, body) in steps.enumerated() {
                    group.addTask {
                        do {
                            try await step(in: store, body)
                        } catch is Undone {}
                    }
                    try await store.untilWaiting(index + 1)
                }
                gate.open()
                try await group.waitForAll()
            }
        }
    }

    @Test("Who sends many writes waits for itself: another one's write is the next")
    func turns() async throws {
        try await withStore { store in
            let gate = BlockingGate()
            let order = Order()
            try await withThrowingTaskGroup(of: Void.self) { group in
                // The crowd's transaction has begun when the others come.
                group.addTask {
                    try await store.write(.everything, for: AccountID(rawValue: 1)) { _ in
                        gate.reached()
                        gate.waitUntilOpen()
                    }
                }
                await gate.untilReached()
                let callers: [Int64?] = Array(repeating: 1, count: 300) + [2, nil, 2]
                for (index, caller) in callers.enumerated() {
                    let account = caller.map { AccountID(rawValue: $0) }
                    group.addTask {
                        try await store.write(.everything, for: account) { _ in
                            order.callers.withLock { $0.append(caller) }
                        }
                    }
                    try await store.untilWaiting(index + 1)
                }
                gate.open()
                try await group.waitForAll()
            }
            let ran = order.callers.withLock { $0 }
            #expect(ran.count == 303)
            #expect(ran.prefix(6) == [2, nil, 1, 2, 1, 1])
        }
    }

    @Test("A transaction takes no more writes when its time is up")
    func commitTime() async throws {
        var bounds = StoreBounds()
        bounds.commitTime = .zero
        try await withStore(bounds) { store in
            let commits = CommitCounter()
            try await commits.attach(to: store)
            let gate = BlockingGate()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await store.block(at: gate) }
                await gate.untilReached()
                for number in 0..<5 {
                    group.addTask {
                        try await store.write(.everything) {
                            _ = try $0.createAccount(named: "\(number)", at: .noon)
                        }
                    }
                }
                try await store.untilWaiting(5)
                gate.open()
                try await group.waitForAll()
            }
            #expect(commits.count.withLock { $0 } == 6)
            #expect(try await store.read { try $0.accountNames() }.count == 5)
            try await commits.detach(from: store)
        }
    }

    @Test("Writes of one caller beyond its bound are refused, others' and the server's are not")
    func tooManyOfOneCaller() async throws {
        var bounds = StoreBounds()
        bounds.waitingWritesPerCaller = 2
        try await withStore(bounds) { store in
            let gate = BlockingGate()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await store.block(at: gate) }
                await gate.untilReached()
                let callers: [Int64?] = [1, 1, 2, nil, nil, nil]
                for (index, caller) in callers.enumerated() {
                    let account = caller.map { AccountID(rawValue: $0) }
                    group.addTask {
                        try await store.write(.everything, for: account) { _ in }
                    }
                    try await store.untilWaiting(index + 1)
                }
                let refused = await #expect(throws: WireError.self) {
                    try await store.write(.everything, for: AccountID(rawValue: 1)) { _ in }
                }
                #expect(refused?.code == .throttled)
                #expect(refused?.bound == .waitingWritesPerCaller)
                #expect(
                    refused?.reason
                        == "2 of your requests wait for the store already (waitingWritesPerCaller): "
                        + "send fewer at a time")
                gate.open()
                try await group.waitForAll()
            }
        }
    }

    @Test("Writes beyond the bound fail, to be tried again later")
    func tooManyWritesAreTurnedAway() async throws {
        try await withStore { store in
            let gate = BlockingGate()
            try await withThrowingTaskGroup(of: WireError?.self) { group in
                group.addTask {
                    try await store.block(at: gate)
                    return nil
                }
                await gate.untilReached()
                for _ in 0...StoreBounds().waitingWrites {
                    group.addTask {
                        do {
                            try await store.write(.everything) { _ in }
                            return nil
                        } catch let error as WireError { return error }
                    }
                }
                // Only one who is turned away returns while the gate is shut.
                let refused = try await group.next()
                gate.open()
                var others: [WireError?] = []
                for try await result in group { others.append(result) }
                #expect(
                    refused
                        == WireError(
                            .tryAgainLater,
                            "4096 requests wait for the store already (waitingWrites): try again",
                            retryAfter: 1
                        )
                )
                #expect((refused ?? nil)?.bound == .waitingWrites)
                #expect(others.allSatisfy { $0 == nil })
                #expect(others.count == StoreBounds().waitingWrites + 1)
            }
        }
    }

    @Test("A full disk fails the writes it meets, with its name, and no others")
    func fullDisk() async throws {
        try await withStore { store in
            let small: @Sendable (String) async throws -> Void = { name in
                try await store.write(.everything) {
                    _ = try $0.createAccount(named: name, at: .noon)
                }
            }
            try await small("before")
            try await store.setMaximumPages(1)
            let name = String(repeating: "x", count: 100_000)
            let full = StoreUnavailable(
                .diskIsFull, detail: "the disk is full, nothing was stored, code 13")
            #expect(
                await #expect(throws: StoreUnavailable.self) { try await small(name) } == full)
            #expect(store.troubles.present == full)
            try await store.setMaximumPages(1_000_000)
            try await small("later")
            #expect(try await store.read { try $0.accountNames() } == ["before", "later"])
        }
    }

    @Test("A full disk undoes only the write that met it, not its company")
    func fullDiskInCompany() async throws {
        try await withStore { store in
            try await store.setMaximumPages(200)
            let gate = BlockingGate()
            let failures = try await withThrowingTaskGroup(of: String?.self) { group in
                group.addTask {
                    try await store.block(at: gate)
                    return nil
                }
                await gate.untilReached()
                let names = ["a", String(repeating: "x", count: 2_000_000), "b"]
                for (index, name) in names.enumerated() {
                    group.addTask {
                        do {
                            try await store.write(.everything) {
                                _ = try $0.createAccount(named: name, at: .noon)
                            }
                            return nil
                        } catch { return String(name.prefix(1)) }
                    }
                    try await store.untilWaiting(index + 1)
                }
                gate.open()
                return try await group.reduce(into: Set<String>()) { $0.formUnion([$1 ?? ""]) }
            }
            // "a" was undone with the transaction, or kept: never half.
            #expect(failures.contains("x"))
            let names = try await store.read { try $0.accountNames() }
            #expect(names == ["a", "b"].filter { !failures.contains($0) })
            #expect(names.contains("b"))
        }
    }

    @Test("What fails after it wrote is undone alone; only then its company runs once more")
    func failureInCompany() async throws {
        struct Refused: Error {}
        /// Returns how often each ran, where every other one fails.
        func runs(failingAfter write: Bool) async throws -> [Int: Int] {
            let counter = RunCounter()
            try await withStore { store in
                let gate = BlockingGate()
                let failed = try await withThrowingTaskGroup(of: Int?.self) { group in
                    group.addTask {
                        try await store.block(at: gate)
                        return nil
                    }
                    await gate.untilReached()
                    for number in 0..<5 {
                        group.addTask {
                            do {
                                try await store.write(.everything) { transaction in
                                    counter.note(number)
                                    if number % 2 == 1, !write { throw Refused() }
                                    _ = try transaction.createAccount(
                                        named: "\(number)", at: .noon)
                                    if number % 2 == 1 { throw Refused() }
                                }
                                return nil
                            } catch is Refused { return number }
                        }
                        try await store.untilWaiting(number + 1)
                    }
                    gate.open()
                    return try await group.reduce(into: []) { $0 += [$1].compactMap { $0 } }
                }
                #expect(failed.sorted() == [1, 3])
                #expect(try await store.read { try $0.accountNames() } == ["0", "2", "4"])
            }
            return counter.all
        }
        #expect(try await runs(failingAfter: false) == [0: 1, 1: 1, 2: 1, 3: 1, 4: 1])
        // Only the first that fails has the one before it run again: the others join in savepoints.
        #expect(try await runs(failingAfter: true) == [0: 2, 1: 2, 2: 1, 3: 1, 4: 1])
    }

    @Test("What fails after it wrote, without company, runs once")
    func failureWithoutCompany() async throws {
        struct Refused: Error {}
        let counter = RunCounter()
        try await withStore { store in
            await #expect(throws: Refused.self) {
                try await store.write(.everything) { transaction in
                    counter.note(0)
                    _ = try transaction.createAccount(named: "anna", at: .noon)
                    throw Refused()
                }
            }
            let names = try await store.read { try $0.accountNames() }
            #expect(names == [])
        }
        #expect(counter.all == [0: 1])
    }

    @Test("M6: damage undoes only the write that met it, not its company")
    func damageInCompany() async throws {
        try await withStore { store in
            let gate = BlockingGate()
            let failed = try await withThrowingTaskGroup(of: String?.self) { group in
                group.addTask {
                    try await store.block(at: gate)
                    return nil
                }
                await gate.untilReached()
                for (index, name) in ["a", "damaged", "b"].enumerated() {
                    group.addTask {
                        do {
                            try await store.write(.everything) { transaction in
                                _ = try transaction.createAccount(named: name, at: .noon)
                                let transaction = try #require(transaction as? SQLTransaction)
                                guard name == "damaged" else { return }
                                // Also a body that thinks it can go on.
                                _ = transaction.connection.damaged("a page", "SELECT 1")
                            }
                            return nil
                        } catch is StoreDamaged { return name }
                    }
                    try await store.untilWaiting(index + 1)
                }
                gate.open()
                return try await group.reduce(into: Set<String>()) { $0.formUnion([$1 ?? ""]) }
            }
            #expect(failed == ["", "damaged"])
            #expect(try await store.read { try $0.accountNames() } == ["a", "b"])
        }
    }

    @Test("M6: however many writes meet damage, none runs a third time")
    func muchDamageInCompany() async throws {
        try await withStore { store in
            let gate = BlockingGate()
            let runs = RunCounter()
            let sound = 20
            let failed = try await withThrowingTaskGroup(of: Int?.self) { group in
                group.addTask {
                    try await store.block(at: gate)
                    return nil
                }
                await gate.untilReached()
                for number in 0..<2 * sound {
                    group.addTask {
                        do {
                            try await store.write(.everything) { transaction in
                                runs.note(number)
                                _ = try transaction.createAccount(named: "\(number)", at: .noon)
                                let transaction = try #require(transaction as? SQLTransaction)
                                guard number >= sound else { return }
                                throw transaction.connection.damaged("a page", "SELECT 1")
                            }
                            return nil
                        } catch is StoreDamaged { return number }
                    }
                    try await store.untilWaiting(number + 1)
                }
                gate.open()
                return try await group.reduce(into: Set<Int>()) { failed, number in
                    if let number { failed.insert(number) }
                }
            }
            #expect(failed == Set(sound..<2 * sound))
            #expect(runs.most == 2)
            let names = try await store.read { try $0.accountNames() }
            #expect(Set(names) == Set((0..<sound).map { "\($0)" }))
        }
    }
}

/// Runs `body` with a new store and removes it.
private func withStore(
    _ bounds: StoreBounds = StoreBounds(), _ body: (SQLiteStore) async throws -> Void
) async throws {
    let store = try SQLiteStore.open(at: SQLiteEngine.newPath(), bounds: bounds)
    try await body(store)
    try await SQLiteEngine().remove(store)
}

extension SQLTransaction {
    /// Creates a zone at the next position of a database.
    fileprivate func makeZone(_ name: String, in key: DatabaseKey) throws {
        let database = try makeDatabase(key).id
        let position = try advance(database, by: 1, at: .noon, adding: .zero)
        _ = try createZones([(name, position)], in: database)
    }

    /// Notes that something in a zone changed, as a save does.
    fileprivate func change(_ name: String, in key: DatabaseKey) throws {
        let database = try makeDatabase(key).id
        guard let zone = try zones([name], in: database).first else { return }
        let change = StorageUse(bytes: 7, records: 1)
        let position = try advance(database, by: 2, at: .noon, adding: change)
        try touchZone(
            zone.key, position: position.advanced(by: 1), clientChangeToken: [UInt8](1...3),
            adding: change)
    }
}

extension SQLiteStore {
    /// Holds the writer connection until the gate opens.
    fileprivate func block(at gate: BlockingGate) async throws {
        try await write(.everything) { _ in
            gate.reached()
            gate.waitUntilOpen()
        }
    }

    /// Waits until this many writes wait for the one that holds the connection.
    fileprivate func untilWaiting(_ count: Int) async throws {
        await eventually { waitingWrites >= count }
    }

    /// Makes the file as large as it may become.
    fileprivate func setMaximumPages(_ pages: Int) async throws {
        try await pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
    }
}

/// Whose writes ran, in their order.
private final class Order: Sendable {
    let callers = Mutex<[Int64?]>([])
}

/// Counts how often writes run.
private final class RunCounter: Sendable {
    private let runs = Mutex<[Int: Int]>([:])

    /// The runs of each.
    var all: [Int: Int] { runs.withLock { $0 } }

    /// The runs of the write that ran most often.
    var most: Int { runs.withLock { $0.values.max() ?? 0 } }

    func note(_ write: Int) { runs.withLock { $0[write, default: 0] += 1 } }
}

/// Counts the transactions of the writer connection.
private final class CommitCounter: Sendable {
    let count = Mutex(0)

    /// Counts from now on, until ``detach(from:)``.
    func attach(to store: SQLiteStore) async throws {
        try await store.pool.writeWithoutTransaction { database in
            _ = sqlite3_commit_hook(
                database.sqliteConnection,
                { context in
                    guard let context else { return 0 }
                    let counter = Unmanaged<CommitCounter>.fromOpaque(context)
                    counter.takeUnretainedValue().count.withLock { $0 += 1 }
                    return 0
                }, Unmanaged.passUnretained(self).toOpaque()
            )
        }
    }

    /// Counts no more.
    func detach(from store: SQLiteStore) async throws {
        try await store.pool.writeWithoutTransaction { database in
            _ = sqlite3_commit_hook(database.sqliteConnection, nil, nil)
        }
    }
}
