// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL

/// The transaction of one step, in the cell of its scope: what it reads elsewhere it reads in snapshots of other
/// cells.
///
/// A step of `store`, `catalogue`, `batch` or `everything` is one of the directory's. In other cells it has transactions, too, which
/// are committed before its own, one after the other: nothing in a batch needs another part of it, and what is of everything is
/// bounded and may come again.
final class CellTransaction: CellReading, StoreTransaction {
    private let readers: CellReaders
    private var held: [CellNumber: HeldTransaction] = [:]
    /// The cell of the scope, and its transaction.
    let home: CellNumber
    let own: SQLTransaction
    private let scope: StoreScope

    var cells: Cells { readers.cells }

    /// - Parameter home: The cell that the transaction is of.
    init(_ own: SQLTransaction, in home: CellNumber, of scope: StoreScope, _ cells: Cells) {
        self.own = own
        self.home = home
        self.scope = scope
        readers = CellReaders(cells, in: home, own)
    }

    func reader(in cell: CellNumber) throws -> any SQLReading {
        try held[cell]?.transaction ?? readers.reader(in: cell)
    }

    /// Ends what was read and written elsewhere.
    func end(committing: Bool) throws {
        readers.end(isWhole: committing)
        let all = held.sorted { $0.key < $1.key }.map(\.value)
        held = [:]
        var failure: (any Error)?
        for one in all {
            // Those behind one that failed are undone.
            do { try one.end(committing: committing && failure == nil) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// The transaction of a cell.
    private func transaction(in cell: CellNumber) throws -> SQLTransaction {
        if cell == home { return own }
        guard isWide else { throw own.missing("what cell \(cell.rawValue) has") }
        if let known = held[cell] { return known.transaction }
        // Has the locks of the step in the directory, by which it is the only one.
        if held.isEmpty { _ = try own.connection.first("SELECT 1") { $0.int(0) } }
        let begun = try HeldTransaction(in: cells.store(of: cell))
        held[cell] = begun
        return begun.transaction
    }

    /// Whether the step may write in other cells than its own: what is of the whole cloud, or of a container, whose
    /// webhooks have queues in all of them.
    var isWide: Bool {
        switch scope {
        case .batch, .everything, .store, .catalogue: true
        case .account, .database, .databaseWithID, .user, .users, .looking: false
        }
    }

    /// Writes in a cell.
    func write<Result>(
        in cell: CellNumber, _ body: (SQLTransaction) throws -> Result
    ) throws -> Result {
        try body(transaction(in: cell))
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
