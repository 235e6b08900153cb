// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellCore
import TidebellPostgresClient
import TidebellScheduling

/// What the nodes of a database tell one another after their commits: whose logs got notifications, and that an
/// access ended. Hints: what is true stands in the tables.
///
/// On one connection and thread of its own (`LISTEN`, `NOTIFY`), never in the transactions that it is about: those
/// would wait for one another in the whole cluster until they are durable. What comes together is told together, and
/// what comes soon after another as well (``NewsPace``).
///
/// Hints get lost with a connection, and with a node that ends between a commit and what it tells of it. So whoever
/// connects anew, or misses a node that was there, has all streams read their logs.
final class NodeNews: @unchecked Sendable {
    // Sendable: what is not behind the lock is touched by the thread only.

    /// How often a node shows that it is there, and looks for the others.
    static let interval = Duration.seconds(2)
    /// After what silence a node counts as gone.
    static let silenceLimit = Duration.seconds(10)
    /// How long rows of nodes that are gone are kept, for whoever looks for them, and leases that have vested.
    private static let memory = Duration.seconds(24 * 3600)
    /// Users whose logs are named one by one; more are told as "all".
    static let mostNamedUsers = 2000
    /// Bytes of one notification: PostgreSQL's limit is 8,000.
    private static let payloadBytes = 7000
    private static let channel = "tidebell"
    private static let serverTime = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    /// What comes of news; set before the thread starts.
    struct Receiver: Sendable {
        /// Notifications were appended to the logs of these users; nil stands for any.
        var notified: @Sendable (Set<UserID>?) -> Void
        /// An access ended.
        var accessEnded: @Sendable () -> Void
    }

    private struct State {
        var users: Set<UserID> = []
        var tellsOfAll = false
        var endsAccess = false
        var isClosed = false
        var ended: CheckedContinuation<Void, Never>?
        var hasEnded = false
    }

    private let address: PostgresAddress
    private let name: NodeName
    private let process: Int64
    private let connections: WriterConnections
    private let receiver: Receiver
    private let waker: PostgresWaker
    private let elapsed: @Sendable () -> Duration
    private let state = Mutex(State())
    /// Whether this node does what one does for all.
    let leads = Atomic(false)

    // MARK: Of the thread

    private var connection: PostgresConnection?
    /// The other nodes that were there when it last looked, each with the number of its process.
    private var others: [String: Int64]?
    private var nextLook = Duration.zero
    private var pace = NewsPace()
    private var attempts = 0

    init(
        _ address: PostgresAddress, as name: NodeName, process: Int64,
        connections: WriterConnections,
        elapsed: @escaping @Sendable () -> Duration,
        to receiver: Receiver
    ) throws {
        self.address = address
        self.name = name
        self.process = process
        self.connections = connections
        self.elapsed = elapsed
        self.receiver = receiver
        waker = try PostgresWaker()
    }

    /// Begins to listen; ``close()`` ends it.
    func start() {
        let thread = Thread { [self] in
            while serve() {}
            end()
        }
        thread.name = "postgres news"
        thread.start()
    }

    /// Tells the other nodes, soon.
    func tell(notified users: Set<UserID>, endsAccess: Bool) {
        guard !users.isEmpty || endsAccess else { return }
        state.withLock { state in
            if endsAccess { state.endsAccess = true }
            state.users.formUnion(users)
            guard state.users.count > Self.mostNamedUsers else { return }
            state.users = []
            state.tellsOfAll = true
        }
        waker.wake()
    }

