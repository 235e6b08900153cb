// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

/// Finds the reader of each cell, for one body of a read or of a step: that of the connection on which the body runs, or
/// a snapshot of another cell, which is taken when something there is read first.
///
/// Snapshots of several cells are not of one moment. Each sees every write that returned before the body was called.
final class CellReaders {
    let cells: Cells
    private let own: CellNumber
    private let ownReader: any SQLReading
    private var snapshots: [CellNumber: CellSnapshot] = [:]
    /// The cell of the first snapshot.
    private(set) var firstElsewhere: CellNumber?

    /// - Parameters:
    ///   - own: The cell on whose connection the body runs.
    ///   - reader: Its reader.
    init(_ cells: Cells, in own: CellNumber, _ reader: any SQLReading) {
        self.cells = cells
        self.own = own
        ownReader = reader
    }

    /// The reader of a cell.
    func reader(in cell: CellNumber) throws -> any SQLReading {
        if cell == own { return ownReader }
        if let known = snapshots[cell] { return known.reader }
        let taken = try cells.store(of: cell).snapshots.begin(within: ownReader as? SQLReader)
        snapshots[cell] = taken
        firstElsewhere = firstElsewhere ?? cell
        return taken.reader
    }

    /// Ends all snapshots.
    func end(isWhole: Bool) {
        for (cell, snapshot) in snapshots {
            cells.stores[cell]?.snapshots.end(snapshot, isWhole: isWhole)
        }
        snapshots = [:]
    }
}

extension SQLReading {
    /// What an error means to the cell on whose connection work ran: what the connection of another cell met is no trouble of
    /// this one's, and no conflict, which would run all writes beside it again.
    func ownError(_ error: any Error) -> any Error {
        let hasFailed = (connection as? StoreConnection)?.hasFailed ?? true
        return hasFailed ? error : StoreUnavailable.meant(by: error)
    }
}

/// Reads in several cells: each call where what it asks for is. The calls are in the files beside this one, by where
/// they go.
protocol CellReading: StoreReader {
    /// The reader of a cell.
    func reader(in cell: CellNumber) throws -> any SQLReading
    /// What is where.
    var cells: Cells { get }
    /// Whether it reads nothing, and announces what is read: what is not found says nothing then.
    var isAhead: Bool { get }
    /// The cell that is read and written first: the directory's, or that of a step.
    var home: CellNumber { get }
    /// The cell whose copies are read (``CatalogueCopies``): one that is asked for something else anyway.
    var cellOfCopies: CellNumber { get }
}

extension CellReading {
    var isAhead: Bool { false }

    /// The cell that has all that is not spread.
    var directory: any SQLReading { get throws { try reader(in: .directory) } }
    /// The cell that has what the directory says of containers.
    var catalogue: any SQLReading { get throws { try reader(in: cellOfCopies) } }

    func reader(of database: DatabaseID) throws -> any SQLReading {
        try reader(in: cells.cell(of: database))
    }
    func reader(of zone: ZoneKey) throws -> any SQLReading {
        try reader(in: cells.cell(of: zone))
    }
    func reader(of index: FieldIndexID) throws -> any SQLReading {
        try reader(in: cells.cell(of: index))
    }
    /// A container without a cell has no public database: none is found in the directory either.
    func reader(of database: DatabaseKey) throws -> any SQLReading {
        try reader(in: cells.cell(of: database, in: directory) ?? .directory)
    }

    /// Each cell with its reader.
    func readers() throws -> [(cell: CellNumber, reader: any SQLReading)] {
        try cells.numbers.map { ($0, try reader(in: $0)) }
    }
}

/// Reads on snapshots.
struct CellReader: CellReading {
    private let readers: CellReaders
    var cells: Cells { readers.cells }
    var home: CellNumber { .directory }
    var cellOfCopies: CellNumber { readers.firstElsewhere ?? .directory }

    init(_ readers: CellReaders) { self.readers = readers }

    func reader(in cell: CellNumber) throws -> any SQLReading { try readers.reader(in: cell) }
}

/// Announces to each cell what is probably read there next (``ReadingAhead``).
private struct AheadCellReader: CellReading {
    /// There is none where its engine sends nothing ahead.
    private struct CannotAsk: Error {}

    let cells: Cells
    let home: CellNumber
    let copies: () -> CellNumber
    let base: (CellNumber) throws -> any SQLReading

    var cellOfCopies: CellNumber { copies() }
    var isAhead: Bool { true }

    func reader(in cell: CellNumber) throws -> any SQLReading {
        guard let ahead = try base(cell).connection.ahead else { throw CannotAsk() }
        return AheadReader(ahead)
    }
}

extension CellReading {
    func readAhead(_ reads: (any StoreReader) throws -> Void) {
        // Where it cannot guess what comes next, that is read when it is asked for.
        try? reads(
            AheadCellReader(
                cells: cells, home: home, copies: { cellOfCopies }, base: reader(in:)))
    }
}
