// SPDX-License-Identifier: Apache-2.0
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

/// What becomes of a store whose database is promoted: PostgreSQL begins another timeline, as it does for a standby.
@Suite("Databases that are failed over", .hangs)
struct FailoverTests {
    private static func open(
        _ server: PostgresTestServer, as name: String? = nil, losslessFailover: Bool
    ) throws -> PostgresStore {
        try PostgresStore.open(
            at: PostgresAddress(server.address()), as: name.flatMap { NodeName($0) },
            losslessFailover: losslessFailover, time: .system, randomness: .system)
    }

    private static func add(_ name: String, to store: PostgresStore) async throws {
        try await store.write(.everything) { transaction throws in
            _ = try transaction.createAccount(named: name, at: .noon)
        }
    }

    /// How often a store was found lost.
    private final class Losses: Sendable {
        private let losses = Mutex(0)
        init(of store: PostgresStore) { store.whenLost { _ in self.losses.withLock { $0 += 1 } } }
        var count: Int { losses.withLock(\.self) }
    }

    @Test(
        "A standby that lacks nothing is served on in the same life, by all nodes, and after a start"
    )
    func lossless() async throws {
        let server = try PostgresTestServer()
        let a = try Self.open(server, as: "a", losslessFailover: true)
        let b = try Self.open(server, as: "b", losslessFailover: true)
        let losses = [Losses(of: a), Losses(of: b)]
        let heard = Mutex(0)
        b.whenNotifiedElsewhere { users in if users != nil { heard.withLock { $0 += 1 } } }
        let life = a.incarnation
        try await Self.add("anna", to: a)
        let user = try await a.write(.everything) { transaction throws in
            let account = try transaction.createAccount(named: "ben", at: .noon)
            return try transaction.makeUser(
                of: account,
                in: ContainerKey(
                    container: "iCloud.org.example.notes", environment: .development),
                recordName: "_ben", at: .noon
            ).id
        }
        try server.tell(.promote)
        try await Self.add("carl", to: b)
        try await Self.add("dora", to: a)
        // Whoever hears of news has looked at the store on the connection that is new.
        while heard.withLock(\.self) == 0 {
            try await a.write(.everything) { transaction throws in
                _ = try transaction.appendNotifications([.push("1", to: user)])
            }
            await Task.yield()
        }
        #expect(losses.map(\.count) == [0, 0])
        try await a.close()
        try await b.close()
        let again = try Self.open(server, losslessFailover: true)
        #expect(again.incarnation == life)
        #expect(
            try await again.read { try $0.accountNames() } == ["anna", "ben", "carl", "dora"])
        try await again.close()
        // What was said holds for what comes; the last failover is behind.
        let doubting = try Self.open(server, losslessFailover: false)
        #expect(doubting.incarnation == life)
        try await doubting.close()
        server.end()
    }

    @Test(
        "A start knows nothing of what was acknowledged: it begins a new life, unless nodes go on in the old one"
    )
    func start() async throws {
        let server = try PostgresTestServer()
        let store = try Self.open(server, losslessFailover: true)
        let life = store.incarnation
        try await store.close()
        try server.tell(.promote)
        let admin = try PostgresConnection(PostgresAddress(server.address()))
        try admin.execute(
            """
            INSERT INTO node (name, process, started_at, seen_at)
            SELECT 'b', 1, now, now
            FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now) AS server
            """)
        let error = #expect(throws: StoreOpenError.self) {
            try Self.open(server, as: "a", losslessFailover: true)
        }
        #expect(error.map { "\($0)" }?.contains("start this server again") == true)
        try admin.execute(
            "UPDATE node SET seen_at = seen_at - \(StoreLineage.timeOfOthers.components.seconds * 1000)"
        )
        admin.close()
        let again = try Self.open(server, as: "a", losslessFailover: true)
        #expect(again.incarnation > life)
        try await again.close()
        server.end()
    }

    @Test(
        "A promoted standby is looked at by a node that writes nothing, which finds what is missing"
    )
    func silentNode() async throws {
        let server = try PostgresTestServer()
        let store = try Self.open(server, as: "a", losslessFailover: true)
        let losses = Losses(of: store)
        try await Self.add("anna", to: store)
        let admin = try PostgresConnection(PostgresAddress(server.address()))
        try admin.execute("UPDATE store_writer SET last_write = 0")
        admin.close()
        try server.tell(.promote)
        await eventually { losses.count == 1 }
        #expect(losses.count == 1)
        try await store.close()
        server.end()
    }

    @Test("An acknowledged write that a standby lacks ends the life, whatever was said of it")
    func lostWrite() async throws {
        let server = try PostgresTestServer()
        let a = try Self.open(server, as: "a", losslessFailover: true)
        let b = try Self.open(server, as: "b", losslessFailover: true)
        let losses = [Losses(of: a), Losses(of: b)]
        let life = a.incarnation
        try await Self.add("anna", to: a)
        let admin = try PostgresConnection(PostgresAddress(server.address()))
        try admin.execute("UPDATE store_writer SET last_write = 0")
        admin.close()
        try server.tell(.promote)
        let error = await #expect(throws: StoreUnavailable.self) {
            try await Self.add("ben", to: a)
        }
        #expect(error?.detail.contains("restart this server") == true)
        await eventually { losses.map(\.count) == [1, 1] }
        #expect(losses.map(\.count) == [1, 1])
        try await a.close()
        try await b.close()
        let again = try Self.open(server, losslessFailover: true)
        #expect(again.incarnation > life)
        #expect(try await again.read { try $0.accountNames() } == ["anna"])
        try await again.close()
        server.end()
    }

    @Test(
        "Where nothing was said of standbys, a failover ends the server, and its start begins a new life"
    )
    func unknown() async throws {
        let server = try PostgresTestServer()
        let store = try Self.open(server, losslessFailover: false)
        let losses = Losses(of: store)
        let life = store.incarnation
        try await Self.add("anna", to: store)
        try server.tell(.promote)
        await #expect(throws: StoreUnavailable.self) { try await Self.add("ben", to: store) }
        #expect(losses.count == 1)
        try await store.close()
        let again = try Self.open(server, losslessFailover: false)
        #expect(again.incarnation > life)
        #expect(again.cameBackOlder)
        try await again.close()
        server.end()
    }

    @Test(
        "Only a later timeline of the same database is that of a standby",
        arguments: [
            ("7-00000002-5", true), ("7-0000000A-5", true), ("7-00000001-5", false),
            ("7-00000000-5", false), ("8-00000002-5", false), ("7-00000002-6", false),
            ("7-00000002", false), ("", false),
        ])
    func timelines(lineage: String, isPromoted: Bool) {
        #expect(StoreLineage.isPromoted(lineage, from: "7-00000001-5") == isPromoted)
    }
}
