// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

/// The transaction of one step, in the cell of its scope: what it reads elsewhere it reads in snapshots of other
/// cells.
///
/// A step of `store`, `catalogue`, `account`, `uses`, `batch` or `everything` is one of the directory's. In other cells it has transactions, too, which
/// are committed before its own, one after the other: nothing in a batch needs another part of it, and what is of everything is
/// bounded and may come again.
final class CellTransaction: CellReading, StoreTransaction {
    private let readers: CellReaders
    private var held: [CellNumber: HeldTransaction] = [:]
    /// The cell of the scope, and its transaction.
    let home: CellNumber
    let own: SQLTransaction
    let scope: StoreScope
    /// What it locks in the other cells in which it writes; nil where it writes in none.
    private let scopeElsewhere: StoreScope?
    /// Whether another cell has committed a part of it.
    private(set) var hasCommittedElsewhere = false
    /// Whether its locks in its own cell were waited for.
    private var hasItsLocks = false
    /// What is to be copied to other cells when the directory has committed it.
    var uncopied = UncopiedRows()

    var cells: Cells { readers.cells }
    var cellOfCopies: CellNumber { home }

    /// - Parameters:
    ///   - home: The cell that the transaction is of.
    ///   - scopeElsewhere: What it locks in the other cells in which it writes; nil where it writes in none.
    init(
        _ own: SQLTransaction, in home: CellNumber, of scope: StoreScope, _ cells: Cells,
        locking scopeElsewhere: StoreScope?
    ) {
        self.own = own
        self.home = home
        self.scope = scope
        self.scopeElsewhere = scopeElsewhere
        readers = CellReaders(cells, in: home, own)
    }

    /// The reader of a cell. What a step of an account reads elsewhere it reads when it has the account's lock: its sessions
    /// are there.
    func reader(in cell: CellNumber) throws -> any SQLReading {
        if let known = held[cell] { return known.transaction }
        if cell != home, isOfAccount { try waitForLocks() }
        return try readers.reader(in: cell)
    }

    /// Waits for the locks of the step in its own cell.
    private func waitForLocks() throws {
        guard !hasItsLocks else { return }
        try waitForWhatWasSent()
        hasItsLocks = true
    }

    private func waitForWhatWasSent() throws {
        _ = try own.connection.first("SELECT 1") { $0.int(0) }
    }

    /// Waits for what was written in its own cell, where another one is to commit before it: what fails there fails now.
    func waitForItsOwn() throws {
        if !held.isEmpty { try waitForWhatWasSent() }
    }

    /// Ends what was read and written elsewhere.
    func end(committing: Bool) throws {
        readers.end(isWhole: committing)
        let all = held.sorted { $0.key < $1.key }.map(\.value)
        held = [:]
        var failure: (any Error)?
        for one in all {
            // Those behind one that failed are undone.
            do { try end(one, committing: committing && failure == nil) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Commits what was written in another cell, and of which nothing depends.
    func commit(in cell: CellNumber) throws {
        if let one = held.removeValue(forKey: cell) { try end(one, committing: true) }
    }

    private func end(_ one: HeldTransaction, committing: Bool) throws {
        try one.end(committing: committing)
        if committing { hasCommittedElsewhere = true }
    }

    /// The transaction of a cell.
    private func transaction(in cell: CellNumber) throws -> SQLTransaction {
        if cell == home { return own }
        guard let scope = scopeElsewhere else {
            throw own.missing("what cell \(cell.rawValue) has")
        }
        if let known = held[cell] { return known.transaction }
        // Before any in other cells.
        try waitForLocks()
        let begun = try HeldTransaction(in: cells.store(of: cell), of: scope)
        held[cell] = begun
        return begun.transaction
    }

    /// Whether the step may write in other cells than its own.
    var isWide: Bool { scopeElsewhere != nil }

    /// Whether the step is one of an account.
    var isOfAccount: Bool {
        if case .account = scope { true } else { false }
    }

    /// Writes in a cell.
    func write<Result>(
        in cell: CellNumber, _ body: (SQLTransaction) throws -> Result
    ) throws -> Result {
        let transaction = try transaction(in: cell)
        let result = try body(transaction)
        // It waits for whatever is being written there by those whose access it ends.
        if cell != home, scopeElsewhere != .everything, transaction.hasEndedAccess {
            throw NeedsAllOfCell()
        }
        return result
    }

    /// Writes in every cell.
    func writeEverywhere<Result>(
        _ body: (SQLTransaction) throws -> Result
    ) throws -> [Result] {
        try cells.numbers.map { try write(in: $0, body) }
    }

    /// Removes something in one cell after the other, at most so much.
    func removeEverywhere(
        limit: Int, _ remove: (SQLTransaction, _ left: Int) throws -> Int
    ) throws -> Int {
        var count = 0
        for cell in cells.numbers where count < limit {
            count += try remove(transaction(in: cell), limit - count)
        }
        return count
    }
}

/// What a step changed in the directory and other cells have copies of: they never have what the directory has not, so these
/// are made by steps of their own.
struct UncopiedRows: Sendable {
    var schemas: Set<ContainerKey> = []
    /// Users whom the cells of their accounts do not know of.
    var users: [StoredUser] = []
}

/// A step has to lock all of another cell in which it writes, and begins anew.
struct NeedsAllOfCell: Error {}
