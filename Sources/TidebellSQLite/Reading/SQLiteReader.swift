// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// All that can be read on a connection; the calls are in the facets beside
/// this file, one for each part of ``StoreReader``.
protocol SQLiteReading: StoreReader {
    /// The connection of the transaction or snapshot.
    var connection: Connection { get }
}

/// Reads on a snapshot.
struct SQLiteReader: SQLiteReading {
    let connection: Connection

    /// Wraps a connection inside a read transaction.
    init(_ connection: Connection) {
        self.connection = connection
    }
}
