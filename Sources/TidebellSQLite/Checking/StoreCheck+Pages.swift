// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellSQL
import TidebellWire

/// What stands on pages that cannot be read, and the records around it.
extension StoreCheck {
    /// Whether all pages of the file are as SQLite writes them.
    mutating func checkPages() throws {
        do {
            try add(pagesOf: "integrity_check(\(Self.mostProblems))")
        } catch DatabaseError.SQLITE_CORRUPT {
            // It ends at the first page of some kinds: then every table for itself.
            try addDamagedTables()
        }
    }

    private mutating func addDamagedTables() throws {
        let tables = try connection.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid"
        ) { $0.text(0) }
        for table in tables where try !TableMending.isSound(table, on: connection) {
            findings.add(
                StoreProblem("the file is damaged: not all of the table '\(table)' can be read")
            )
        }
    }

    private mutating func add(pagesOf pragma: String) throws {
        let lines = try connection.rows("PRAGMA \(pragma)") { $0.text(0) }
            .flatMap { $0.split(separator: "\n") }
        let unused = lines.filter { $0.hasPrefix("Page ") && $0.hasSuffix(" is never used") }
        for line in lines where line != "ok" && !line.hasPrefix("***") && !unused.contains(line) {
            findings.add(StoreProblem("the file is damaged: \(line)"))
        }
        // SQLite looks at no more then; pages that are not used come before the tables.
        if lines.count >= Self.mostProblems { try addDamagedTables() }
        guard !unused.isEmpty else { return }
        findings.add(
            StoreProblem(
                "pages of the file are not used, as after damage was mended; a backup leaves them "
                    + "out", .warning
            )
        )
    }

    /// Whether every record can be read, and has fields that are what was written, and JSON.
    mutating func checkRecords() throws {
        let isSound = try TableMending.isSound("record", on: connection)
        var seen: Set<RecordSalvage.Key> = []
        let salvage = RecordSalvage(connection)
        try salvage.records { record, zone in
            let key = RecordSalvage.Key(zone: zone.rawValue, position: record.position.rawValue)
            guard isSound || seen.insert(key).inserted else { return true }
            if !record.isDeleted { findings.records += 1 }
            guard record.isDamaged || !Self.isObject(record.fields.json) else { return true }
            var problem = StoreProblem("the fields are damaged")
            problem.record = record.name
            add(problem, zone: zone.rawValue)
            return true
        }
        guard !isSound else { return }
        let namesAreComplete = try salvage.entries { entry in
            guard seen.insert(entry.key).inserted else { return }
            var problem = StoreProblem("the record, or the trace of its deletion, cannot be read")
            problem.record = entry.name
            add(problem, zone: entry.key.zone)
        }
        guard !namesAreComplete else { return }
        findings.add(
            StoreProblem("the names of records that are missing cannot all be read"))
    }

    /// Whether the text is one JSON object; what is in it is Core's to check.
    private static func isObject(_ json: [UInt8]) -> Bool {
        do {
            try JSONReader.read(json) { reader -> Void in
                try reader.expect(.object)
                try reader.skipValue()
            }
            return true
        } catch {
            return false
        }
    }
}
