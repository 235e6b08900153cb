// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgresTestServer
import TidebellCore
import TidebellPostgres
import TidebellPostgresClient
import TidebellProcesses
import TidebellScheduling
import TidebellWire

/// What nodes share on a PostgreSQL: how long a claim takes beside leases that others hold, and how many
/// notifications of news there can be beside how many listeners. The simulation of the queue reckons with it.
struct LeaseTableBenchmark {
    private static let leasesPerClaim = 8
    private static let rounds = 200

    static func run() async throws {
        for held in [0, 100, 1000, 10_000] { try await measureClaims(beside: held) }
        for listeners in [0, 10, 25, 50, 100, 400] { try measureNews(for: listeners) }
    }

    private static func measureClaims(beside held: Int) async throws {
        let database = try MeasuredServer.Database()
        defer { database.server.end() }
        let address = try PostgresAddress(database.server.address())
        guard let name = NodeName("bench") else { throw BenchmarkError("no name of a node") }
        let store = try PostgresStore.open(
            at: address, as: name, time: .system, randomness: .system)
        try await fill(store, databases: held + leasesPerClaim)
        let first = try await claim(held, of: store)
        guard first.leases.count == held else { throw BenchmarkError("not all are held") }
        var claims: [Duration] = []
        var empty: [Duration] = []
        var returns: [Duration] = []
        let before = database.seconds
        for _ in 0..<rounds {
            let (claimed, taken) = try await timed { try await claim(leasesPerClaim, of: store) }
            claims.append(taken)
            empty.append(try await timed { try await claim(leasesPerClaim, of: store) }.taken)
            let back = try await timed {
                try await store.returnOutboxes(
                    claimed.leases.map { ReturnedLease($0, .done) })
            }
            returns.append(back.taken)
        }
        let seconds = (database.seconds - before) / Double(rounds)
        printLine(
            "\(held) held: a claim of \(leasesPerClaim) \(median(claims)), an empty one \(median(empty)), "
                + "giving back \(median(returns)); PostgreSQL "
                + String(format: "%.2f ms for the three", seconds * 1000))
        try await store.close()
    }

    /// Puts so many databases into the queue, each with a change.
    private static func fill(_ store: PostgresStore, databases: Int) async throws {
        let entries = (1...databases).map { number in
            OutboxEntry(
                database: DatabaseID(rawValue: Int64(number)), zoneName: "zone", zoneOwner: "_a",
                event: .records([]), originUser: nil, originClient: nil,
                committedAt: Instant(rawValue: 0))
        }
        try await store.write(.everything) { try $0.appendOutbox(entries) }
    }

    private static func claim(
        _ limit: Int, of store: PostgresStore
    ) async throws -> ClaimedLeases<DatabaseID> {
        guard limit > 0 else { return ClaimedLeases(leases: [], nextVesting: nil) }
        let now = Time.system.now()
        return try await store.claimOutboxes(
            LeaseClaim(
                holder: LeaseHolder(rawValue: UUID()), now: now,
                vestingAt: now.advanced(by: .seconds(3600)), limit: limit)
        ) { _, _ in }.claimed
    }

    private static func timed<Result>(
        _ body: () async throws -> Result
    ) async throws -> (result: Result, taken: Duration) {
        let start = ContinuousClock.now
        let result = try await body()
        return (result, start.duration(to: .now))
    }

    private static func median(_ times: [Duration]) -> String {
        let sorted = times.sorted()
        return String(format: "%.2f ms", sorted[sorted.count / 2] / .milliseconds(1))
    }

    // MARK: - News

    /// Eight connections tell the listeners what they can.
    private static func measureNews(for listeners: Int) throws {
        let database = try MeasuredServer.Database()
        defer { database.server.end() }
        let address = try PostgresAddress(database.server.address())
        let listening = try (0..<listeners).map { _ in
            let connection = try PostgresConnection(address)
            try connection.execute("LISTEN tidebell")
            return connection
        }
        let tellers = 8
        let seconds = 3.0
        let count = Counter()
        let before = database.seconds
        let start = Date()
        DispatchQueue.concurrentPerform(iterations: tellers) { _ in
            guard let connection = try? PostgresConnection(address) else { return }
            _ = try? connection.execute("SET synchronous_commit = off")
            while Date().timeIntervalSince(start) < seconds {
                connection.enqueue("SELECT pg_notify('tidebell', 'logs 1000001 1000002')")
                guard (try? connection.sync()) != nil else { break }
                count.increment()
            }
            connection.close()
        }
        let rate = Double(count.value) / Date().timeIntervalSince(start)
        let cost = (database.seconds - before) / Double(max(1, count.value)) * 1000
        printLine(
            "\(listeners) listeners: \(Int(rate)) notifications a second, "
                + String(format: "%.3f ms of PostgreSQL's processors each", cost))
        for connection in listening { connection.close() }
    }
}

/// A count that threads share.
private final class Counter: @unchecked Sendable {
    // Sendable: the lock protects the value.
    private let lock = NSLock()
    private var count = 0

    var value: Int { lock.withLock { count } }
    func increment() { lock.withLock { count += 1 } }
}
