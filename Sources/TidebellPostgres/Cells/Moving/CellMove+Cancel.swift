// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellPostgresClient

extension CellMove {
    /// Gives up a move that was interrupted: what was on its way stays where it was, and its writes go on. The other cell may
    /// be away: what was copied there is removed when this is run again.
    ///
    /// Fails with ``Refusal/notBegun`` where there is none, with ``Refusal/hasMoved(to:)`` where the directory says the new
    /// cell already, in which there may be later changes, and with ``Refusal/isMoving`` where it is not interrupted.
    ///
    /// - Returns: Why the copies were not removed; nil where they were.
    package static func cancel(
        _ subject: Subject, in address: PostgresAddress
    ) throws -> String? {
        let directory = try PostgresConnection(address)
        defer { directory.close() }
        try MovePlan.beAlone(on: directory)
        let cells = try CellDirectory.cells(on: directory)
        guard let begun = try MovePlan.begun(subject, directory) else { throw Refusal.notBegun }
        guard !begun.isSwitched else {
            let name = cells.first { $0.number == begun.target }?.name
            throw Refusal.hasMoved(to: name ?? "\(begun.target.rawValue)")
        }
        // Whoever goes on with it, though its connection to the directory is lost, has the lock of a cell.
        let old = try MovePlan.connect(to: begun.source, of: cells, in: address)
        defer { old.close() }
        if begun.source != .directory { try MovePlan.beAlone(on: old) }
        let reached = Result {
            try MovePlan.connect(to: begun.target, of: cells, in: address)
        }
        defer { (try? reached.get())?.close() }
        if let new = try? reached.get(), begun.target != .directory {
            try MovePlan.beAlone(on: new)
        }
        // Before: a fence that comes later finds it.
        try MovePlan.giveUp(
            subject, databases: MovedRows.databases(of: subject, on: old), in: directory)
        try old.execute("DELETE FROM departed WHERE \(Subject.isWanted)", subject.values)
        do {
            let new = try reached.get()
            try MovedRows(of: subject, from: new, to: old, in: begun.source).removeOld()
            try MovedRows(of: subject, from: old, to: new, in: begun.target).countAnswers()
        } catch {
            return "\(error)"
        }
        try directory.execute("DELETE FROM cell_move WHERE \(Subject.isWanted)", subject.values)
        return nil
    }
}
