// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellPostgresClient

/// Makes the connections on which a store is written, one for each lane.
///
/// The first lane's holds the serving lock, alone or, as a node, in common with other nodes, and the lock of the node's
/// name. Those of the others hold the lanes' lock in common. Whoever begins to serve waits until nobody holds that, and
/// then notes its name there, so that no lane of a server that was replaced is opened any more, whichever of its
/// connections it has lost.
final class WriterConnections: Sendable {
    /// How long the lock of a connection that was lost is waited for: its server notices by itself that
    /// nobody is there.
    private static let lockTimeout = "10s"
    /// The same at a start, when the server that is there may be another one's.
    private static let firstLockTimeout = "2s"

    private struct State {
        /// What the store was when it was opened.
        var known: StoreMark?
        /// Who held the locks of each lane last.
        var holders: [Int: Int32] = [:]
        /// The last write of each lane that was acknowledged.
        var acknowledged: [Int64: Int64] = [:]
        /// Why it is never opened again.
        var refusal: StoreOpenError?
        /// Who is told of that.
        var whenRefused: [@Sendable (StoreOpenError) -> Void] = []
        /// Who is told that a standby was promoted.
        var whenPromoted: @Sendable () -> Void = {}
    }

    private let address: PostgresAddress
    private let purpose: StorePurpose
    private let node: NodeName?
    private let losslessFailover: Bool
    private let now: @Sendable () -> Instant
    private let state = Mutex(State())
    /// Held while a connection is compared with what is known.
    private let comparing = Mutex(())
    /// What this server is called among all that ever served.
    private let name: Int64

    /// - Parameters:
    ///   - name: What this server is called among all that ever served.
    ///   - losslessFailover: Whether a promoted standby has every acknowledged write.
    init(
        _ address: PostgresAddress, for purpose: StorePurpose, named name: Int64,
        as node: NodeName?,
        losslessFailover: Bool, now: @escaping @Sendable () -> Instant
    ) {
        self.address = address
        self.purpose = purpose
        self.name = name
        self.node = node
        self.losslessFailover = losslessFailover
        self.now = now
    }

    /// Has `body` told once the store can be served no more until a restart.
    func whenRefused(_ body: @escaping @Sendable (StoreOpenError) -> Void) {
        let refusal = state.withLock { state in
            if state.refusal == nil { state.whenRefused.append(body) }
            return state.refusal
        }
        if let refusal { body(refusal) }
    }

    /// Refuses to open the store again: it is not what it was.
    @discardableResult
    func refuse(because reason: String = changed) -> StoreOpenError {
        let refusal = StoreOpenError.unreachable(reason: "\(reason); restart this server")
        let bodies = state.withLock { state in
            guard state.refusal == nil else { return [@Sendable (StoreOpenError) -> Void]() }
            state.refusal = refusal
            defer { state.whenRefused = [] }
            return state.whenRefused
        }
        for body in bodies { body(refusal) }
        return refusal
    }

    /// Why the store is served no more.
    var refusal: StoreOpenError? { state.withLock(\.refusal) }

    /// Takes the locks on the first connection, when no connection is left of a server that had them before.
    func begin(on connection: PostgresConnection) throws {
        try hold(on: connection, in: 0, for: Self.firstLockTimeout)
        guard purpose == .serving else { return }
        try connection.takeOver(PostgresSchema.lanesLock, as: name, within: Self.lockTimeout) {
            .servedElsewhere(path: address.description)
        }
        guard let node else { return }
        try connection.takeOver(lanesLock, as: name, within: Self.lockTimeout) {
            .nodeInUse(name: node.description)
        }
    }

    /// Notes what the store is, before it is served.
    func note(_ mark: StoreMark) { state.withLock { $0.known = mark } }

    /// What a store is, compared with the one that was opened.
    enum Finding {
        case same
        /// The same on a standby that was promoted since, and lacks nothing as far as was said.
        case promoted
        /// What it was before a standby was promoted: its server still answers.
        case replaced
        /// Another life, or another history.
        case other
    }

    func compare(_ mark: StoreMark) -> Finding {
        guard let known = state.withLock(\.known) else { return .other }
        if mark == known { return .same }
        guard losslessFailover else { return .other }
        if mark.isPromoted(from: known) { return .promoted }
        return known.isPromoted(from: mark) ? .replaced : .other
    }

