// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient
import TidebellSQL
import TidebellWire

/// One move, with its connections to the directory and to both cells.
final class MovePlan {
    private let subject: CellMove.Subject
    private let source: CellNumber
    private let target: CellNumber
    private let directory: PostgresConnection
    private let old: PostgresConnection
    private let new: PostgresConnection
    /// For the checksums of the other cell, too.
    private static let longestStandstill = "60s"

    /// What `held` says of a move.
    enum Hold: Int64 {
        case notHeld = 0
        /// Writes of the subject wait.
        case held = 1
        /// It is given up, and what was copied may still be there.
        case givenUp = 2
    }

    /// Whether the directory says the new cell already: the move was interrupted behind that.
    let isSwitched: Bool
    /// The last numbers of the journals that were copied; nil where none were.
    private var copiedJournals: [String: Int64]?

    /// Notes the move in the directory, or finds it there.
    init(
        of subject: CellMove.Subject, to name: String, in address: PostgresAddress
    ) throws {
        self.subject = subject
        directory = try PostgresConnection(address)
        try Self.beAlone(on: directory)
        let cells = try CellDirectory.cells(on: directory)
        guard let cell = cells.first(where: { $0.name == name }) else {
            throw CellMove.Refusal.unknownCell(name)
        }
        target = cell.number
        let begun = try Self.begun(subject, directory)
        if let begun, begun.target != target {
            let other = cells.first { $0.number == begun.target }?.name ?? "?"
            throw CellMove.Refusal.onItsWay(to: other)
        }
        source = try begun?.source ?? Self.place(of: subject, directory)
        isSwitched = begun?.isSwitched ?? false
        guard source != target else { throw CellMove.Refusal.isThere(name) }
        old = try Self.connect(to: source, of: cells, in: address)
        new = try Self.connect(to: target, of: cells, in: address)
        // Also where the directory's connection is lost meanwhile.
        if source != .directory { try Self.beAlone(on: old) }
        if target != .directory { try Self.beAlone(on: new) }
        guard try begun != nil || MovedRows.hasAny(of: subject, on: old) else {
            throw CellMove.Refusal.nothingThere
        }
        guard begun == nil else { return }
        try directory.execute(
            """
            INSERT INTO cell_move (owner, container, environment, source, target)
            VALUES ($1, $2, $3, $4, $5)
            """,
            subject.values + [.int64(Int64(source.rawValue)), .int64(Int64(target.rawValue))])
    }

    /// Connects to a cell.
    static func connect(
        to number: CellNumber, of cells: [CellMap.Cell], in directory: PostgresAddress
    ) throws -> PostgresConnection {
        let place = cells.first { $0.number == number }?.address
        let connection = try PostgresConnection(
            place.map { try PostgresAddress($0) } ?? directory)
        // A move that is killed is not to go on with a long statement. Not every system of a server has this.
        _ = try? connection.execute("SET client_connection_check_interval = '1s'")
        return connection
    }

    /// For how long the end of a move that was killed a moment ago is waited for.
    private static let longestWait = "5s"

    /// Keeps others from moving something, as long as a connection lasts.
    static func beAlone(on connection: PostgresConnection) throws {
        try connection.hold(PostgresSchema.movingLock, for: longestWait) {
            CellMove.Refusal.isMoving
        }
    }

    func close() {
        for connection in [old, new, directory] { connection.close() }
    }

    /// What the directory has of a move that has not ended.
    static func begun(
        _ subject: CellMove.Subject, _ directory: PostgresConnection
    ) throws -> (source: CellNumber, target: CellNumber, isSwitched: Bool)? {
        var found: (CellNumber, CellNumber, Bool)?
        try directory.rows(
            """
            SELECT source, target, switched FROM cell_move
            WHERE owner = $1 AND container = $2 AND environment = $3
            """, subject.values
        ) {
            found = (
                CellNumber(rawValue: Int($0.int(0))), CellNumber(rawValue: Int($0.int(1))),
                $0.bool(2)
            )
        }
        return found
    }

    /// Where a subject is.
    private static func place(
        of subject: CellMove.Subject, _ directory: PostgresConnection
    ) throws -> CellNumber {
        var found: CellNumber?
        let (sql, values): (String, [PostgresValue]) =
            if let owner = subject.owner {
                ("SELECT cell FROM cell_of_user WHERE \"user\" = $1", [.int64(owner.rawValue)])
            } else {
                (
                    "SELECT cell FROM cell_of_container WHERE container = $1 AND environment = $2",
                    Array(subject.values.dropFirst())
                )
            }
        try directory.rows(sql, values) { found = CellNumber(rawValue: Int($0.int(0))) }
        return found ?? subject.owner.map { CellNumber(thatGave: $0.rawValue) } ?? .directory
    }

    // MARK: - In use

