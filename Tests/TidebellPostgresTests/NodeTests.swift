// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgresTestServer
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellPostgresClient
import TidebellScheduling
import TidebellWire

@testable import StoreConformance
@testable import TidebellPostgres

@Suite("Nodes of one database", .hangs)
struct NodeTests {
    private static let container = ContainerKey(
        container: "iCloud.org.example.notes", environment: .development)

    private static func open(_ address: PostgresAddress, as name: String?) throws -> PostgresStore {
        try PostgresStore.open(
            at: address, as: name.flatMap { NodeName($0) }, time: .system, randomness: .system)
    }

    /// What was told to a node of the logs.
    private final class Heard: Sendable {
        private let news = Mutex<[Set<UserID>?]>([])

        init(_ store: PostgresStore) {
            store.whenNotifiedElsewhere { users in self.news.withLock { $0.append(users) } }
        }

        var count: Int { news.withLock(\.count) }
        /// How often it was told that any log may have more.
        var ofAll: Int { news.withLock { $0.count { $0 == nil } } }
        /// Whose logs it was told of by name.
        var users: Set<UserID> {
            news.withLock { $0.reduce(into: []) { $0.formUnion($1 ?? []) } }
        }
    }

    private static func user(_ name: String, in store: PostgresStore) async throws -> UserID {
        try await store.write(.everything) { transaction throws in
            let account = try transaction.createAccount(named: name, at: .noon)
            return try transaction.makeUser(
                of: account, in: container, recordName: "_\(name)", at: .noon
            ).id
        }
    }

    private static func notify(_ user: UserID, _ id: String, by store: PostgresStore) async throws {
        try await store.write(.everything) { transaction throws in
            let database = DatabaseKey(container: container, scope: .private, owner: user)
            var push = StoredNotification.push(id, to: user)
            push.database = try transaction.makeDatabase(database).id
            _ = try transaction.appendNotifications([push])
        }
    }

