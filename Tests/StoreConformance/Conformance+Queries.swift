// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let scans: [Check] = [
        Check("A scan finds the living records of its type, oldest change first") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary").key
                try transaction.putRecords(
                    [
                        .note("a", at: 2), .note("b", at: 3), .typed("Letter", "c", at: 4),
                        .tombstone("d", at: 5), .note("e", at: 6),
                    ], in: zone
                )
                #expect(try transaction.scan("Note", [zone]) == ["a", "b", "e"])
                #expect(try transaction.scan("Letter", [zone]) == ["c"])
                #expect(try transaction.scan("note", [zone]) == [])
                // A change moves a record to the end; a new type, to another scan.
                try transaction.putRecords(
                    [.note("a", at: 7), .typed("Letter", "b", at: 8)], in: zone)
                #expect(try transaction.scan("Note", [zone]) == ["e", "a"])
                #expect(try transaction.scan("Letter", [zone]) == ["c", "b"])
                try transaction.putRecords([.tombstone("e", at: 9)], in: zone)
                #expect(try transaction.scan("Note", [zone]) == ["a"])
            }
        },
        Check("A scan goes zone by zone in the order asked for, and on from a cursor") { store in
            try await store.write(.everything) { transaction throws in
                let first = try transaction.makeZone("first").key
                let second = try transaction.makeZone("second").key
                let third = try transaction.makeZone("third").key
                try transaction.putRecords([.note("a", at: 9), .note("b", at: 12)], in: first)
                try transaction.putRecords([.note("c", at: 8), .note("d", at: 10)], in: second)
                try transaction.putRecords([.note("e", at: 7)], in: third)
                let zones = [first, second, third]
                #expect(try transaction.scan("Note", zones) == ["a", "b", "c", "d", "e"])
                #expect(try transaction.scan("Note", [second, third]) == ["c", "d", "e"])
                #expect(try transaction.scan("Note", []) == [])
                func rest(_ zone: ZoneKey, _ position: Position) throws -> [String] {
                    try transaction.scan(
                        "Note", zones, after: RecordCursor(zone: zone, position: position))
                }
                #expect(try rest(first, .start) == ["a", "b", "c", "d", "e"])
                #expect(try rest(first, 9) == ["b", "c", "d", "e"])
                #expect(try rest(second, 8) == ["d", "e"])
                #expect(try rest(second, 10) == ["e"])
                #expect(try rest(third, 7) == [])
            }
        },
        Check("A scan ends when its body asks for it, and its records have all they had") { store in
            try await store.write(.everything) { transaction throws in
                let first = try transaction.makeZone("first").key
                let second = try transaction.makeZone("second").key
                try transaction.putRecords([.note("a", at: 3), .note("b", at: 4)], in: first)
                try transaction.putRecords([.note("c", at: 5)], in: second)
                var seen: [StoredRecord] = []
                var visited: [ZoneKey] = []
                try transaction.scanRecords(of: "Note", in: [first, second], after: nil) {
                    record, zone in
                    seen.append(record)
                    visited.append(zone)
                    return seen.count < 2
                }
                #expect(seen == [.note("a", at: 3), .note("b", at: 4)])
                #expect(visited == [first, first])
                #expect(throws: Refused()) {
                    try transaction.scanRecords(of: "Note", in: [first], after: nil) { _, _ in
                        throw Refused()
                    }
                }
                #expect(try transaction.scan("Note", [first]) == ["a", "b"])
            }
        },
    ]
}

extension StoredRecord {
    /// A note of another type.
    fileprivate static func typed(
        _ type: String, _ name: String, at position: Position
    ) -> StoredRecord {
        var record = note(name, at: position)
        record.type = type
        return record
    }
}

extension StoreReader {
    /// The names of the records that a scan finds.
    fileprivate func scan(
        _ type: String, _ zones: [ZoneKey], after cursor: RecordCursor? = nil
    ) throws -> [String] {
        var names: [String] = []
        try scanRecords(of: type, in: zones, after: cursor) { record, _ in
            names.append(record.name)
            return true
        }
        return names
    }
}
