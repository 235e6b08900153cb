// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellPostgresClient
package import TidebellWire

/// The list of cells in the directory, as operators see and extend it.
package enum CellDirectory {
    /// Where the database is that has it.
    package typealias Address = PostgresAddress

    /// Why a cell is not added.
    package enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        case nameTaken(String)
        case holdsPassword
        case notEmpty(place: String)
        case isServed(place: String)
        case tooMany
        case isNoDirectory(place: String)
        case unknown(String)
        case isFirst(String)
        case isNoCell(place: String, name: String)
        case onlyOneThatTakesNew(String)

        package var description: String {
            switch self {
            case .nameTaken(let name):
                "there is a cell named '\(name)' already"
            case .holdsPassword:
                "the address of a cell is kept in the directory: leave the password out, and give it by a password "
                    + "file (PGPASSFILE) or a service file on each machine that serves"
            case .notEmpty(let place):
                "the database at \(place) is not empty; give one without tables, and make one anew where adding it was interrupted"
            case .isServed(let place):
                "a server is running on \(place); stop all servers of the cloud, run this again, and start them: "
                    + "they look for the cells when they start"
            case .tooMany: "there are \(CellNumber.limit) cells, and there can be no more"
            case .isNoDirectory(let place):
                "the database at \(place) is a cell itself; give the address that servers are started with"
            case .unknown(let name): "there is no cell named '\(name)'"
            case .isFirst(let name):
                "cell '\(name)' is where the address is that servers are started with: start them with another one"
            case .isNoCell(let place, let name):
                "the database at \(place) is not cell '\(name)' of this cloud"
            case .onlyOneThatTakesNew(let name):
                "cell '\(name)' is the only one to which new accounts, users and containers come; have another one take them first"
            }
        }
    }

    /// A cell, and how much is in it.
    package struct Listed: Sendable, Hashable {
        package var number: Int
        package var name: String
        /// Where it is, without a password.
        package var place: String
        package var takesNew: Bool
        /// Nil where it cannot be reached, as ``problem`` says.
        package var databases: Int?
        package var records: Int64?
        /// Records and their fields.
        package var bytes: Int64?
        package var problem: String?
        /// What is on its way there, or was when a move was interrupted.
        package var movesTo: [Move] = []
    }

    /// A move that has not ended.
    package struct Move: Sendable, Hashable {
        /// By which options it is named; nil for what a user had whose account is gone.
        package var options: String?
        /// The number of the user; 0 for a public database.
        package var owner: Int64
        package var isSwitched: Bool
        package var isGivenUp: Bool
    }

    /// Runs `body` with the address of a cloud's directory; a database that cannot be reached fails as one that cannot be
    /// opened.
    ///
    /// - Parameter address: As ``PostgresFactory/init(_:as:losslessFailover:readers:)`` takes it.
    package static func reaching<Result>(
        _ address: String, _ body: (PostgresAddress) throws -> Result
    ) throws -> Result {
        do {
            return try body(PostgresAddress(address))
        } catch let error as PostgresError {
            throw StoreOpenError.unreachable(reason: "\(error)")
        }
    }

    /// The name of the first cell.
    private static let firstName = "directory"

    /// The cells of a cloud, the directory's first; none where there is one database only.
    static func cells(at address: PostgresAddress) throws -> [CellMap.Cell] {
        let connection = try PostgresConnection(address)
        defer { connection.close() }
        return try cells(on: connection)
    }

    /// The same on a connection.
    static func cells(on connection: PostgresConnection) throws -> [CellMap.Cell] {
        var cells: [CellMap.Cell] = []
        // An empty database is a cloud that is yet to begin.
        guard try PostgresSchema.isMade(on: connection) else { return [] }
        try connection.rows("SELECT number, name, address, takes_new FROM cell ORDER BY number") {
            let number = CellNumber(rawValue: Int($0.int(0)))
            cells.append(
                CellMap.Cell(
                    number: number, name: $0.string(1),
                    address: number == .directory ? nil : $0.string(2),
                    takesNew: $0.int(3) == 1))
        }
        return cells
    }

    /// Adds a cell: an empty database becomes a part of the cloud, and gets its share of what is made from now on.
    ///
    /// No server may run on the cloud meanwhile: one that does not know of the cell would look for what is there in
    /// the wrong place.
    ///
    /// - Parameters:
    ///   - name: What operators call it.
    ///   - place: The address of its database, without a password.
    ///   - directory: The address that servers are started with. An empty database becomes a new cloud.
    ///   - identity: That of a new cloud (``Store/identity``).
    package static func add(
        _ name: String, at place: String, to directory: PostgresAddress, identity: Int64,
        takesNew: Bool = true
    ) throws {
        let address = try PostgresAddress(place)
        guard !address.hasPassword else { throw Refusal.holdsPassword }
        let connection = try PostgresConnection(directory)
        defer { connection.close() }
        let versions = try PostgresSchema.prepare(connection, identity: identity)
        guard versions.areServed(by: PostgresSchema.version) else {
            throw PostgresSchema.refusal(of: versions.version, at: directory)
        }
        connection.enqueue("BEGIN")
        try connection.execute(
            "SELECT pg_advisory_xact_lock($1)", [.int64(PostgresSchema.makingLock)])
        guard try number(on: connection) == .directory else {
            throw Refusal.isNoDirectory(place: directory.description)
        }
        try refuseWhereServed(connection, at: directory)
        let known = try cells(on: connection)
        guard !known.contains(where: { $0.name == name }), name != firstName else {
            throw Refusal.nameTaken(name)
        }
        let next = CellNumber(rawValue: max(1, (known.last?.number.rawValue ?? 0) + 1))
        guard next.rawValue < CellNumber.limit else { throw Refusal.tooMany }
        var (identity, incarnation): (Int64, Int64) = (0, 0)
        try connection.rows("SELECT identity, incarnation FROM store") {
            (identity, incarnation) = ($0.int(0), $0.int(1))
        }
        var last: [String: Int64] = [:]
        for table in CellNumber.steppedTables {
            let sequence = PostgresSchema.sequence(of: table)
            try connection.rows("SELECT last_value FROM \(sequence)") { last[table] = $0.int(0) }
        }
        try prepare(address, as: next, of: identity, in: incarnation, after: last)
        if known.isEmpty {
            try placeWhatIsThere(connection)
            numberInSteps(of: .directory, after: last, on: connection)
        }
        // Code that knows of no cells would take the directory's for all there is.
        connection.enqueue(
            "UPDATE tidebell_schema SET oldest_code = greatest(oldest_code, $1)",
            [.int64(PostgresSchema.firstWithCells)])
        connection.enqueue(
            "INSERT INTO cell (number, name, address, takes_new) VALUES ($1, $2, $3, $4)",
            [
                .int64(Int64(next.rawValue)), .text(name), .text(place), .int64(takesNew ? 1 : 0),
            ])
        try connection.commitOrThrow()
    }

    /// Says whether new accounts, users and containers come to a cell; servers that run notice it within seconds.
    package static func change(
        _ name: String, takesNew: Bool, in directory: PostgresAddress
    ) throws {
        let connection = try PostgresConnection(directory)
        defer { connection.close() }
        let cells = try cells(on: connection)
        guard cells.contains(where: { $0.name == name }) else { throw Refusal.unknown(name) }
        guard takesNew || cells.contains(where: { $0.takesNew && $0.name != name }) else {
            throw Refusal.onlyOneThatTakesNew(name)
        }
        connection.enqueue("BEGIN")
        connection.enqueue(
            "UPDATE cell SET takes_new = $1 WHERE name = $2",
            [.int64(takesNew ? 1 : 0), .text(name)])
        connection.enqueue("UPDATE tidebell_schema SET moves = moves + 1")
        try connection.commitOrThrow()
    }

    /// Says where a cell is from now on, which has to be there.
    ///
    /// No server may run on the cloud meanwhile: it would go on writing in the other place.
    package static func change(
        _ name: String, address place: String, in directory: PostgresAddress
    ) throws {
        let address = try PostgresAddress(place)
        guard !address.hasPassword else { throw Refusal.holdsPassword }
        let connection = try PostgresConnection(directory)
        defer { connection.close() }
        guard let cell = try cells(on: connection).first(where: { $0.name == name }) else {
            throw Refusal.unknown(name)
        }
        guard cell.number != .directory else { throw Refusal.isFirst(name) }
        connection.enqueue("BEGIN")
        try refuseWhereServed(connection, at: directory)
        let other = try PostgresConnection(address)
        defer { other.close() }
        guard try PostgresSchema.isMade(on: other), try number(on: other) == cell.number,
            try identity(on: other) == identity(on: connection)
        else { throw Refusal.isNoCell(place: address.description, name: name) }
        connection.enqueue(
            "UPDATE cell SET address = $1 WHERE name = $2", [.text(place), .text(name)])
        try connection.commitOrThrow()
    }

    /// Fails where a server runs on the cloud, and keeps others from starting until the transaction ends.
    private static func refuseWhereServed(
        _ connection: PostgresConnection, at directory: PostgresAddress
    ) throws {
        var isFree = false
        try connection.rows(
            "SELECT pg_try_advisory_xact_lock($1)", [.int64(PostgresSchema.servingLock)]
        ) { isFree = $0.bool(0) }
        guard isFree else { throw Refusal.isServed(place: directory.description) }
    }

    /// Which cloud a database is of.
    private static func identity(on connection: PostgresConnection) throws -> Int64 {
        var identity: Int64 = 0
        try connection.rows("SELECT identity FROM store") { identity = $0.int(0) }
        return identity
    }

    /// What was made before there were cells is in the first one.
    private static func placeWhatIsThere(_ connection: PostgresConnection) throws {
        connection.enqueue(
            "INSERT INTO cell (number, name, address, takes_new) VALUES (0, $1, '', 1)",
            [.text(firstName)])
        connection.enqueue(
            """
            INSERT INTO cell_of_container (container, environment, cell)
            SELECT DISTINCT container, environment, 0 FROM database WHERE owner = 0
            """)
    }

    /// Makes the tables of a cell, whose numbers begin with its own.
    private static func prepare(
        _ address: PostgresAddress, as number: CellNumber, of identity: Int64,
        in incarnation: Int64, after last: [String: Int64]
    ) throws {
        let connection = try PostgresConnection(address)
        defer { connection.close() }
        if try PostgresSchema.isMade(on: connection) {
            // What an attempt left that ended before the directory had the cell.
            guard try self.number(on: connection) == number,
                try self.identity(on: connection) == identity
            else {
                throw Refusal.notEmpty(place: address.description)
            }
            return
        }
        _ = try PostgresSchema.prepare(connection, identity: identity)
        connection.enqueue("BEGIN")
        connection.enqueue(
            "UPDATE tidebell_schema SET cell = $1, oldest_code = greatest(oldest_code, $2)",
            [.int64(Int64(number.rawValue)), .int64(PostgresSchema.firstWithCells)])
        connection.enqueue("UPDATE store SET incarnation = $1", [.int64(incarnation)])
        for (table, sequence) in PostgresSchema.sequences
        where !CellNumber.steppedTables.contains(table) {
            connection.enqueue("SELECT setval('\(sequence)', \(number.start))")
        }
        numberInSteps(of: number, after: last, on: connection)
        try connection.commitOrThrow()
    }

    /// Has what is counted in steps numbered as a cell does, behind what there was before cells.
    private static func numberInSteps(
        of cell: CellNumber, after last: [String: Int64], on connection: PostgresConnection
    ) {
        for table in CellNumber.steppedTables {
            connection.enqueueOnce(
                """
                ALTER SEQUENCE \(PostgresSchema.sequence(of: table))
                    INCREMENT BY \(CellNumber.limit)
                    RESTART WITH \(cell.steppedNumber(after: last[table] ?? 0))
                """)
        }
    }

    /// Which cell a database is.
    static func number(on connection: PostgresConnection) throws -> CellNumber {
        var number: Int64 = 0
        try connection.rows("SELECT cell FROM tidebell_schema") { number = $0.int(0) }
        return CellNumber(rawValue: Int(number))
    }

    /// Lists the cells of a cloud with what is in them.
    package static func list(at directory: PostgresAddress) throws -> [Listed] {
        let connection = try PostgresConnection(directory)
        defer { connection.close() }
        let cells = try cells(on: connection)
        guard !cells.isEmpty else { return [] }
        var moves: [CellNumber: [Move]] = [:]
        try connection.rows(
            """
            SELECT owner, cell_move.container, cell_move.environment, target, account.name, switched, held
            FROM cell_move LEFT JOIN "user" ON "user".id = owner
                LEFT JOIN account ON account.id = "user".account
            ORDER BY 1, 2, 3
            """
        ) { row in
            let container = "--container \(row.string(1)) --environment \(row.string(2))"
            let owner = row.int(0)
            // Without a user it would name the public database.
            let user = row.isNull(4) ? nil : "--user \(row.string(4)) \(container)"
            moves[CellNumber(rawValue: Int(row.int(3))), default: []].append(
                Move(
                    options: owner == 0 ? container : user, owner: owner,
                    isSwitched: row.bool(5),
                    isGivenUp: row.int(6) == MovePlan.Hold.givenUp.rawValue))
        }
        return try cells.map { cell in
            let address = try cell.address.map { try PostgresAddress($0) } ?? directory
            var listed = Listed(
                number: cell.number.rawValue, name: cell.name, place: address.description,
                takesNew: cell.takesNew)
            listed.movesTo = moves[cell.number] ?? []
            do {
                let connection = try PostgresConnection(address)
                defer { connection.close() }
                try connection.rows(
                    """
                    SELECT count(*), coalesce(sum(records), 0)::bigint, coalesce(sum(bytes), 0)::bigint
                    FROM database
                    """
                ) {
                    listed.databases = Int($0.int(0))
                    (listed.records, listed.bytes) = ($0.int(1), $0.int(2))
                }
            } catch {
                listed.problem = "\(error)"
            }
            return listed
        }
    }

    /// What a person has in containers, or in one of them; without a person the public database of the container.
    package static func subjects(
        of account: String?, in container: ContainerKey?, at directory: PostgresAddress
    ) throws -> [CellMove.Subject] {
        guard let account else {
            return container.map { [CellMove.Subject(owner: nil, container: $0)] } ?? []
        }
        let connection = try PostgresConnection(directory)
        defer { connection.close() }
        var subjects: [CellMove.Subject] = []
        try connection.rows(
            """
            SELECT "user".id, "user".container, "user".environment
            FROM account JOIN "user" ON "user".account = account.id
            WHERE account.name = $1 ORDER BY "user".id
            """, [.text(account)]
        ) { subjects.append(CellMove.Subject($0)) }
        return subjects.filter { container == nil || $0.container == container }
    }
}