    /// Has `body` called whenever somebody may have found a promoted standby before a connection that writes has.
    func whenPromoted(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.whenPromoted = body }
    }

    /// Has a connection that writes look at the standby that was promoted.
    func notePromoted() { state.withLock(\.whenPromoted)() }

    /// Notes that it began a new life.
    func note(_ incarnation: Incarnation) {
        state.withLock { $0.known?.incarnation = incarnation.rawValue }
    }

    /// Notes that the last write of a lane was acknowledged.
    func note(acknowledged write: Int64, of writer: Int64) {
        state.withLock { $0.acknowledged[writer] = write }
    }

    /// Makes the connection of a lane, or another after one was lost, if the store is still what it was: not that of
    /// another history, or another server's since, or one that lacks a write that was acknowledged, in whatever lane. A
    /// promoted standby is what it was where it was said to lack nothing, and has those writes.
    func open(_ lane: Int, of writer: Int64) throws -> PostgresConnection {
        if let refusal { throw refusal }
        let connection = try PostgresConnection(address)
        guard purpose == .serving else { return connection }
        if let lost = state.withLock({ $0.holders[lane] }) {
            // Its number may be another's by now, on a server that was restarted: then it is not one of ours. One that
            // waits for the standby stays: ended, its commit would be seen before it is safe.
            _ = try connection.execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE pid = $1 AND wait_event IS DISTINCT FROM 'SyncRep' AND pid IN (
                    SELECT pid FROM pg_locks
                    WHERE locktype = 'advisory' AND objsubid = 1
                        AND (classid::bigint << 32 | objid::bigint) = $2
                )
                """, [.int64(Int64(lost)), .int64(lane == 0 ? ownLock : lanesLock)])
        }
        try hold(on: connection, in: lane, for: Self.lockTimeout)
        do {
            // What one lane finds out, another one knows when it compares.
            try comparing.withLock { _ in try compare(connection) }
        } catch {
            connection.close()
            throw error
        }
        // There before it is needed: whoever settles a commit waits for the row.
        try connection.execute(
            "INSERT INTO store_writer (id, last_write) VALUES ($1, 0) ON CONFLICT (id) DO NOTHING",
            [.int64(writer)])
        return connection
    }

    /// Looks whether the store at a connection is what it was; refuses to serve it any more where it is not.
    private func compare(_ connection: PostgresConnection) throws {
        // Those that come meanwhile are there, too.
        let acknowledged = state.withLock(\.acknowledged)
        let mark = try StoreMark(on: connection)
        var last: [Int64: Int64] = [:]
        try connection.rows(
            "SELECT id, last_write FROM store_writer WHERE id = ANY($1)",
            [.int64Array(acknowledged.keys + [lanesLock])]
        ) { last[$0.int(0)] = $0.int(1) }
        let versions = try PostgresSchema.versions(on: connection)
        let finding = compare(mark)
        switch finding {
        case .replaced: throw StoreOpenError.unreachable(reason: Self.replaced)
        case .same, .promoted: break
        case .other: throw refuse()
        }
        guard versions.areServed(by: PostgresSchema.version) else { throw refuse() }
        guard acknowledged.allSatisfy({ last[$0.key] ?? 0 >= $0.value }) else {
            // The others have not noticed: what is lost is this server's.
            guard losslessFailover else { throw refuse() }
            try StoreLineage.endLife(mark.incarnation, connection, at: now())
            throw refuse(because: Self.lacksWrites)
        }
        guard last[lanesLock] == name else { throw refuse() }
        guard finding == .promoted else { return }
        try connection.execute(
            "UPDATE tidebell_schema SET lineage = $1", [.text(mark.lineage)])
        state.withLock { $0.known?.lineage = mark.lineage }
    }

    private static let changed =
        "the database is not what it was when this server began (it was failed over, restored or served by "
        + "another server)"
    /// What a promise turned out to be worth.
    private static let lacksWrites =
        "the database lacks writes that this server acknowledged, so devices fetch everything again: "
        + "the database's replication is not what --lossless-failover says it is"
    /// Why a connection to the server of before a failover is of no use.
    static let replaced = "what answers is the server that another one has replaced"

    /// Reads the name of a writer's last write, when what it had under way has ended; nil where its row
    /// is gone. What is read is as durable as what is acknowledged.
    func lastWrite(of writer: Int64) throws -> Int64 {
        let connection = try PostgresConnection(address)
        defer { connection.close() }
        connection.enqueue("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
        var last: Int64?
        try connection.rows(
            "UPDATE store_writer SET last_write = last_write WHERE id = $1 RETURNING last_write",
            [.int64(writer)]
        ) { last = $0.int(0) }
        guard let last else {
            throw StoreOpenError.unreachable(reason: "the row of its writes is gone")
        }
        try connection.commitOrThrow()
        return last
    }

    /// The lock that no other connection than this server's may have.
    private var ownLock: Int64 {
        node.map { ScopeLocks.key("node", $0.description) } ?? PostgresSchema.servingLock
    }

    /// The lock that lanes but the first have in common, and the row that names whose lanes they are.
    private var lanesLock: Int64 {
        node.map { ScopeLocks.key("lanes", $0.description) } ?? PostgresSchema.lanesLock
    }

    /// How long the server lets a process hold locks that does nothing: one that stands still, or whose machine is
    /// gone, would hold up all others.
    static let longestStandstill = "30s"

    private func hold(
        on connection: PostgresConnection, in lane: Int, for timeout: String
    ) throws {
        connection.enqueue(
            "SET idle_in_transaction_session_timeout = '\(Self.longestStandstill)'")
        // Of a machine that is gone without a word.
        connection.enqueue("SET tcp_keepalives_idle = 10")
        connection.enqueue("SET tcp_keepalives_interval = 5")
        connection.enqueue("SET tcp_keepalives_count = 3")
        try connection.sync()
        // Not every system can do these.
        for setting in ["client_connection_check_interval = '1s'", "tcp_user_timeout = '25s'"] {
            _ = try? connection.execute("SET \(setting)")
        }
        guard purpose == .serving else { return }
        func holdServing() throws {
            try connection.hold(
                PostgresSchema.servingLock, inCommon: node != nil, for: timeout
            ) { StoreOpenError.servedElsewhere(path: address.description) }
        }
        if let node {
            try connection.hold(
                lane == 0 ? ownLock : lanesLock, inCommon: lane > 0, for: timeout
            ) { StoreOpenError.nodeInUse(name: node.description) }
            try holdServing()
        } else if lane == 0 {
            try holdServing()
        } else {
            try connection.hold(lanesLock, inCommon: true, for: timeout) {
                StoreOpenError.servedElsewhere(path: address.description)
            }
        }
        state.withLock { $0.holders[lane] = connection.serverProcess }
    }
}

extension PostgresConnection {
    /// Takes the lock of whoever serves a store alone, for as long as the connection lasts, when nobody writes there
    /// any more.
    func holdServingLock(for timeout: String, at address: PostgresAddress) throws {
        let refusal = StoreOpenError.servedElsewhere(path: address.description)
        try hold(PostgresSchema.servingLock, for: timeout) { refusal }
        try takeOver(PostgresSchema.lanesLock, as: 0, within: timeout) { refusal }
    }

    /// Waits until nobody has the lock of lanes, and notes whose it is from now on.
    fileprivate func takeOver(
        _ lock: Int64, as name: Int64, within timeout: String, otherwise: () -> StoreOpenError
    ) throws {
        try hold(lock, for: timeout, otherwise: otherwise)
        try execute(
            """
            INSERT INTO store_writer (id, last_write) VALUES ($1, $2)
            ON CONFLICT (id) DO UPDATE SET last_write = excluded.last_write
            """, [.int64(lock), .int64(name)])
        try execute("SELECT pg_advisory_unlock($1)", [.int64(lock)])
    }

    /// Takes a lock for as long as the connection lasts.
    func hold(
        _ lock: Int64, inCommon: Bool = false, for timeout: String, otherwise: () -> any Error
    ) throws {
        do {
            try execute("SET lock_timeout = '\(timeout)'")
            try execute(
                "SELECT pg_advisory_lock\(inCommon ? "_shared" : "")($1)", [.int64(lock)])
            try execute("SET lock_timeout = 0")
        } catch let error as PostgresError where error.code == "55P03" {
            throw otherwise()
        }
    }
}

/// What tells a store from what it was before, or from another one.
struct StoreMark: Sendable, Hashable {
    var identity: Int64 = 0
    var incarnation: Int64 = 0
    var lineage = ""

    /// Whether it may be an earlier one, on a standby that was promoted since.
    func isPromoted(from earlier: StoreMark) -> Bool {
        identity == earlier.identity && incarnation == earlier.incarnation
            && StoreLineage.isPromoted(lineage, from: earlier.lineage)
    }

    /// Reads that of a store.
    init(on connection: PostgresConnection) throws {
        try connection.rows(
            """
            SELECT identity, incarnation, (\(StoreLineage.current)) FROM store
            """
        ) { row in
            (identity, incarnation, lineage) = (row.int(0), row.int(1), row.string(2))
        }
    }
}
