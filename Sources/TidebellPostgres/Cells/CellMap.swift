// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellPostgresClient
import TidebellSQL
import TidebellWire

/// Where what a cloud of several cells keeps is, as this process knows it.
///
/// A number says itself which cell gave it. A user is in the cell for which their number was drawn, with their private
/// and shared databases, log, devices; a public database is in the cell that the directory names for its container. What was
/// moved since is in the directory, and here in memory: some 100 bytes for each user, database, zone, index, subscription and
/// device that ever moved.
///
/// What a process knows counts for ``lifetime`` and no longer; who moves something waits that long between its steps
/// (``CellMove``), so that no two processes look for it in different places.
final class CellMap: Sendable {
    /// How long what was read of the directory counts.
    static let lifetime = Duration.seconds(1)

    /// A cell as the directory has it.
    struct Cell: Sendable, Hashable {
        var number: CellNumber
        var name: String
        /// Where its PostgreSQL is; nil for the directory's own.
        var address: String?
        /// Whether new accounts, users and containers come there.
        var takesNew: Bool
    }

    /// The kinds of numbers that move; the raw value is that in `cell_of_number`.
    enum Kind: Int64 {
        case database = 0
        case zone = 1
        case fieldIndex = 2
        case subscription = 3
        case device = 4
    }

    /// What the directory said at one moment.
    struct View: Sendable {
        /// How many changes moves had made there.
        var moves: Int64 = -1
        /// How often something had come to another cell.
        var switches: Int64 = 0
        /// Until when it counts.
        var end = Duration.zero
        var users: [UserID: CellNumber] = [:]
        var numbers: [Kind: [Int64: CellNumber]] = [:]
        /// What is on its way, and changes nowhere meanwhile.
        var held: Set<CellMove.Subject> = [] {
            didSet { heldUsers = Set(held.compactMap(\.owner)) }
        }
        private(set) var heldUsers: Set<UserID> = []
        /// Those of them who are in their new cell, which not everybody knows yet.
        var switchedUsers: Set<UserID> = []
        var heldDatabases: Set<DatabaseID> = []
        /// The cells to which new accounts, users and containers come, in the order of their numbers.
        var takingNew: [CellNumber] = []

        fileprivate func cell(_ kind: Kind, _ number: Int64) -> CellNumber {
            numbers[kind]?[number] ?? CellNumber(thatGave: number)
        }
    }

    private struct State {
        var view = View()
        var containers: [ContainerKey: CellNumber] = [:]
    }

    /// All cells, the directory's first.
    let cells: [Cell]
    private let directory: PostgresAddress
    private let elapsed: @Sendable () -> Duration
    private let state = Mutex(State())
    /// The connection on which the directory is looked at, by one thread at a time.
    private let looking = Mutex(Looking())
    /// How many accounts and users this process placed.
    private let placed = Atomic(0)

    private struct Looking: @unchecked Sendable { var connection: PostgresConnection? }

    /// Takes what the directory said.
    init(
        _ cells: [Cell], in directory: PostgresAddress, elapsed: @escaping @Sendable () -> Duration
    ) {
        self.cells = cells
        self.directory = directory
        self.elapsed = elapsed
    }

    // MARK: - What is known

    /// What counts now; looks at the directory where that was last done too long ago.
    func view() throws -> View {
        let known = state.withLock(\.view)
        if known.moves >= 0, elapsed() < known.end { return known }
        return try look()
    }

    /// Whether something came to another cell since a view counted, which it does no more.
    func hasSwitched(since view: View) throws -> Bool {
        guard elapsed() >= view.end else { return false }
        return try self.view().switches != view.switches
    }

    /// Whether a move has got anywhere since.
    func hasChanged(since view: View) throws -> Bool {
        guard elapsed() >= view.end else { return false }
        return try self.view().moves != view.moves
    }

