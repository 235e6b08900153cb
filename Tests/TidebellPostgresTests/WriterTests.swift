// SPDX-License-Identifier: Apache-2.0
import Dispatch
import PostgresTestServer
import TestSupport
import Testing
import TidebellCore
import TidebellPostgresClient
import TidebellSQL
import TidebellScheduling
import TidebellWire

@testable import TidebellPostgres

@Suite("Writes on PostgreSQL, and what becomes of them", .hangs)
struct WriterTests {
    private struct Refused: Error {}

    private static func open(_ address: PostgresAddress) throws -> PostgresStore {
        try PostgresStore.open(at: address, time: .system, randomness: .system)
    }

    private static func add(_ name: String, to store: PostgresStore) async throws {
        _ = try await store.write(.everything) {
            try $0.createAccount(named: name, at: Instant(rawValue: 7))
        }
    }

    /// Ends all connections of a database, as a network or a restart does.
    private static func cut(_ name: String, _ sql: String? = nil) throws {
        let admin = try PostgresConnection(PostgresAddress(PostgresEngine.address(of: name)))
        defer { admin.close() }
        if let sql { try admin.execute(sql) }
        try admin.execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }

    @Test("Writes and reads go on after their connections were cut")
    func cutConnections() async throws {
        let store = try Self.open(PostgresEngine.makeDatabase(named: "cut_connections"))
        try await Self.add("anna", to: store)
        _ = try await store.read { try $0.accountNames() }
        try Self.cut("cut_connections")
        try await Self.add("ben", to: store)
        // A read may meet the connection that was cut; the next one has another.
        _ = try? await store.read { try $0.accountNames() }
        #expect(try await store.read { try $0.accountNames() } == ["anna", "ben"])
        try await store.close()
    }

    @Test("A server of its own that was killed is found again, and has all that was acknowledged")
    func killedServer() async throws {
        let server = try PostgresTestServer()
        let store = try Self.open(PostgresAddress(server.address()))
        try await Self.add("anna", to: store)
        try server.tell(.kill)
        await #expect(throws: StoreUnavailable.self) { try await Self.add("ben", to: store) }
        try server.tell(.start)
        try await Self.add("carl", to: store)
        #expect(try await store.read { try $0.accountNames() } == ["anna", "carl"])
        try await store.close()
        server.end()
    }

