// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellPostgresClient
import TidebellSQL
package import TidebellScheduling

extension PostgresStore {
    /// Connections for reads that may take long, so that they never keep the others from one.
    private static let longReaders = 2

    /// Opens the store in a database of PostgreSQL, made there if the database is empty.
    ///
    /// Whoever opens it for serving holds it alone, as long as its connection lasts, or as a node together with
    /// others. Blocks while it connects.
    ///
    /// - Parameters:
    ///   - node: The name of the node that serves; nil for a server that is alone.
    ///   - losslessFailover: Whether a standby that is promoted has every acknowledged write: then the store is
    ///     served on there, in the same life.
    ///   - readers: Connections that read at the same time, beside those that write.
    package static func open(
        at address: PostgresAddress, for purpose: StorePurpose = .serving,
        as node: NodeName? = nil, losslessFailover: Bool = false,
        bounds: StoreBounds = StoreBounds(), readers: Int = 8, time: Time, randomness: Randomness
    ) throws(StoreOpenError) -> PostgresStore {
        try open(
            at: address, for: purpose, as: node, losslessFailover: losslessFailover,
            bounds: bounds, readers: readers, time: time, randomness: randomness,
            cell: .directory)
    }

    /// The same of a cell of a cloud, which the database has to be.
    static func open(
        at address: PostgresAddress, for purpose: StorePurpose, as node: NodeName?,
        losslessFailover: Bool, bounds: StoreBounds, readers: Int, time: Time,
        randomness: Randomness, cell: CellNumber
    ) throws(StoreOpenError) -> PostgresStore {
        do {
            let lanes = purpose == .serving ? PostgresWrites.lanes : 1
            let names = (0..<lanes).map { _ in
                Int64(bitPattern: randomness.makeNumber())
            }
            let connection = try PostgresConnection(address)
            if cell != .directory, try !PostgresSchema.isMade(on: connection) {
                throw StoreOpenError.unreachable(
                    reason:
                        "the database at \(address) is empty, and was cell \(cell.rawValue) of this cloud"
                )
            }
            let versions = try PostgresSchema.prepare(
                connection, identity: Int64(bitPattern: randomness.makeNumber()),
                mayMigrate: purpose == .serving)
            guard versions.areServed(by: PostgresSchema.version) else {
                throw PostgresSchema.refusal(of: versions.version, at: address)
            }
            let found = try CellDirectory.number(on: connection)
            guard found == cell else {
                throw StoreOpenError.unreachable(
                    reason: cell == .directory
                        ? "the database at \(address) is cell \(found.rawValue) of a cloud; give the address of the "
                            + "one that has its directory"
                        : "the database at \(address) is not cell \(cell.rawValue) of this cloud")
            }
            if node != nil { try ClockAgreement.check(on: connection) }
            let connections = WriterConnections(
                address, for: purpose, named: names[0], as: node,
                losslessFailover: losslessFailover, now: time.now)
            try connections.begin(on: connection)
            let statements = PostgresStatements()
            let cameBackOlder =
                try purpose == .serving
                && StoreLineage.settle(
                    connection, statements, as: node, losslessFailover: losslessFailover,
                    at: time.now())
            try connection.execute(
                "INSERT INTO store_writer (id, last_write) VALUES ($1, 0)", [.int64(names[0])])
            let mark = try StoreMark(on: connection)
            connections.note(mark)
            let guesses = RowGuesses()
            func pool(of connections: Int) -> PostgresPool {
                PostgresPool(
                    address,
                    limits: PostgresPool.Limits(
                        connections: connections, waiting: bounds.waitingReads, statements: 512),
                    time: time, randomness: randomness)
            }
            let troubles = StoreTroubles(elapsed: time.elapsed)
            let signals = PostgresWrites.Signals()
            let shared = try node.map { name in
                try Node(
                    name, at: address, process: names[0], pool: pool(of: Node.leaseConnections),
                    statements: statements, elapsed: time.elapsed,
                    connections: connections, accessEnded: { signals.access.yield() })
            }
            let leases = QueueLeases()
            let writes = PostgresWrites(
                connection, named: names,
                WriterLane.Surroundings(
                    waiting: WriteQueue(
                        bounds, lanes: lanes, closedError: PostgresPool.Refusal.closed),
                    connections: connections, statements: statements, guesses: guesses,
                    leases: shared?.leases ?? leases, node: shared,
                    signals: signals, troubles: troubles, bounds: bounds, elapsed: time.elapsed))
            let store = PostgresStore(
                identity: UInt64(bitPattern: mark.identity),
                incarnation: Incarnation(rawValue: mark.incarnation), cameBackOlder: cameBackOlder,
                connections: connections, pool: pool(of: readers),
                longPool: pool(of: longReaders), writes: writes, leases: leases, node: shared,
                statements: statements, guesses: guesses, troubles: troubles, bounds: bounds,
                at: address, elapsed: time.elapsed)
            // A write compares what is there with what was acknowledged.
            connections.whenPromoted { [weak store] in
                Task { try? await store?.write(.looking(at: nil)) { _ in } }
            }
            return store
        } catch let error as StoreOpenError {
            throw error
        } catch {
            throw .unreachable(reason: "\(error)")
        }
    }
}

extension SQLTransaction {
    /// Begins a new life, in which no number comes again that the lost one may have given out.
    func beginNewLife(at now: Instant) throws -> Incarnation {
        let begun = try incarnation().next(at: now)
        for (table, sequence) in PostgresSchema.sequences.sorted(by: { $0.key < $1.key }) {
            let last = try connection.lastNumber(of: table)
            try connection.run(
                "SELECT setval('\(sequence)', ?)", Self.number(ofNewLifeAfter: last, at: now))
        }
        // Cells number these in steps.
        for table in CellNumber.steppedTables {
            let sequence = PostgresSchema.sequence(of: table)
            try connection.run(
                """
                SELECT setval('\(sequence)', (last_value / \(CellNumber.limit) + 1)
                    * \(CellNumber.limit) + (SELECT cell FROM tidebell_schema))
                FROM \(sequence)
                """)
        }
        try connection.run(
            """
            UPDATE database SET head =
                CASE WHEN head < ?1 THEN ?1 ELSE head + ?2 END
            """,
            now.rawValue + Self.changesAheadOfClock, Self.changesAheadOfClock)
        try connection.run(
            "UPDATE store SET incarnation = ?, notification_floor = ? WHERE id = 1",
            begun, try lastNotificationNumber())
        return begun
    }
}
