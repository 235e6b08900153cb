// SPDX-License-Identifier: Apache-2.0
import Logging
import TidebellCore
import TidebellSQLite

/// What the operator reads of the store: one line when calls begin to fail, one when it is
/// over, one at the start about the SQLite in use.
struct TroubleLog: Sendable {
    let logger: Logger

    /// Logs what becomes of the calls of `store` from now on.
    func follow(_ store: any OpenedStore) {
        store.troubles.observe { [logger] news in
            switch news {
            case .began(let trouble):
                logger.error(
                    "the store does not work; clients are asked to try again",
                    metadata: ["cause": "\(trouble.cause.rawValue)", "error": "\(trouble.detail)"]
                )
            case .ended: logger.notice("the store works again")
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
            does not meet it, because only one connection of its own ever checkpoints: do not let \
            other programs write to the database, and update SQLite to 3.51.3 or newer
            """,
            metadata: ["sqlite": "\(version)", "see": "https://sqlite.org/wal.html#walresetbug"]
        )
    }
}
