// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func scanRecords(
        of type: String, in zones: [ZoneKey], after place: RecordPlace?,
        _ body: (StoredRecord, ZoneKey) throws -> Bool
    ) throws {
        for zone in zones {
            var start = Position.start
            if let place, zone <= place.zone {
                guard zone == place.zone else { continue }
                start = place.position
            }
            var goesOn = true
            try connection.each(StoredRecord.ofType, zone, type, start) { columns in
                let record = try StoredRecord(columns)
                try note(record)
                goesOn = try body(record, zone)
                return goesOn
            }
            guard goesOn else { return }
        }
    }
}

extension StoredRecord {
    // Without statistics SQLite might walk the whole zone instead.
    fileprivate static let ofType = """
        SELECT \(columns) FROM record INDEXED BY record_type
        WHERE zone = ? AND type = ? AND deleted = 0 AND position > ? ORDER BY position
        """
}