    /// Copies what differs, as of one moment; returns how many rows.
    func copyInUse() throws -> Int {
        let journals = try lastOfJournals()
        old.enqueue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        new.enqueue("BEGIN")
        defer { old.rollback() }
        do {
            let moved = try MovedRows(of: subject, from: old, to: new, in: target)
            let rows =
                try moved.copy(verifies: false)
                + moved.copyJournals(after: copiedJournals, through: journals)
            try new.commitOrThrow()
            copiedJournals = journals
            return rows
        } catch {
            new.rollback()
            throw error
        }
    }

    /// The last numbers of the journals, of which all are there that the subject's writes got: those under way end first.
    private func lastOfJournals() throws -> [String: Int64] {
        old.enqueue("BEGIN")
        defer { old.rollback() }
        // Steps that reach into many scopes have this one alone, and none of theirs.
        old.enqueue("SELECT pg_advisory_xact_lock_shared($1)", [.int64(ScopeLocks.store)])
        takeLocks()
        return try MovedRows.lastOfJournals(on: old)
    }

    /// Waits for the locks of the scopes of what is moved, in the old cell, and has them until the transaction ends.
    private func takeLocks() {
        for key in lockKeys {
            old.enqueue("SELECT pg_advisory_xact_lock($1)", [.int64(key)])
        }
    }

    // MARK: - Held

    /// Has the writes of the subject wait, wherever they come.
    func hold() throws {
        let databases = try MovedRows.databases(of: subject, on: old)
        try Self.change(directory) { directory in
            directory.enqueue(
                "UPDATE cell_move SET held = $4 WHERE \(CellMove.Subject.isWanted)",
                subject.values + [.int64(Hold.held.rawValue)])
            directory.enqueue(
                "INSERT INTO held_database SELECT * FROM unnest($1) ON CONFLICT DO NOTHING",
                [.int64Array(databases)])
        }
    }

    /// Whether changes of the subject wait to be notified, or somebody delivers to its webhooks and push tokens at this moment.
    /// What only waits there moves along.
    func hasPendingChanges(at now: Instant) throws -> Bool {
        var found = false
        try old.rows(
            """
            SELECT EXISTS (
                SELECT 1 FROM outbox_queue JOIN outbox
                    ON outbox.database = outbox_queue.database AND outbox.id > outbox_queue.done
                WHERE outbox_queue.database = ANY($1)
            ) OR EXISTS (
                SELECT 1 FROM webhook_queue JOIN queue_lease
                    ON queue_lease.queue = convert_to('webhook/' || webhook_queue.webhook, 'UTF8')
                        AND queue_lease.entry = convert_to(webhook_queue."user"::text, 'UTF8')
                WHERE webhook_queue."user" = $2 AND holder IS NOT NULL AND vesting_at > $3
            ) OR EXISTS (
                SELECT 1 FROM device JOIN push_queue ON push_queue.device = device.key
                    JOIN queue_lease
                    ON queue_lease.queue = convert_to('push/', 'UTF8') || push_queue.environment
                            || convert_to('/', 'UTF8') || push_queue.container
                        AND queue_lease.entry
                            = convert_to(push_queue.device || '/', 'UTF8') || push_queue.token
                WHERE device."user" = $2 AND holder IS NOT NULL AND vesting_at > $3
            )
            """,
            [
                .int64Array(try MovedRows.databases(of: subject, on: old)),
                .int64(subject.owner?.rawValue ?? 0), .int64(now.rawValue),
            ]
        ) { found = $0.bool(0) }
        return found
    }

    /// Copies the rest while nobody writes, and keeps whoever does not know that out of the old cell for ever; returns how
    /// many rows.
    func copyRest() throws -> Int {
        // What is removed for its age would differ. Whoever has several of these locks takes the directory's first.
        for connection in source < target ? [old, new] : [new, old] {
            connection.enqueue("BEGIN")
            // Whoever stands still with these locks holds up writes of all.
            connection.enqueue(
                "SET LOCAL idle_in_transaction_session_timeout = '\(Self.longestStandstill)'")
            try connection.execute(
                "SELECT pg_advisory_xact_lock_shared($1)", [.int64(ScopeLocks.store)])
        }
        do {
            // A write that began before the hold ends first.
            takeLocks()
            if source == .directory { try checkHold() }
            let moved = try MovedRows(of: subject, from: old, to: new, in: target)
            let rows =
                try moved.copy(verifies: true)
                + moved.copyJournals(
                    after: copiedJournals, through: MovedRows.lastOfJournals(on: old))
                + moved.copyRest()
            // It may have been there before.
            new.enqueue("DELETE FROM departed WHERE \(CellMove.Subject.isWanted)", subject.values)
            try new.commitOrThrow()
            old.enqueue(
                """
                INSERT INTO departed (owner, container, environment, database)
                SELECT $1, $2, $3, * FROM unnest($4) ON CONFLICT DO NOTHING
                """,
                subject.values
                    + [.int64Array([0] + (try MovedRows.databases(of: subject, on: old)))])
            try old.commitOrThrow()
            return rows
        } catch {
            new.rollback()
            old.rollback()
            throw error
        }
    }

