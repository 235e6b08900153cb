// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient
import TidebellSQL
import TidebellWire

/// The users of a step are not in one cell.
private struct InSeveralCells: Error {}

/// The steps of one write, each a write of the cell of its scope.
struct CellSteps: StoreSteps {
    let caller: AccountID?
    let durability: Durability
    /// The cells, and what is where when a step begins.
    let cells: () throws -> Cells

    init(caller: AccountID?, durability: Durability, _ cells: @escaping () throws -> Cells) {
        self.caller = caller
        self.durability = durability
        self.cells = cells
    }

    var areTogether: Bool { false }

    func write<Result: Sendable>(
        _ scope: StoreScope, _ body: (any StoreTransaction) throws -> Result
    ) throws -> Result {
        let (result, uncopied) = try step(scope) { (try body($0), $0.uncopied) }
        for container in uncopied.schemas {
            for cell in try cells().numbers where cell != .directory {
                try step(.catalogue(container), locking: .catalogue(container)) {
                    try $0.copySchema(of: container, to: cell)
                }
            }
        }
        for user in uncopied.users {
            try step(.account(user.account)) { try $0.copyUser(user) }
        }
        return result
    }

    private func step<Result: Sendable>(
        _ scope: StoreScope, _ body: (CellTransaction) throws -> Result
    ) throws -> Result {
        do {
            return try step(scope, locking: Self.scopeElsewhere(of: scope), body)
        } catch is NeedsAllOfCell {
            return try step(scope, locking: .everything, body)
        }
    }

    /// What a step locks where it writes in other cells: what is of the whole cloud, or of a container, whose webhooks have
    /// queues in all of them, locks all there, what is of an account that; nil for a step that writes in its own cell only.
    private static func scopeElsewhere(of scope: StoreScope) -> StoreScope? {
        switch scope {
        case .batch, .everything, .store, .catalogue: .everything
        case .account, .uses: scope
        case .database, .databaseWithID, .user, .users, .looking: nil
        }
    }

    /// Runs a step in the cell of its scope.
    ///
    /// One that may write in other cells is alone in its transaction: nobody else fails it once those have committed. Where the
    /// cell's connection is lost then, it fails rather than being run again, which would find half of it done.
    private func step<Result: Sendable>(
        _ scope: StoreScope, locking scopeElsewhere: StoreScope?,
        _ body: (CellTransaction) throws -> Result
    ) throws -> Result {
        let cells = try cells()
        let number = try cell(of: scope, in: cells)
        let store = try cells.store(of: number)
        var isHalfDone = false
        do {
            return try BlockingStep.run(
                {
                    guard !isHalfDone else { throw Self.halfDone }
                    let transaction = CellTransaction(
                        PostgresStore.transaction($0), in: number, of: scope, cells,
                        locking: scopeElsewhere)
                    defer { isHalfDone = transaction.hasCommittedElsewhere }
                    return try Self.run(body, in: transaction, scope)
                },
                in: { [caller, durability] body in
                    try await store.writeInSteps(
                        for: caller, about: scope, alone: scopeElsewhere != nil,
                        durability: durability
                    ) { try $0.write(scope, body) }
                })
        } catch let error as PostgresError where error.code == DepartedFence.code {
            try cells.map.look()
            throw IsMoving()
        }
    }

    private static let halfDone = StoreUnavailable(
        .isUnreachable,
        detail: "the connection was lost after another cell had committed its part of a step")

    private static func run<Result>(
        _ body: (CellTransaction) throws -> Result, in transaction: CellTransaction,
        _ scope: StoreScope
    ) throws -> Result {
        let own = transaction.own
        do {
            try DepartedFence.check(scope, in: own)
            let result = try body(transaction)
            // What was looked for in several cells may have been in none, on its way.
            if scope == .batch || scope == .everything,
                try transaction.cells.map.hasChanged(since: transaction.cells.view)
            {
                throw IsMoving()
            }
            // It begins anew, and the others must not have committed by then.
            if (own.scopes as? ScopeLocks)?.wantsStore == true { throw NeedsStore() }
            try transaction.waitForItsOwn()
            try transaction.end(committing: true)
            return result
        } catch {
            try? transaction.end(committing: false)
            throw own.ownError(error)
        }
    }

    private func cell(of scope: StoreScope, in cells: Cells) throws -> CellNumber {
        switch scope {
        case .database(let key):
            guard !cells.view.held.contains(CellMove.Subject(of: key)) else { throw IsMoving() }
            return try cells.cellToMake(key)
        case .databaseWithID(let id):
            // The server takes what is pending out of the outbox first, and is kept out at last.
            guard caller == nil || !cells.view.heldDatabases.contains(id) else {
                throw IsMoving()
            }
            return cells.cell(of: id)
        case .user(let id):
            // The server goes on with what is to be told until the user is in another cell, where nobody else looks before
            // all know that.
            let (held, switched) = (cells.view.heldUsers, cells.view.switchedUsers)
            guard !switched.contains(id), caller == nil || !held.contains(id) else {
                throw IsMoving()
            }
            return cells.cell(of: id)
        case .users(let users):
            let places = Set(users.map(cells.cell(of:)))
            // One of them was moved since they were told apart.
            guard let place = places.first, places.count == 1 else { throw InSeveralCells() }
            guard cells.view.switchedUsers.isDisjoint(with: users) else { throw IsMoving() }
            return place
        case .everything:
            // What a person left is found by reading in all cells.
            guard cells.view.held.isEmpty else { throw IsMoving() }
            return .directory
        case .looking(let database):
            return database.map(cells.cell(of:)) ?? .directory
        case .catalogue, .account, .store, .uses, .batch:
            return .directory
        }
    }
}

/// Fails a step in a cell that what it is about has left: that of a process which did not know that yet.
private enum DepartedFence {
    /// That of a division by zero: the only way in which ordinary SQL fails a transaction without a round trip of
    /// its own.
    fileprivate static let code = "22012"

    fileprivate static func check(_ scope: StoreScope, in transaction: SQLTransaction) throws {
        switch scope {
        case .database(let key):
            try transaction.connection.run(
                """
                SELECT 1 / (1 - (SELECT count(*) FROM departed
                    WHERE owner = ? AND container = ? AND environment = ? AND database = 0))
                """, key.owner?.rawValue ?? StoredDatabase.noOwner, key.container.container,
                key.container.environment)
        case .databaseWithID(let id):
            try transaction.connection.run(
                "SELECT 1 / (1 - (SELECT count(*) FROM departed WHERE database = ?))", id)
        case .user(let id): try check([id], in: transaction)
        case .users(let ids): try check(ids, in: transaction)
        default: break
        }
    }

    /// Fails where one of the users has left the cell.
    private static func check(_ users: Set<UserID>, in transaction: SQLTransaction) throws {
        guard !users.isEmpty else { return }
        try transaction.connection.run(
            """
            SELECT 1 / (CASE WHEN EXISTS (
                SELECT 1 FROM json_each(?) AS wanted
                    CROSS JOIN departed ON departed.owner = wanted.value AND departed.database = 0
            ) THEN 0 ELSE 1 END)
            """, SQLList(users.map(\.rawValue).sorted()))
    }
}
