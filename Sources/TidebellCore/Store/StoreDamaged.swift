// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// A call met a part of the store that cannot be read, and that the engine cannot mend:
/// nothing of it happened, and the same call will fail again.
package struct StoreDamaged: Error, Sendable, Hashable, CustomStringConvertible {
    /// The engine's message, for the operator.
    package var detail: String

    /// Creates an error.
    package init(detail: String) {
        self.detail = detail
    }

    package var description: String { "the store is damaged: \(detail)" }

    /// The answer to a caller, who sees nothing of the machine.
    package func answer(_ search: DamageSearch) -> WireError {
        WireError(
            .internalError,
            "the server's database is damaged where this request reads or writes; its operator "
                + "finds where \(search.whereabouts), and brings it back from a backup"
        )
    }
}

/// What an engine lost and made anew by itself.
package struct StoreMend: Sendable, Hashable {
    /// The tables that were damaged.
    package var tables: [String] = []
    /// Records whose fields are damaged now; most of them are known by name alone.
    package var damagedRecords = 0
    /// Subscriptions of which only the ID, and what fired them, is left: they fire no more.
    package var damagedSubscriptions = 0
    /// Records of which two names were found: they have the one that is more likely.
    package var renamedRecords = 0
    /// Rows that stood in ``tables`` and that no record of today has.
    package var droppedRows = 0
    /// Rows that records have and that were not found in ``tables``.
    package var addedRows = 0
    /// The names of zones of which records are missing, and nobody knows which.
    package var zonesWithLosses: [String] = []
    /// Zones that are not known any more and of which records were found, by their keys: these
    /// are kept, and a check names them.
    package var unknownZones: [String] = []

    /// Creates a mend of nothing.
    package init() {}
}
