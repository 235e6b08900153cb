// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellCore
import TidebellPostgresClient
import TidebellSQL
import TidebellScheduling
import TidebellWire

/// Who holds what of the queues, in a table that all nodes see (`queue_lease`).
///
/// A claim is a transaction of its own, which has the queue's lock meanwhile, and is not flushed: with a
/// lease that a crash undoes somebody else does the same work, under the same IDs. Where a queue is empty, or
/// others hold all of it, nothing is locked or written.
///
/// Leases are held by the clocks of the nodes, which may differ by less than ``clockTolerance``. A claim that waited
/// for the queue's lock is of the moment at which it has it: otherwise its leases could have ended before they were
/// given, and others would do the same work.
final class SharedLeases: OutboxLeases {
    /// By how much the clocks of nodes may differ.
    static let clockTolerance = Duration.seconds(10)
    /// How long a node may hold the lock of a queue that does nothing. All others wait for it meanwhile, and what it
    /// does there takes milliseconds.
    static let longestStandstill = Duration.seconds(5)
    /// A claim that waited for less is as good as one of this moment.
    static let shortestWait = Duration.seconds(2)
    /// Entries of a queue that others hold, and that may stand before the first that nobody does: where there are
    /// more, a claim asks once more.
    private static let expectedHeld = 64
    private static let outboxQueue = "outbox"

    private let pool: PostgresPool
    private let statements: PostgresStatements
    private let elapsed: @Sendable () -> Duration
    /// Whether the latest claim of a queue got an entry that failed before: each node takes turns for itself.
    private let gaveFailed = Mutex<[String: Bool]>([:])

    init(
        _ pool: PostgresPool, _ statements: PostgresStatements,
        elapsed: @escaping @Sendable () -> Duration
    ) {
        self.pool = pool
        self.statements = statements
        self.elapsed = elapsed
    }

    func holds(_ lease: OutboxLease, on connection: any SQLConnection) throws -> Bool {
        try connection.first(
            "SELECT 1 FROM queue_lease WHERE queue = ? AND entry = ? AND holder = ?",
            Self.outboxQueue, Self.entry(lease.key), lease.holder.text
        ) { _ in true } ?? false
    }

    // MARK: - Claiming

    func claimOutboxes(_ claim: LeaseClaim) async throws -> ClaimedLeases<DatabaseID> {
        try await self.claim(
            claim, in: Self.outboxQueue, givesFailedAlone: true, naming: Self.entry
        ) { try $0.queuedDatabases(limit: $1) }
    }

    func claimDeliveries(
        _ claim: LeaseClaim, in queue: DeliveryQueue
    ) async throws -> ClaimedLeases<DeliveryPointer> {
        try await self.claim(
            claim, in: Self.name(of: queue), givesFailedAlone: false, naming: Self.entry
        ) { try $0.queuedDeliveries(in: queue, limit: $1) }
    }

    /// Claims entries of a queue.
    private func claim<Key: Hashable & Sendable>(
        _ claim: LeaseClaim, in queue: String, givesFailedAlone: Bool,
        naming entry: @escaping @Sendable (Key) -> String,
        waiting: @escaping @Sendable (any StoreReader, _ limit: Int) throws -> [Key]
    ) async throws -> ClaimedLeases<Key> {
        let asked = elapsed()
        return try await pool.run(.write) { [self] connection in
            let store = StoreConnection(connection, statements)
            let reader = SQLReader(store, .short)
            func claimed(in table: inout LeaseTable<String>) throws -> ClaimedLeases<Key> {
                let claim = claim.later(by: elapsed() - asked)
                while true {
                    // All that are held may stand before the first that is not.
                    let limit = claim.limit + max(table.entries.count, Self.expectedHeld)
                    let keys = try waiting(reader, limit)
                    let isWhole = keys.count < limit
                    let byEntry = Dictionary(
                        keys.map { (entry($0), $0) }, uniquingKeysWith: { first, _ in first })
                    let claimed = table.claim(claim, from: keys.map(entry), isWhole: isWhole)
                    guard isWhole || !claimed.leases.isEmpty else { continue }
                    return ClaimedLeases(
                        leases: claimed.leases.compactMap { lease in
                            byEntry[lease.key].map {
                                QueueLease(of: $0, holder: lease.holder, failures: lease.failures)
                            }
                        }, nextVesting: claimed.nextVesting)
                }
            }
            // Goes along with the look at what is held.
            func ask() {
                let reader = AheadReader(AheadConnection(store))
                _ = try? waiting(reader, claim.limit + Self.expectedHeld)
            }
            // That there is nothing, or that others hold all of it, is seen without the lock: what they give back
            // they look for once more themselves.
            ask()
            let known = try entries(of: queue, only: nil, on: store)
            var seen = table(known, of: queue, givesFailedAlone)
            let found = try claimed(in: &seen)
            // What failed and left its queue is forgotten, so that what comes next does not wait.
            if found.leases.isEmpty, seen.entries == known { return found }
            store.forgetFailure()
            return try change(queue, asking: ask, on: connection, store, givesFailedAlone, claimed)
        }
    }

    // MARK: - Giving back

    func giveBack(_ returned: [ReturnedLease<DatabaseID>]) async throws {
        try await giveBack(returned, of: Self.outboxQueue, true, naming: Self.entry)
    }