    @Test("Nodes serve a database together, each with a name of its own, and no server beside them")
    func together() async throws {
        let address = try PostgresEngine.makeDatabase()
        let (a, b) = (try Self.open(address, as: "a"), try Self.open(address, as: "b"))
        #expect(throws: StoreOpenError.nodeInUse(name: "a")) { try Self.open(address, as: "a") }
        #expect(throws: StoreOpenError.servedElsewhere(path: address.description)) {
            try Self.open(address, as: nil)
        }
        _ = try await Self.user("anna", in: a)
        #expect(try await b.read { try $0.accountNames() } == ["anna"])
        try await a.close()
        let again = try Self.open(address, as: "a")
        _ = try await Self.user("ben", in: b)
        #expect(try await again.read { try $0.accountNames() } == ["anna", "ben"])
        try await again.close()
        try await b.close()
        // Nobody is left that it would be shared with.
        let alone = try Self.open(address, as: nil)
        #expect(throws: StoreOpenError.servedElsewhere(path: address.description)) {
            try Self.open(address, as: "a")
        }
        try await alone.close()
    }

    @Test("H7: what one node holds the others do not get until it vests or is given back")
    func leases() async throws {
        let address = try PostgresEngine.makeDatabase()
        let (a, b) = (try Self.open(address, as: "a"), try Self.open(address, as: "b"))
        try await a.appendChanges(in: 7, 2)
        let held = try #require(try await a.claim(limit: 1).leases.first)
        #expect(held.key.rawValue == 7)
        #expect(try await b.claim().leases.map(\.key.rawValue) == [2])
        #expect(try await b.claim() == ClaimedLeases(leases: [], nextVesting: .vesting))
        #expect(try await a.holds(held))
        #expect(try await b.holds(held))
        let taken = try #require(try await b.claim(at: .vesting).leases.first)
        #expect(taken.key == held.key)
        #expect(try await !a.holds(held))
        try await a.returnOutboxes([ReturnedLease(held, .done)])
        #expect(try await b.holds(taken))
        try await b.returnOutboxes([ReturnedLease(taken, .failed(vestingAt: .noon))])
        #expect(try await a.claim(at: .vesting).leases.map(\.failures).contains(1))
        try await a.close()
        try await b.close()
    }

    @Test("A clock that is a little behind takes no lease of a node whose clock is ahead")
    func clocks() async throws {
        let address = try PostgresEngine.makeDatabase()
        let (a, b) = (try Self.open(address, as: "a"), try Self.open(address, as: "b"))
        try await a.appendChanges(in: 7)
        let held = try #require(try await a.claim().leases.first)
        #expect(try await b.claim(at: Instant.noon.advanced(by: .seconds(-9))).leases == [])
        #expect(try await a.holds(held))
        try await a.close()
        try await b.close()
    }

    @Test("A claim that waited for the lock of its queue is of the moment at which it has it")
    func waitingClaims() async throws {
        let name = "waiting_claims"
        let address = try PostgresEngine.makeDatabase(named: name)
        let passed = Mutex(Duration.zero)
        let store = try PostgresStore.open(
            at: address, as: NodeName("a"),
            time: Time(
                now: { .noon }, clock: SteppedClock(), elapsed: { passed.withLock { $0 } }),
            randomness: .system)
        try await store.appendChanges(in: 7)
        let admin = try PostgresConnection(PostgresAddress(PostgresEngine.address(of: name)))
        let lock = ScopeLocks.key("queue", "outbox")
        try admin.execute("SELECT pg_advisory_lock($1)", [.int64(lock)])
        async let claimed = store.claim()
        #expect(
            await eventually {
                var waits = false
                _ = try? admin.rows(
                    """
                    SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
                    WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()
                    """
                ) { _ in waits = true }
                return waits
            })
        passed.withLock { $0 = .seconds(40) }
        try admin.execute("SELECT pg_advisory_unlock($1)", [.int64(lock)])
        let held = try #require(try await claimed.leases.first)
        // Who comes then finds it held for half a minute, and not long ended.
        let now = Instant.noon.advanced(by: .seconds(40))
        let others = try await store.claim(at: now)
        #expect(others == ClaimedLeases(leases: [], nextVesting: now.advanced(by: .seconds(30))))
        #expect(try await store.holds(held))
        admin.close()
        try await store.close()
    }

    @Test("PUSH-14: a node is told whose logs another one appended to, and not of its own")
    func news() async throws {
        let address = try PostgresEngine.makeDatabase()
        let (a, b) = (try Self.open(address, as: "a"), try Self.open(address, as: "b"))
        let (heardByA, heardByB) = (Heard(a), Heard(b))
        let anna = try await Self.user("anna", in: a)
        let ben = try await Self.user("ben", in: b)
        // What is told before the other one listens is told to nobody.
        var round = 0
        try await eventually {
            round += 1
            try await Self.notify(anna, "a\(round)", by: a)
            try await Self.notify(ben, "b\(round)", by: b)
            return heardByA.users.contains(ben) && heardByB.users.contains(anna)
        }
        #expect(heardByA.users == [ben])
        #expect(heardByB.users == [anna])
        try await a.close()
        try await b.close()
    }

    @Test("A node hears that another one has ended an access")
    func endedAccess() async throws {
        let address = try PostgresEngine.makeDatabase()
        let (a, b) = (try Self.open(address, as: "a"), try Self.open(address, as: "b"))
        let ended = Atomic(0)
        let commits = b.accessCommits()
        let listening = Task {
            for await _ in commits { ended.add(1, ordering: .relaxed) }
        }
        _ = try await Self.user("anna", in: a)
        var round = 0
        try await eventually {
            round += 1
            let isDisabled = !round.isMultiple(of: 2)
            try await a.write(.everything) { transaction throws in
                let account = try #require(try transaction.account(named: "anna"))
                try transaction.setDisabled(isDisabled, account)
            }
            // That it begins to listen has it look itself.
            return ended.load(ordering: .relaxed) > 1
        }
        #expect(ended.load(ordering: .relaxed) > 1)
        try await a.close()
        try await b.close()
        await listening.value
    }

    @Test("Who lost the connection that news come by, or misses a node, has all logs looked at")
    func lostNews() async throws {
        let name = "lost_news"
        let address = try PostgresEngine.makeDatabase(named: name)
        let (a, b) = (try Self.open(address, as: "a"), try Self.open(address, as: "b"))
        let heard = Heard(b)
        let anna = try await Self.user("anna", in: a)
        func hears(_ user: UserID) async throws {
            var round = 0
            try await eventually {
                round += 1
                try await Self.notify(user, "\(user)-\(round)", by: a)
                return heard.users.contains(user)
            }
        }
        try await hears(anna)
        let admin = try PostgresConnection(PostgresAddress(PostgresEngine.address(of: name)))
        let beforeCut = heard.ofAll
        try admin.execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
        #expect(await eventually { heard.ofAll > beforeCut })
        // Its connection is another one, and hears as before.
        try await hears(try await Self.user("ben", in: a))
        // As a node that was killed and started again within the time that it may be silent.
        let beforeRestart = heard.ofAll
        #expect(
            await eventually {
                _ = try? admin.execute(
                    "INSERT INTO node VALUES ('c', 1, 1, 32503680000000) ON CONFLICT (name) DO "
                        + "UPDATE SET process = node.process + 1")
                return heard.ofAll > beforeRestart
            })
        admin.close()
        try await a.close()
        try await b.close()
    }

    @Test("A node that finds the store in another life can serve it no more")
    func otherLife() async throws {
        let name = "other_life"
        let address = try PostgresEngine.makeDatabase(named: name)
        let store = try Self.open(address, as: "a")
        let losses = Mutex<[StoreOpenError]>([])
        store.whenLost { loss in losses.withLock { $0.append(loss) } }
        let admin = try PostgresConnection(PostgresAddress(PostgresEngine.address(of: name)))
        try admin.execute("UPDATE store SET incarnation = incarnation + 1")
        admin.close()
        #expect(await eventually { !losses.withLock(\.isEmpty) })
        #expect(losses.withLock { $0.first?.description.contains("restart this server") == true })
        try await store.close()
    }

    @Test(
        "Writes of two nodes to the same databases, in any order, all happen, one after the other")
    func contention() async throws {
        let address = try PostgresEngine.makeDatabase()
        let nodes = [try Self.open(address, as: "a"), try Self.open(address, as: "b")]
        var users: [UserID] = []
        for name in ["anna", "ben", "carl"] {
            users.append(try await Self.user(name, in: nodes[0]))
        }
        let keys = users.map { DatabaseKey(container: Self.container, scope: .private, owner: $0) }
        try await nodes[0].write(.everything) { transaction throws in
            for key in keys { _ = try transaction.makeDatabase(key) }
        }
        let rounds = 40
        let positions = try await withThrowingTaskGroup(of: [(Int, Position)].self) { group in
            for round in 0..<rounds {
                for (index, store) in nodes.enumerated() {
                    group.addTask {
                        var taken: [(Int, Position)] = []
                        let order = (round + index).isMultiple(of: 2) ? [0, 1, 2] : [2, 1, 0]
                        for which in order {
                            let position = try await store.write(.database(keys[which])) {
                                transaction throws in
                                let id = try #require(try transaction.database(keys[which])).id
                                return try transaction.advance(id, by: 1, at: .noon)
                            }
                            taken.append((which, position))
                        }
                        return taken
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        for which in keys.indices {
            let taken = positions.filter { $0.0 == which }.map { $0.1 }
            #expect(taken.count == rounds * nodes.count)
            #expect(Set(taken).count == taken.count)
        }
        for store in nodes { try await store.close() }
    }

    @Test("Accesses that end on two nodes at once, beside other writes, do not stop one another")
    func endings() async throws {
        let address = try PostgresEngine.makeDatabase()
        let nodes = [try Self.open(address, as: "a"), try Self.open(address, as: "b")]
        var accounts: [AccountID] = []
        for name in ["anna", "ben"] {
            let user = try await Self.user(name, in: nodes[0])
            accounts.append(
                try #require(try await nodes[0].read { try $0.users([user])[user] }).account)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<30 {
                for (store, account) in zip(nodes, accounts) {
                    group.addTask {
                        try await store.write(.account(account)) {
                            try $0.setDisabled(round.isMultiple(of: 2), account)
                        }
                    }
                    group.addTask { try await store.write(.store) { _ in } }
                }
            }
            try await group.waitForAll()
        }
        // Nobody was ended by PostgreSQL, which looks for those who wait for each other after a second.
        let admin = try PostgresConnection(address)
        var deadlocks: Int64 = -1
        try admin.rows(
            "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        ) { deadlocks = $0.int(0) }
        #expect(deadlocks == 0)
        admin.close()
        for store in nodes { try await store.close() }
    }

    @Test("A node that tells often waits, the longer the more hear it; another does not")
    func pace() {
        var pace = NewsPace()
        #expect(pace.wait(at: .zero) == .zero)
        pace.told(at: .seconds(1), listeners: 30)
        #expect(pace.wait(at: .seconds(1)) == .milliseconds(30))
        #expect(pace.wait(at: .milliseconds(1020)) == .milliseconds(10))
        #expect(pace.wait(at: .milliseconds(1030)) == .zero)
        pace.told(at: .seconds(2), listeners: 0)
        #expect(pace.wait(at: .seconds(2)) == .zero)
    }

    @Test("News name users within the limit of a notification, each once")
    func payloads() {
        let users = Set(
            (1...NodeNews.mostNamedUsers).map { UserID(rawValue: Int64($0) * 1_000_003) })
        let payloads = NodeNews.payloads(naming: users)
        #expect(payloads.count > 1)
        #expect(payloads.allSatisfy { $0.utf8.count < 8000 && $0.hasPrefix("logs ") })
        let named = payloads.flatMap {
            $0.split(separator: " ").dropFirst().compactMap { Int64($0) }
        }
        #expect(named.count == users.count)
        #expect(Set(named.map(UserID.init(rawValue:))) == users)
        #expect(NodeNews.payloads(naming: []) == [])
    }

    @Test(
        "A name of a node is plain", arguments: ["", "a b", "ä", String(repeating: "a", count: 64)])
    func wrongNames(name: String) {
        #expect(NodeName(name) == nil)
        #expect(NodeName("node-1.eu_west")?.description == "node-1.eu_west")
    }

    @Test(
        "A node whose clock is not that of the database's server is refused, and told so",
        arguments: [-3600, 3600])
    func wrongClock(seconds: Int) throws {
        let connection = try PostgresConnection(try PostgresEngine.makeDatabase())
        defer { connection.close() }
        let error = #expect(throws: StoreOpenError.self) {
            try ClockAgreement.check(
                on: connection, at: Time.system.now().advanced(by: .seconds(seconds)))
        }
        #expect(error.map { "\($0)" }?.contains("differs by 3") == true, "\(error as Any)")
    }

    @Test(
        "A store of an older version gets the tables of this one, and its copied rows keep their numbers"
    )
    func migration() async throws {
        let name = "older_version"
        let address = try PostgresEngine.makeDatabase(named: name)
        try await Self.open(address, as: nil).close()
        let admin = try PostgresConnection(PostgresAddress(PostgresEngine.address(of: name)))
        for statement in [
            "DROP TABLE node", "DROP TABLE queue_lease", "DROP TABLE device_sign_in",
            "DROP TABLE finished_visit", "DROP INDEX notification_named",
            "DROP TABLE \(PostgresSchema.cellTables.sorted().joined(separator: ", "))",
            "ALTER TABLE tidebell_schema DROP COLUMN cell, DROP COLUMN moves, DROP COLUMN switches",
            // As a copy of version 2 left it: the sequence is at its start.
            """
            INSERT INTO delivery (number, "user", notification, route, at, answer)
            VALUES (41, 1, 1, 'x', 1, 'x')
            """,
            "ALTER TABLE tidebell_schema DROP COLUMN oldest_code",
            "UPDATE tidebell_schema SET version = 1",
        ] {
            try admin.execute(statement)
        }
        // Not under a server of the version before, and not by a command.
        try admin.execute("SELECT pg_advisory_lock($1)", [.int64(PostgresSchema.servingLock)])
        #expect(throws: StoreOpenError.self) { try Self.open(address, as: "a") }
        #expect(throws: StoreOpenError.self) {
            try PostgresStore.open(
                at: address, for: .administering, time: .system, randomness: .system)
        }
        try admin.execute("SELECT pg_advisory_unlock($1)", [.int64(PostgresSchema.servingLock)])
        let store = try Self.open(address, as: "a")
        _ = try await Self.user("anna", in: store)
        try await store.close()
        #expect(
            try PostgresSchema.versions(on: admin)
                == PostgresSchema.Versions(
                    version: PostgresSchema.version, oldestCode: PostgresSchema.oldestCode))
        var next: Int64 = 0
        try admin.rows("SELECT nextval('delivery_number_seq')") { next = $0.int(0) }
        #expect(next == 42)
        // A newer version that this code can live with is served, another one is not.
        try admin.execute("UPDATE tidebell_schema SET version = 1000")
        try await Self.open(address, as: "a").close()
        try admin.execute("UPDATE tidebell_schema SET oldest_code = 1000")
        #expect(throws: StoreOpenError.self) { try Self.open(address, as: "a") }
        admin.close()
    }
}
