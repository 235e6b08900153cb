// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellSQL

extension StoreCheck {
    /// Records whose entries are looked up together.
    private static let recordsTogether = 500

    /// Whether indexes have what is in records, and nothing else.
    mutating func checkIndexes() throws {
        // An older version has none.
        guard try connection.hasTable("field_index") else { return }
        let indexes: [FieldIndexID] = try connection.rows(
            """
            SELECT field_index.id FROM field_index JOIN zone ON zone.key = field_index.zone
            WHERE field_index.state <> 2 AND zone.deletion IS NULL ORDER BY field_index.id
            """
        ) { try $0.value(0) }
        for id in indexes {
            guard let index = try SQLReader(connection, .short).fieldIndex(id) else { continue }
            try check(index)
        }
    }

    private mutating func check(_ index: StoredFieldIndex) throws {
        var (expected, missing) = (0, 0)
        var cursor: TidebellCore.RecordCursor?
        repeat {
            let page = try self.page(of: index, after: cursor)
            cursor = page.next
            expected += page.entries.count
            for entry in page.entries where try !isThere(entry, in: index.id) { missing += 1 }
        } while cursor != nil
        let there = try connection.first(
            "SELECT count(*) FROM field_index_entry WHERE field_index = ?", index.id
        ) { Int($0.int(0)) }
        let foreign = (there ?? 0) - (expected - missing)
        if missing > 0 {
            add(index, "lacks \(missing) of \(expected) entries, so that queries find too little")
        }
        // Others lead to nothing, and cost a look.
        if foreign > 0 { add(index, "has \(foreign) entries of no record", .warning) }
    }

    private mutating func add(
        _ index: StoredFieldIndex, _ what: String, _ severity: StoreProblem.Severity = .damage
    ) {
        let name = "the index '\(index.name)' of records of type '\(index.recordType)'"
        add(
            StoreProblem("\(name) \(what); remove it with tidebell query drop-indexes", severity),
            zone: index.zone.rawValue)
    }

    /// The entries of the next records that the index has taken up.
    private func page(
        of index: StoredFieldIndex, after cursor: TidebellCore.RecordCursor?
    ) throws -> (entries: [FieldIndexEntry], next: TidebellCore.RecordCursor?) {
        var entries: [FieldIndexEntry] = []
        var (count, last) = (0, cursor)
        var isComplete = true
        try SQLReader(connection, .short).scanRecords(
            of: index.recordType, in: [index.zone], after: cursor
        ) { record, zone in
            guard count < Self.recordsTogether else {
                isComplete = false
                return false
            }
            count += 1
            last = TidebellCore.RecordCursor(zone: zone, position: record.position)
            let isTakenUp =
                index.state == .ready || record.position <= index.builtThrough
                || record.position > index.madeAt
            // What was damaged since has the entries of before.
            guard isTakenUp, !record.isDamaged else { return true }
            entries += record.entries(in: [index]).flatMap(\.entries)
            return true
        }
        return (entries, isComplete ? nil : last)
    }

    private func isThere(_ entry: FieldIndexEntry, in index: FieldIndexID) throws -> Bool {
        try connection.first(
            "SELECT 1 FROM field_index_entry WHERE field_index = ? AND key = ? AND position = ?",
            index, entry.key, entry.position
        ) { _ in true } ?? false
    }
}