    /// Tells what is still to be told, says that the node is gone, and ends.
    func close() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                state.isClosed = true
                guard !state.hasEnded else { return true }
                state.ended = continuation
                return false
            }
            if hasEnded { continuation.resume() } else { waker.wake() }
        }
    }

    // MARK: - On the thread

    private func end() {
        connection?.close()
        connection = nil
        let continuation = state.withLock { state in
            state.hasEnded = true
            defer { state.ended = nil }
            return state.ended
        }
        continuation?.resume()
    }

    /// Does what is to be done, and waits; returns whether it goes on.
    private func serve() -> Bool {
        let isClosed = state.withLock(\.isClosed)
        do {
            let connection = try connection ?? connect()
            let pause = isClosed ? .zero : pace.wait(at: elapsed())
            if pause == .zero { try tell(on: connection) }
            guard !isClosed else {
                try connection.execute(
                    "DELETE FROM node WHERE name = $1 AND process = $2",
                    [.text(name.description), .int64(process)])
                return false
            }
            if elapsed() >= nextLook { try look(on: connection) }
            var wait = max(nextLook - elapsed(), .zero)
            // What comes until then is told together with what waits already.
            if pause > .zero { wait = min(wait, pause) }
            receive(try connection.notifications(waiting: wait, or: waker), on: connection)
            attempts = 0
            return true
        } catch {
            connection?.close()
            connection = nil
            // The lock went with it.
            leads.store(false, ordering: .relaxed)
            guard !isClosed else { return false }
            attempts += 1
            Pause.before(attempt: attempts)
            return true
        }
    }

    private func connect() throws -> PostgresConnection {
        let opened = try PostgresConnection(address)
        // What is told is no more durable than the process that hears it.
        opened.enqueue("SET synchronous_commit = off")
        opened.enqueue("LISTEN \(Self.channel)")
        try opened.execute(
            """
            INSERT INTO node (name, process, started_at, seen_at)
            VALUES ($1, $2, \(Self.serverTime), \(Self.serverTime))
            ON CONFLICT (name) DO UPDATE SET process = excluded.process,
                started_at = excluded.started_at, seen_at = excluded.seen_at
            """, [.text(name.description), .int64(process)])
        connection = opened
        (others, nextLook) = (nil, elapsed())
        leads.store(false, ordering: .relaxed)
        // What was told before it listened.
        receiver.notified(nil)
        receiver.accessEnded()
        return opened
    }

    /// Tells what is to be told.
    private func tell(on connection: PostgresConnection) throws {
        let (users, all, endsAccess) = state.withLock { state in
            defer { (state.users, state.tellsOfAll, state.endsAccess) = ([], false, false) }
            return (state.users, state.tellsOfAll, state.endsAccess)
        }
        var payloads: [String] = []
        if endsAccess { payloads.append(Self.access) }
        if all {
            payloads.append("\(Self.logs) *")
        } else {
            payloads += Self.payloads(naming: users)
        }
        guard !payloads.isEmpty else { return }
        do {
            for payload in payloads {
                connection.enqueue(
                    "SELECT pg_notify('\(Self.channel)', convert_from($1, 'UTF8'))",
                    [.text(payload)])
            }
            try connection.sync()
            pace.told(at: elapsed(), listeners: others?.count ?? 0)
        } catch {
            // Nobody knows who has heard of it: told once more on the next connection.
            state.withLock { state in
                state.tellsOfAll = state.tellsOfAll || all || !users.isEmpty
                state.endsAccess = state.endsAccess || endsAccess
            }
            throw error
        }
    }

    /// Shows that the node is there, and looks for the others and for the life of the store.
    private func look(on connection: PostgresConnection) throws {
        nextLook = elapsed() + Self.interval
        let count = try connection.execute(
            "UPDATE node SET seen_at = \(Self.serverTime) WHERE name = $1 AND process = $2",
            [.text(name.description), .int64(process)])
        // Somebody removed it; the next connection writes it again.
        guard count == 1 else {
            throw PostgresError(.connectionLost, "the row of the node is gone")
        }
        connection.enqueue(
            "DELETE FROM node WHERE seen_at < \(Self.serverTime) - \(Self.memory.milliseconds)")
        if leads.load(ordering: .relaxed) {
            // Of queues that nobody claims any more, such as that of a webhook that was removed.
            connection.enqueue(
                """
                DELETE FROM queue_lease
                WHERE vesting_at < \(Self.serverTime) - \(Self.memory.milliseconds)
                """)
        }
        let there = try Self.others(than: name, within: Self.silenceLimit, on: connection)
        let mark = try StoreMark(on: connection)
        if let others, others.contains(where: { there[$0.key] != $0.value }) {
            // It may have ended between a commit and what it would have told of it.
            receiver.notified(nil)
            receiver.accessEnded()
        }
        others = there
        if !leads.load(ordering: .relaxed) {
            var isFree = false
            try connection.rows(
                "SELECT pg_try_advisory_lock($1)", [.int64(PostgresSchema.leaderLock)]
            ) { isFree = $0.bool(0) }
            leads.store(isFree, ordering: .relaxed)
        }
        switch connections.compare(mark) {
        case .same: break
        case .promoted: connections.notePromoted()
        case .replaced: throw PostgresError(.connectionLost, WriterConnections.replaced)
        case .other: connections.refuse()
        }
    }

    /// The nodes that were there a moment ago, but one, each with the number of its process.
    static func others(
        than name: NodeName?, within time: Duration, on connection: PostgresConnection
    ) throws -> [String: Int64] {
        var there: [String: Int64] = [:]
        try connection.rows(
            """
            SELECT name, process FROM node
            WHERE seen_at > \(serverTime) - \(time.milliseconds) AND name <> $1
            """, [.text(name?.description ?? "")]
        ) { there[$0.string(0)] = $0.int(1) }
        return there
    }

    private func receive(_ news: [PostgresNotification], on connection: PostgresConnection) {
        for item in news where item.sender != connection.serverProcess {
            let parts = item.payload.split(separator: " ")
            switch parts.first.map(String.init) {
            case Self.access: receiver.accessEnded()
            case Self.logs where parts.dropFirst().first == "*": receiver.notified(nil)
            case Self.logs:
                receiver.notified(
                    Set(parts.dropFirst().compactMap { Int64($0) }.map(UserID.init(rawValue:))))
            // Of a newer node, or of somebody else.
            default: break
            }
        }
    }

    // MARK: - What is told

    private static let access = "access"
    private static let logs = "logs"

    /// The notifications that name users, each within the limit.
    static func payloads(naming users: Set<UserID>) -> [String] {
        var payloads: [String] = []
        var payload = ""
        for user in users.map(\.rawValue).sorted() {
            let item = " \(user)"
            if payload.isEmpty || payload.utf8.count + item.utf8.count > payloadBytes {
                if !payload.isEmpty { payloads.append(payload) }
                payload = logs
            }
            payload += item
        }
        if !payload.isEmpty { payloads.append(payload) }
        return payloads
    }
}

extension Duration {
    /// In milliseconds, rounded down.
    fileprivate var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