    @Test(
        "Nothing is written to a store that is not what it was",
        arguments: [
            "UPDATE store SET incarnation = incarnation + 1",
            "UPDATE tidebell_schema SET version = 1000, oldest_code = 1000",
            "DELETE FROM store_writer",
        ])
    func changedMeanwhile(change: String) async throws {
        let name = "changed_\(change.count)"
        let store = try Self.open(PostgresEngine.makeDatabase(named: name))
        try await Self.add("anna", to: store)
        try Self.cut(name, change)
        for _ in 1...2 {
            let error = await #expect(throws: StoreUnavailable.self) {
                try await Self.add("ben", to: store)
            }
            #expect(error?.cause == .isUnreachable)
            #expect(error?.detail.contains("restart this server") == true)
        }
        #expect(try await store.read { try $0.accountNames() } == ["anna"])
        try await store.close()
    }

    @Test(
        "A write whose statement failed unseen fails with its own error, and takes no other along")
    func failsAlone() async throws {
        let store = try Self.open(PostgresEngine.makeDatabase())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { try await Self.add("user \(number)", to: store) }
                group.addTask {
                    await #expect(throws: Refused.self) {
                        try await store.write(.store) { transaction in
                            let connection = (transaction as? SQLTransaction)?.connection
                            // It is sent without a wait, and there is such a row.
                            try connection?.run("INSERT INTO store (id, identity) VALUES (1, 1)")
                            throw Refused()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.read { try $0.accountNames() }.count == 20)
        try await store.close()
    }

    @Test(
        "A write whose last statement fails, for which nobody waits before the next one, fails alone",
        arguments: [
            // A row that is there, which the next attempt may find gone, and what fails however often it is tried.
            "INSERT INTO store (id, identity) VALUES (1, 1)", "UPDATE store SET identity = 1 / 0",
        ])
    func failsLate(statement: String) async throws {
        let store = try Self.open(PostgresEngine.makeDatabase())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { try await Self.add("user \(number)", to: store) }
                group.addTask {
                    await #expect(throws: (any Error).self) {
                        try await store.write(.store) { transaction in
                            try (transaction as? SQLTransaction)?.connection.run(statement)
                        }
                    }
                }
                group.addTask {
                    try await store.write(Self.scope(number % 3)) { transaction in
                        try transaction.addRecordTypes(
                            ["Type\(number)": StoredRecordType()],
                            in: ContainerKey(container: "c\(number % 3)", environment: .development)
                        )
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.read { try $0.accountNames() }.count == 20)
        let types = try await store.read { reader in
            try (0..<3).flatMap {
                try reader.recordTypeNames(
                    in: ContainerKey(container: "c\($0)", environment: .development), limit: 20)
            }
        }
        #expect(Set(types) == Set((0..<20).map { "Type\($0)" }))
        try await store.close()
    }

    /// Begins a write that is under way when this returns, until it is said to be done.
    private static func beginWrite(
        _ scope: StoreScope, in store: PostgresStore
    ) async -> (write: Task<Void, any Error>, isDone: DispatchSemaphore) {
        let isDone = DispatchSemaphore(value: 0)
        let (running, begun) = AsyncStream.makeStream(of: Void.self)
        let write = Task {
            try await store.write(scope) { _ in
                begun.finish()
                isDone.wait()
            }
        }
        for await _ in running {}
        return (write, isDone)
    }

    /// In one transaction, in which each follows one that went well.
    @Test(
        "Of writes that share a transaction those fail alone that do, at their first look or at last",
        arguments: ["SELECT 1 / 0", "UPDATE store SET identity = 1 / 0"])
    func failsBehindOthers(statement: String) async throws {
        let store = try Self.open(PostgresEngine.makeDatabase())
        let container = ContainerKey(container: "c", environment: .development)
        let (first, isDone) = await Self.beginWrite(.catalogue(container), in: store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let begun = Locked(0)
            for number in 0..<20 {
                group.addTask {
                    begun.withLock { $0 += 1 }
                    try await store.write(.catalogue(container)) { transaction in
                        try transaction.addRecordTypes(
                            ["Type\(number)": StoredRecordType()], in: container)
                    }
                }
                group.addTask {
                    begun.withLock { $0 += 1 }
                    await #expect(throws: (any Error).self) {
                        try await store.write(.catalogue(container)) { transaction in
                            let connection = (transaction as? SQLTransaction)?.connection
                            if statement.hasPrefix("SELECT") {
                                _ = try connection?.first(statement) { $0.int(0) }
                            } else {
                                try connection?.run(statement)
                            }
                        }
                    }
                }
            }
            // Some of them, at least, wait behind one another by now.
            await eventually { begun.current == 40 }
            isDone.signal()
            try await group.waitForAll()
        }
        try await first.value
        let types = try await store.read { try $0.recordTypeNames(in: container, limit: 100) }
        #expect(Set(types) == Set((0..<20).map { "Type\($0)" }))
        try await store.close()
    }

    /// Another server has its lock for longer than a write waits that is not the first of its transaction. All are about the
    /// same, so that they share one.
    @Test(
        "A write that reads nothing, and whose lock is not to be had at once, is done before it is said to be"
    )
    func waitsForLock() async throws {
        let address = try PostgresEngine.makeDatabase()
        let store = try Self.open(address)
        let container = ContainerKey(container: "c", environment: .development)
        let users = try await store.write(.account(nil)) { transaction in
            try (0..<2).map { number in
                let account = try transaction.createAccount(
                    named: "user \(number)", at: Instant(rawValue: 7))
                return try transaction.makeUser(
                    of: account, in: container, recordName: "_\(number)",
                    at: Instant(rawValue: 7)
                ).id
            }
        }
        let other = try PostgresConnection(address)
        defer { other.close() }
        try other.execute("SELECT pg_advisory_lock($1)", [.int64(ScopeLocks.key(of: users[0]))])
        let (first, isDone) = await Self.beginWrite(.catalogue(container), in: store)
        let (begun, ended) = (Locked(0), Locked(0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<12 {
                group.addTask {
                    begun.withLock { $0 += 1 }
                    // Those of the other user read first what is waited for with what the one before sent.
                    let user = users[number % 2]
                    try await store.writeInSteps(for: nil, about: .catalogue(container)) {
                        try $0.write(.user(user)) { transaction in
                            if user == users[1] { _ = try transaction.badges(of: [user]) }
                            try transaction.putBadges([user: 7])
                        }
                    }
                    ended.withLock { $0 += 1 }
                }
            }
            await eventually { begun.current == 12 }
            isDone.signal()
            try await first.value
            // Whoever is first now waits for the lock as long as that takes.
            try await eventually {
                var waiting = 0
                try other.rows("SELECT 1 FROM pg_locks WHERE NOT granted") { _ in waiting += 1 }
                return waiting > 0 || ended.current == 12
            }
            let badges = try await store.read { try $0.badges(of: [users[0]]) }
            #expect(badges == [:])
            #expect(ended.current <= 6)
            try other.execute("SELECT pg_advisory_unlock_all()")
            try await group.waitForAll()
        }
        let badges = try await store.read { try $0.badges(of: Set(users)) }
        #expect(badges == [users[0]: 7, users[1]: 7])
        try await store.close()
    }

    private static func scope(_ number: Int) -> StoreScope {
        .catalogue(ContainerKey(container: "c\(number)", environment: .development))
    }

    /// Has two lanes write at once.
    private static func writeAtOnce(_ store: PostgresStore) async throws {
        let (isRunning, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let first: Void = store.write(scope(1)) { _ in
            isRunning.signal()
            isDone.wait()
        }
        // The second would not begin before the first has ended, were they not at once.
        try await store.write(scope(2)) { _ in isRunning.wait() }
        isDone.signal()
        try await first
    }

    @Test("Writes of several scopes run at once, those of one scope one after the other")
    func lanes() async throws {
        let store = try Self.open(PostgresEngine.makeDatabase(named: "lanes"))
        try await Self.writeAtOnce(store)
        let running = Locked<[Int: Int]>([:])
        let most = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    // Every third does not say what it is about before it runs.
                    let isKnown = !number.isMultiple(of: 3)
                    let scope = Self.scope(number % 5)
                    return try await store.writeInSteps(for: nil, about: isKnown ? scope : nil) {
                        try $0.write(scope) { transaction in
                            _ = try transaction.accountNames()
                            let count = running.withLock {
                                $0[number % 5, default: 0] += 1
                                return $0[number % 5] ?? 0
                            }
                            _ = try transaction.accountNames()
                            running.withLock { $0[number % 5]? -= 1 }
                            return count
                        }
                    }
                }
            }
            return try await group.reduce(0) { max($0, $1) }
        }
        #expect(most == 1)
        try await store.close()
    }

    @Test("No other server begins while one is connected whose first connection was lost")
    func leftLane() async throws {
        let address = try PostgresEngine.makeDatabase(named: "left_lane")
        let store = try Self.open(address)
        try await Self.add("anna", to: store)
        try await Self.writeAtOnce(store)
        let admin = try PostgresConnection(address)
        defer { admin.close() }
        var ended = 0
        try admin.rows(
            """
            SELECT pg_terminate_backend(pid, 10000) FROM pg_locks
            WHERE locktype = 'advisory' AND objsubid = 1
                AND (classid::bigint << 32 | objid::bigint) = $1
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """, [.int64(PostgresSchema.servingLock)]
        ) { _ in ended += 1 }
        #expect(ended == 1)
        #expect(throws: StoreOpenError.servedElsewhere(path: address.description)) {
            try Self.open(address)
        }
        try await Self.add("ben", to: store)
        #expect(try await store.read { try $0.accountNames() } == ["anna", "ben"])
        try await store.close()
        try await Self.open(address).close()
    }

    /// What makes the connections of a server that begins at a store.
    private static func begin(
        _ address: PostgresAddress, named name: Int64, as node: String?
    ) throws -> (connections: WriterConnections, first: PostgresConnection) {
        let first = try PostgresConnection(address)
        let connections = WriterConnections(
            address, for: .serving, named: name, as: node.flatMap { NodeName($0) },
            losslessFailover: false, now: { Instant(rawValue: 7) })
        try connections.begin(on: first)
        connections.note(try StoreMark(on: first))
        return (connections, first)
    }

    @Test(
        "A server whose connections were lost opens none any more once another one has begun",
        arguments: [(nil, nil), (nil, "a"), ("a", "a"), ("a", "b")] as [(String?, String?)])
    func replacedServer(node: String?, other: String?) async throws {
        let address = try PostgresEngine.makeDatabase()
        try await Self.open(address).close()
        let (old, lost) = try Self.begin(address, named: 100, as: node)
        try old.open(1, of: 101).close()
        lost.close()
        let (new, first) = try Self.begin(address, named: 200, as: other)
        try new.open(1, of: 201).close()
        if node == "a", other == "b" {
            try old.open(1, of: 101).close()
        } else {
            #expect(throws: StoreOpenError.self) { try old.open(1, of: 101) }
            #expect(old.refusal != nil)
        }
        first.close()
    }

    @Test("A connection is refused where the store lacks what any other one has acknowledged")
    func lostWriteOfAnother() async throws {
        let address = try PostgresEngine.makeDatabase()
        try await Self.open(address).close()
        let (connections, first) = try Self.begin(address, named: 100, as: nil)
        try connections.open(1, of: 101).close()
        try first.execute("UPDATE store_writer SET last_write = 4 WHERE id = 101")
        connections.note(acknowledged: 4, of: 101)
        try connections.open(2, of: 102).close()
        connections.note(acknowledged: 5, of: 101)
        #expect(throws: StoreOpenError.self) { try connections.open(2, of: 102) }
        first.close()
    }

    @Test("A scan that its reader ends leaves nothing open, and the next one begins anew")
    func scans() async throws {
        let store = try Self.open(PostgresEngine.makeDatabase())
        for number in 100..<400 { try await Self.add("user \(number)", to: store) }
        let (first, all) = try await store.read { reader in
            let connection = try #require(reader as? SQLReader).connection
            func names(limit: Int) throws -> [String] {
                var names: [String] = []
                try connection.each("SELECT name FROM account ORDER BY name") { columns in
                    names.append(columns.text(0))
                    return names.count < limit
                }
                return names
            }
            return (try names(limit: 3), try names(limit: .max))
        }
        #expect(first == ["user 100", "user 101", "user 102"])
        #expect(all == (100..<400).map { "user \($0)" })
        try await store.close()
    }
}