    func giveBack(_ returned: [ReturnedLease<DeliveryPointer>]) async throws {
        for (queue, returned) in Dictionary(grouping: returned, by: \.lease.key.queue) {
            try await giveBack(returned, of: Self.name(of: queue), false, naming: Self.entry)
        }
    }

    private func giveBack<Key: Hashable & Sendable>(
        _ returned: [ReturnedLease<Key>], of queue: String, _ givesFailedAlone: Bool,
        naming entry: @escaping @Sendable (Key) -> String
    ) async throws {
        guard !returned.isEmpty else { return }
        try await pool.run(.write) { [self] connection in
            let store = StoreConnection(connection, statements)
            let entries = returned.map { entry($0.lease.key) }
            try change(queue, only: entries, on: connection, store, givesFailedAlone) { table in
                for item in returned {
                    let lease = QueueLease(
                        of: entry(item.lease.key), holder: item.lease.holder,
                        failures: item.lease.failures)
                    table.take(ReturnedLease(lease, item.outcome))
                }
            }
        }
    }

    // MARK: - The table

    /// Changes what is known of a queue's entries, or of some of them, alone, and commits.
    ///
    /// - Parameter ask: Sends ahead what the body reads.
    private func change<Result>(
        _ queue: String, only some: [String]? = nil, asking ask: () -> Void = {},
        on connection: PostgresConnection,
        _ store: StoreConnection, _ givesFailedAlone: Bool,
        _ body: (inout LeaseTable<String>) throws -> Result
    ) throws -> Result {
        connection.enqueue("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
        connection.enqueue("SET LOCAL synchronous_commit = off")
        connection.enqueue(
            "SET LOCAL idle_in_transaction_session_timeout = '\(Self.longestStandstill.components.seconds)s'"
        )
        // Queues whose names have one hash wait for each other, no more.
        connection.enqueue(
            "SELECT pg_advisory_xact_lock($1)", [.int64(ScopeLocks.key("queue", queue))])
        ask()
        let before = try entries(of: queue, only: some, on: store)
        var table = table(before, of: queue, givesFailedAlone)
        let result = try body(&table)
        for gone in before.keys where table.entries[gone] == nil {
            try store.send("DELETE FROM queue_lease WHERE queue = ? AND entry = ?", [queue, gone])
        }
        for (entry, known) in table.entries where before[entry] != known {
            try store.send(
                """
                INSERT INTO queue_lease (queue, entry, holder, since, vesting_at, failures)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (queue, entry) DO UPDATE SET holder = excluded.holder,
                    since = excluded.since, vesting_at = excluded.vesting_at,
                    failures = excluded.failures
                """,
                [
                    queue, entry, known.holder?.text, known.since, known.vestingAt, known.failures,
                ] as [any Bindable])
        }
        try connection.commitOrThrow()
        gaveFailed.withLock { $0[queue] = table.gaveFailed ? true : nil }
        return result
    }

    private func table(
        _ entries: [String: LeaseTable<String>.Entry], of queue: String, _ givesFailedAlone: Bool
    ) -> LeaseTable<String> {
        var table = LeaseTable(
            entries, givesFailedAlone: givesFailedAlone, clockTolerance: Self.clockTolerance)
        table.gaveFailed = gaveFailed.withLock { $0[queue] ?? false }
        return table
    }

    private func entries(
        of queue: String, only some: [String]?, on store: StoreConnection
    ) throws -> [String: LeaseTable<String>.Entry] {
        var entries: [String: LeaseTable<String>.Entry] = [:]
        var sql =
            "SELECT entry, holder, since, vesting_at, failures FROM queue_lease WHERE queue = ?"
        var values: [any Bindable] = [queue]
        if let some {
            let wanted = SQLList.text("wanted.value")
            sql += " AND entry IN (SELECT \(wanted) FROM json_each(?) AS wanted)"
            values.append(SQLList(some))
        }
        try store.step(sql, values) { row in
            let holder = row.isNull(1) ? nil : UUID(uuidString: row.text(1))
            entries[row.text(0)] = LeaseTable.Entry(
                holder: holder.map(LeaseHolder.init(rawValue:)),
                since: Instant(rawValue: row.int(2)), vestingAt: Instant(rawValue: row.int(3)),
                failures: Int(row.int(4)))
            return true
        }
        return entries
    }

    // MARK: - Names

    private static func name(of queue: DeliveryQueue) -> String {
        switch queue {
        case .webhook(let id): "webhook/\(id.rawValue)"
        case .pushTargets(let container):
            "push/\(container.environment.rawValue)/\(container.container)"
        }
    }

    private static func entry(_ database: DatabaseID) -> String { "\(database.rawValue)" }

    private static func entry(_ pointer: DeliveryPointer) -> String {
        switch pointer {
        case .webhook(_, let user): "\(user.rawValue)"
        case .pushTarget(let target, _): "\(target.device.rawValue)/\(target.token)"
        }
    }
}

extension LeaseClaim {
    /// The claim as it is when it has waited.
    fileprivate func later(by wait: Duration) -> LeaseClaim {
        var claim = self
        guard wait >= SharedLeases.shortestWait else { return claim }
        claim.now = now.advanced(by: wait)
        claim.vestingAt = vestingAt.advanced(by: wait)
        return claim
    }
}

extension LeaseHolder {
    /// As the table has it.
    fileprivate var text: String { rawValue.uuidString }
}