    /// Looks at the directory.
    @discardableResult
    func look() throws -> View {
        try looking.withLock { looking in
            let end = elapsed() + Self.lifetime
            let known = state.withLock(\.view)
            do {
                let open = looking.connection.flatMap { $0.isAlive ? $0 : nil }
                let connection = try open ?? PostgresConnection(directory)
                looking.connection = connection
                var found = known
                try connection.rows("SELECT moves FROM tidebell_schema") { found.moves = $0.int(0) }
                if found.moves != known.moves { found = try Self.read(connection) }
                found.end = end
                state.withLock { state in
                    if found.moves != known.moves { state.containers = [:] }
                    state.view = found
                }
                return found
            } catch {
                looking.connection = nil
                throw error
            }
        }
    }

    /// Ends the connection.
    func close() {
        looking.withLock { looking in
            looking.connection?.close()
            looking.connection = nil
        }
    }

    private static func read(_ connection: PostgresConnection) throws -> View {
        var view = View()
        connection.enqueue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        defer { connection.rollback() }
        try connection.rows("SELECT moves, switches FROM tidebell_schema") {
            (view.moves, view.switches) = ($0.int(0), $0.int(1))
        }
        try connection.rows("SELECT \"user\", cell FROM cell_of_user") {
            view.users[UserID(rawValue: $0.int(0))] = CellNumber(rawValue: Int($0.int(1)))
        }
        try connection.rows("SELECT kind, number, cell FROM cell_of_number") { row in
            guard let kind = Kind(rawValue: row.int(0)) else { return }
            view.numbers[kind, default: [:]][row.int(1)] = CellNumber(rawValue: Int(row.int(2)))
        }
        try connection.rows(
            "SELECT owner, container, environment, switched FROM cell_move WHERE held = $1",
            [.int64(MovePlan.Hold.held.rawValue)]
        ) { row in
            let subject = CellMove.Subject(row)
            view.held.insert(subject)
            if let owner = subject.owner, row.bool(3) { view.switchedUsers.insert(owner) }
        }
        try connection.rows("SELECT number FROM cell WHERE takes_new = 1 ORDER BY number") { row in
            view.takingNew.append(CellNumber(rawValue: Int(row.int(0))))
        }
        try connection.rows("SELECT database FROM held_database") { row in
            view.heldDatabases.insert(DatabaseID(rawValue: row.int(0)))
        }
        return view
    }

    // MARK: - Public databases

    /// The cell of a container's public database; nil where this process does not know it yet.
    fileprivate func known(_ container: ContainerKey) -> CellNumber? {
        state.withLock { $0.containers[container] }
    }

    /// The same, by what the directory says; nil where no public database of the container was ever made.
    ///
    /// - Parameter view: What counted before the directory's snapshot was taken.
    fileprivate func cell(
        of container: ContainerKey, in directory: any SQLReading, after view: View
    ) throws -> CellNumber? {
        let found = try directory.connection.first(
            "SELECT cell FROM cell_of_container WHERE container = ? AND environment = ?",
            container.container, container.environment
        ) { CellNumber(rawValue: Int($0.int(0))) }
        if let found { note(found, of: container, after: view) }
        return found
    }

    /// The cell in which a container's public database is to be made.
    fileprivate func cellToMake(_ container: ContainerKey, after view: View) throws -> CellNumber {
        let connection = try PostgresConnection(directory)
        defer { connection.close() }
        let name: [PostgresValue] = [
            .text(container.container), .text(container.environment.rawValue),
        ]
        let drawn = cellForNew(drawing: Self.hash(container))
        // Whoever comes second gets what the first one chose.
        try connection.execute(
            """
            INSERT INTO cell_of_container (container, environment, cell)
            VALUES ($1, $2, $3) ON CONFLICT (container, environment) DO NOTHING
            """, name + [.int64(Int64(drawn.rawValue))])
        var found = drawn
        try connection.rows(
            "SELECT cell FROM cell_of_container WHERE container = $1 AND environment = $2", name
        ) { found = CellNumber(rawValue: Int($0.int(0))) }
        note(found, of: container, after: view)
        return found
    }