    /// Fails where the move was given up. A move away from the directory's cell has no lock there but that of its connection
    /// to the directory, which may be lost.
    private func checkHold() throws {
        var isHeld = false
        try old.rows(
            "SELECT held FROM cell_move WHERE \(CellMove.Subject.isWanted) FOR SHARE",
            subject.values
        ) { isHeld = $0.int(0) == Hold.held.rawValue }
        guard isHeld else { throw CellMove.Refusal.givenUp }
    }

    /// The locks of the scopes of what is moved.
    private var lockKeys: [Int64] {
        let databases = subject.scopes.map {
            ScopeLocks.key(
                of: DatabaseKey(
                    container: subject.container, scope: $0, owner: subject.owner))
        }
        return databases + (subject.owner.map { [ScopeLocks.key(of: $0)] } ?? [])
    }

    /// Whether writers are kept out of the old cell.
    func isFenced() throws -> Bool {
        var found = false
        try old.rows(
            "SELECT 1 FROM departed WHERE \(CellMove.Subject.isWanted) LIMIT 1", subject.values
        ) { _ in found = true }
        return found
    }

    /// Has the directory say where the subject is now.
    func switchDirectory() throws {
        let numbers = try MovedRows(of: subject, from: old, to: new, in: target).numbers()
        let cell = PostgresValue.int64(Int64(target.rawValue))
        try Self.change(directory) { directory in
            if let owner = subject.owner {
                directory.enqueue(
                    """
                    INSERT INTO cell_of_user ("user", cell) VALUES ($1, $2)
                    ON CONFLICT ("user") DO UPDATE SET cell = excluded.cell
                    """, [.int64(owner.rawValue), cell])
            } else {
                directory.enqueue(
                    """
                    UPDATE cell_of_container SET cell = $3
                    WHERE container = $1 AND environment = $2
                    """, subject.values.dropFirst() + [cell])
            }
            for (kind, numbers) in numbers {
                let kind = PostgresValue.int64(kind.rawValue)
                // What is where its number was given needs no row.
                let home = numbers.filter { CellNumber(thatGave: $0) == target }
                directory.enqueue(
                    "DELETE FROM cell_of_number WHERE kind = $1 AND number = ANY($2)",
                    [kind, .int64Array(home)])
                directory.enqueue(
                    """
                    INSERT INTO cell_of_number (kind, number, cell)
                    SELECT $1, number, $3 FROM unnest($2) AS number
                    ON CONFLICT (kind, number) DO UPDATE SET cell = excluded.cell
                    """,
                    [
                        kind,
                        .int64Array(numbers.filter { CellNumber(thatGave: $0) != target }), cell,
                    ])
            }
            directory.enqueue("UPDATE tidebell_schema SET switches = switches + 1")
            directory.enqueue(
                "UPDATE cell_move SET switched = 1 WHERE \(CellMove.Subject.isWanted)",
                subject.values)
        }
    }

    // MARK: - In the new cell

    /// Lets the writes go on.
    func release() throws {
        try Self.letGo(
            subject,
            databases: [old, new].flatMap { try MovedRows.databases(of: subject, on: $0) },
            as: .notHeld, in: directory)
    }

    /// Lets the writes of a subject go on where they went before, and has the directory say that the move is given up.
    static func giveUp(
        _ subject: CellMove.Subject, databases: [Int64], in directory: PostgresConnection
    ) throws {
        try letGo(subject, databases: databases, as: .givenUp, in: directory)
    }

    private static func letGo(
        _ subject: CellMove.Subject, databases: [Int64], as hold: Hold,
        in directory: PostgresConnection
    ) throws {
        try change(directory) { directory in
            directory.enqueue(
                "UPDATE cell_move SET held = $4 WHERE \(CellMove.Subject.isWanted)",
                subject.values + [.int64(hold.rawValue)])
            directory.enqueue(
                "DELETE FROM held_database WHERE database = ANY($1)", [.int64Array(databases)])
        }
    }

    /// Removes what is in the old cell, where nobody looks any more.
    func removeOld() throws {
        try MovedRows(of: subject, from: old, to: new, in: target).removeOld()
        try directory.execute(
            "DELETE FROM cell_move WHERE \(CellMove.Subject.isWanted)", subject.values)
    }

    /// Changes the directory, which everybody notices.
    private static func change(
        _ directory: PostgresConnection, _ body: (PostgresConnection) throws -> Void
    ) throws {
        directory.enqueue("BEGIN")
        do {
            try body(directory)
            directory.enqueue("UPDATE tidebell_schema SET moves = moves + 1")
            try directory.commitOrThrow()
        } catch {
            directory.rollback()
            throw error
        }
    }
}

extension CellMove.Subject {
    /// Which rows of a table of the directory are the subject's, by its ``values``.
    static let isWanted = "owner = $1 AND container = $2 AND environment = $3"

    /// The owner, or 0; the container; its environment.
    var values: [PostgresValue] {
        [
            .int64(owner?.rawValue ?? 0), .text(container.container),
            .text(container.environment.rawValue),
        ]
    }

    /// Its databases.
    var scopes: [DatabaseScope] { owner == nil ? [.public] : [.private, .shared] }
}
