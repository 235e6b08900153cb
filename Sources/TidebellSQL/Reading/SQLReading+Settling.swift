// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLReading {
    package func unsettledZones(from first: ZoneKey, limit: Int) throws -> [UnsettledZone] {
        try connection.rows(UnsettledZone.inOrder, first, limit, read: UnsettledZone.init)
    }

    package func newestUnsettledRecord(in zone: ZoneKey) throws -> UnsettledRecord? {
        try connection.first(
            """
            SELECT name, last FROM unsettled_record INDEXED BY unsettled_record_turn
            WHERE zone = ? ORDER BY turn DESC LIMIT 1
            """,
            zone
        ) { UnsettledRecord(name: $0.text(0), last: $0.text(1)) }
    }
}

extension UnsettledZone {
    fileprivate static let inOrder = """
        SELECT \(StoredDatabase.columns), \(StoredZone.columns)
        FROM zone INDEXED BY zone_unsettled
            CROSS JOIN database ON database.id = zone.database
        WHERE zone.unsettled = 1 AND zone.deletion IS NULL AND zone.key >= ?
        ORDER BY zone.key LIMIT ?
        """

    fileprivate init(_ columns: Columns) throws {
        self.init(
            database: try StoredDatabase(columns, from: 0),
            zone: try StoredZone(columns, from: StoredDatabase.columnCount)
        )
    }
}