    /// Remembers a cell until something moves; not where something has, since it was asked for.
    private func note(_ cell: CellNumber, of container: ContainerKey, after view: View) {
        state.withLock { state in
            if state.view.moves == view.moves { state.containers[container] = cell }
        }
    }

    // MARK: - What is new

    /// The cell that a new account comes to: one after the other.
    func nextCell() -> CellNumber {
        cellForNew(drawing: placed.add(1, ordering: .relaxed).oldValue)
    }

    /// The cell that a new user comes to: their account's, or, where that takes no new ones, one after the other.
    func cellForNewUser(of account: AccountID) -> CellNumber {
        takingNew.contains(account.cell) ? account.cell : nextCell()
    }

    private func cellForNew(drawing number: Int) -> CellNumber {
        let taking = takingNew
        return taking.isEmpty ? .directory : taking[number % taking.count]
    }

    /// Those that take new ones, of the cells that this process knows.
    private var takingNew: [CellNumber] {
        let known = Set(cells.map(\.number))
        return state.withLock(\.view.takingNew).filter(known.contains)
    }

    /// A number of a container that is the same in every process.
    private static func hash(_ container: ContainerKey) -> Int {
        let key = ScopeLocks.key(container.container, container.environment.rawValue)
        return Int(UInt64(bitPattern: key) >> 1)
    }
}

/// What the cells of a store are, and what is where, for one body of a read or of a step.
struct Cells: Sendable {
    let map: CellMap
    /// What counted when the body began.
    let view: CellMap.View
    /// The directory's and all others, by number.
    let stores: [CellNumber: PostgresStore]

    func cell(of database: DatabaseID) -> CellNumber { view.cell(.database, database.rawValue) }
    func cell(of zone: ZoneKey) -> CellNumber { view.cell(.zone, zone.rawValue) }
    func cell(of index: FieldIndexID) -> CellNumber { view.cell(.fieldIndex, index.rawValue) }
    func cell(of serial: SubscriptionSerial) -> CellNumber {
        view.cell(.subscription, serial.rawValue)
    }

    func cell(of device: DeviceKey) -> CellNumber { view.cell(.device, device.rawValue) }

    /// The cell of a delivery that waits for a webhook or a push token.
    func cell(of delivery: DeliveryPointer) -> CellNumber {
        switch delivery {
        case .webhook(_, let user): cell(of: user)
        case .pushTarget(let target, _): cell(of: target.device)
        }
    }

    /// The cell that has a user's log and devices, and has, or is to have, their private and shared databases.
    func cell(of user: UserID) -> CellNumber {
        view.users[user] ?? CellNumber(thatGave: user.rawValue)
    }

    /// The cell of a database that may not be there yet; nil for a public one whose container has none.
    func cell(of database: DatabaseKey, in directory: any SQLReading) throws -> CellNumber? {
        if let owner = database.owner { return cell(of: owner) }
        return try map.known(database.container)
            ?? map.cell(of: database.container, in: directory, after: view)
    }

    /// The cell of a database that is to be made.
    func cellToMake(_ database: DatabaseKey) throws -> CellNumber {
        if let owner = database.owner { return cell(of: owner) }
        return try map.known(database.container) ?? map.cellToMake(database.container, after: view)
    }

    /// The store of a cell; fails where the directory had no such cell when this process started.
    func store(of cell: CellNumber) throws -> PostgresStore {
        guard let store = stores[cell] else {
            throw StoreUnavailable(
                .isUnreachable,
                detail:
                    "cell \(cell.rawValue) was added after this server started; restart the server")
        }
        return store
    }

    /// The numbers of all cells, the directory first.
    var numbers: [CellNumber] { stores.keys.sorted() }
}
