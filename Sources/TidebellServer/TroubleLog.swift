// SPDX-License-Identifier: Apache-2.0
import Logging
import Metrics
import TidebellCore
import TidebellSQLite

/// What the operator reads of the store, and of each of its cells: one line when calls begin to fail, one when it is
/// over, one at the start about the SQLite in use. And a metric, `tidebell_store_failing`: 1 while calls fail, else 0.
struct TroubleLog: Sendable {
    let logger: Logger
    var metrics: any MetricsFactory = MetricsSystem.factory

    /// Logs what becomes of the calls of `store` from now on.
    func follow(_ store: any OpenedStore) {
        let cells = store.troublesOfCells
        if cells.isEmpty { follow(store.troubles) } else { follow(cells) }
    }

    /// Logs what becomes of the calls of cells, by their names.
    func follow(_ cells: [String: StoreTroubles]) {
        for (name, troubles) in cells { follow(troubles, ofCell: name) }
    }

    private func follow(_ troubles: StoreTroubles, ofCell cell: String? = nil) {
        let isFailing = Gauge(
            label: "tidebell.store.failing", dimensions: cell.map { [("cell", $0)] } ?? [],
            factory: metrics)
        isFailing.record(0)
        let place: Logger.Metadata = cell.map { ["cell": "\($0)"] } ?? [:]
        let name = cell == nil ? "the store" : "a cell of the store"
        troubles.observe { [logger] news in
            switch news {
            case .began(let trouble):
                isFailing.record(1)
                logger.error(
                    "\(name) does not work; clients are asked to try again",
                    metadata: place.merging([
                        "cause": "\(trouble.cause.rawValue)", "error": "\(trouble.detail)",
                    ]) { $1 }
                )
            case .ended:
                isFailing.record(0)
                logger.notice("\(name) works again", metadata: place)
            case .mended(let mend):
                logger.error(
                    "the database was damaged and is repaired; run 'tidebell check' to see what is lost",
                    metadata: [
                        "tables": "\(mend.tables.joined(separator: ", "))",
                        "damagedRecords": "\(mend.damagedRecords)",
                        "damagedSubscriptions": "\(mend.damagedSubscriptions)",
                        "renamedRecords": "\(mend.renamedRecords)",
                        "droppedRows": "\(mend.droppedRows)",
                        "addedRows": "\(mend.addedRows)",
                        "zonesWithLosses": "\(Self.named(mend.zonesWithLosses))",
                        "unknownZones": "\(Self.named(mend.unknownZones))",
                    ]
                )
            }
        }
    }

    /// The most zones that a line names.
    private static let namedZones = 10

    private static func named(_ zones: [String]) -> String {
        let more = zones.count - namedZones
        return zones.prefix(namedZones).joined(separator: ", ")
            + (more > 0 ? " and \(more) more" : "")
    }

    /// Names a SQLite whose defect would matter if two processes copied the log: unasked, since
    /// only the operator can keep other programs away, or get another SQLite.
    func nameDefects(of version: SQLiteVersion = .current) {
        guard version.hasWALResetDefect else { return }
        logger.notice(
            """
            this machine's SQLite has the WAL-reset defect, which can lose commits; the server \
            does not meet it, because none of its checkpoints begins beside a commit that could reset \
            the log: do not let other programs write to the database, and update SQLite to 3.51.3 \
            or newer
            """,
            metadata: ["sqlite": "\(version)", "see": "https://sqlite.org/wal.html#walresetbug"]
        )
    }
}
