// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let fieldIndexes: [Check] = [
        Check("A zone is indexed from its first index to its last, each of a type and a name") {
            store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                let other = try transaction.makeZone("other")
                #expect(try transaction.fieldIndexes(in: zone.key, of: nil) == [])
                let first = try transaction.makeFieldIndex("x", of: "Note", in: zone, at: .noon)
                #expect(
                    first
                        == StoredFieldIndex(
                            id: first.id, database: zone.database, zone: zone.key,
                            recordType: "Note", name: "x", state: .building, builtThrough: .start,
                            madeAt: zone.position, usedAt: .noon))
                let later = Instant.noon.advanced(by: .seconds(9))
                #expect(
                    try transaction.makeFieldIndex("x", of: "Note", in: zone, at: later) == first)
                let second = try transaction.makeFieldIndex("x", of: "Letter", in: zone, at: later)
                #expect(try transaction.fieldIndexes(in: zone.key, of: nil) == [first, second])
                #expect(try transaction.fieldIndexes(in: zone.key, of: "Letter") == [second])
                #expect(try transaction.fieldIndexes(in: other.key, of: nil) == [])
                #expect(try transaction.isIndexed("diary", in: zone.database))
                #expect(try !transaction.isIndexed("other", in: zone.database))
                #expect(try transaction.dropFieldIndex(first.id, limit: 10))
                #expect(try transaction.fieldIndex(first.id) == nil)
                #expect(try transaction.fieldIndexes(in: zone.key, of: nil) == [second])
                #expect(try transaction.isIndexed("diary", in: zone.database))
                #expect(try transaction.dropFieldIndex(second.id, limit: 10))
                #expect(try !transaction.isIndexed("diary", in: zone.database))
                #expect(try transaction.dropFieldIndex(second.id, limit: 10))
                let again = try transaction.makeFieldIndex("x", of: "Note", in: zone, at: .noon)
                #expect(again.id != first.id && again.id != second.id)
            }
        },
        Check("An index is unfinished until it is ready, and when it is dropped") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                let none = FieldIndexID(rawValue: 0)
                var index = try transaction.makeFieldIndex("x", of: "Note", in: zone, at: .noon)
                #expect(try transaction.unfinishedFieldIndexes(after: none, limit: 9) == [index])
                #expect(try transaction.unfinishedFieldIndexes(after: index.id, limit: 9) == [])
                #expect(try transaction.unfinishedFieldIndexes(after: none, limit: 0) == [])
                try transaction.noteFieldIndex(index.id, builtThrough: 7, isReady: false)
                index.builtThrough = 7
                #expect(try transaction.fieldIndex(index.id) == index)
                try transaction.noteFieldIndex(index.id, builtThrough: 8, isReady: true)
                (index.builtThrough, index.state) = (8, .ready)
                #expect(try transaction.fieldIndexes(in: zone.key, of: "Note") == [index])
                #expect(try transaction.unfinishedFieldIndexes(after: none, limit: 9) == [])
                try transaction.putFieldIndexEntries(
                    [.entry(1, 1), .entry(1, 2), .entry(2, 1)], of: index.id)
                #expect(try !transaction.dropFieldIndex(index.id, limit: 2))
                index.state = .dropped
                #expect(try transaction.unfinishedFieldIndexes(after: none, limit: 9) == [index])
                #expect(try transaction.fieldIndexes(in: zone.key, of: nil) == [])
                #expect(try transaction.dropFieldIndex(index.id, limit: 2))
                #expect(try transaction.unfinishedFieldIndexes(after: none, limit: 9) == [])
            }
        },
        Check("Indexes that were not used for long are found, used ones are not") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                let one = try transaction.makeFieldIndex("x", of: "Note", in: zone, at: .noon)
                let two = try transaction.makeFieldIndex("y", of: "Note", in: zone, at: .noon)
                let evening = Instant.noon.advanced(by: .seconds(20_000))
                #expect(try transaction.fieldIndexes(unusedSince: .noon, limit: 9) == [])
                #expect(
                    Set(try transaction.fieldIndexes(unusedSince: evening, limit: 9)) == [one, two])
                #expect(try transaction.fieldIndexes(unusedSince: evening, limit: 1).count == 1)
                let unknown = FieldIndexID(rawValue: 999)
                try transaction.noteUse(of: [one.id, unknown], at: evening)
                try transaction.noteUse(of: [one.id], at: .noon)
                try transaction.noteUse(of: [], at: evening)
                #expect(try transaction.fieldIndexes(unusedSince: evening, limit: 9) == [two])
                #expect(try transaction.fieldIndex(one.id)?.usedAt == evening)
                _ = try transaction.dropFieldIndex(two.id, limit: 0)
                #expect(try transaction.fieldIndexes(unusedSince: evening, limit: 9) == [])
            }
        },
        Check("Entries stand in the order of their keys, byte by byte, then of positions") {
            store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                let index = try transaction.makeFieldIndex("x", of: "Note", in: zone, at: .noon).id
                let other = try transaction.makeFieldIndex("y", of: "Note", in: zone, at: .noon).id
                let entries: [FieldIndexEntry] = [
                    .init(key: .init(rawValue: [0]), position: 9),
                    .init(key: .init(rawValue: [1]), position: 2),
                    .init(key: .init(rawValue: [1]), position: 10),
                    .init(key: .init(rawValue: [1, 0]), position: 1),
                    .init(key: .init(rawValue: [1, 0x80]), position: 1),
                    .init(key: .init(rawValue: [2]), position: 3),
                ]
                try transaction.putFieldIndexEntries(entries.reversed(), of: index)
                try transaction.putFieldIndexEntries([entries[2]], of: index)
                try transaction.putFieldIndexEntries([.entry(1, 77)], of: other)
                func found(
                    _ first: UInt8, _ end: UInt8, beyond entry: FieldIndexEntry? = nil,
                    reverse: Bool = false, limit: Int = 10
                ) throws -> [FieldIndexEntry] {
                    let range = FieldIndexRange(
                        from: .init(rawValue: [first]), to: .init(rawValue: [end]))
                    return try transaction.fieldIndexEntries(
                        of: index, in: range, beyond: entry, reverse: reverse, limit: limit)
                }
                #expect(try found(0, 9) == entries)
                #expect(try found(0, 9, reverse: true) == entries.reversed())
                #expect(try found(1, 2) == Array(entries[1...4]))
                #expect(try found(1, 2, reverse: true) == entries[1...4].reversed())
                #expect(try found(1, 2, limit: 2) == Array(entries[1...2]))
                #expect(try found(1, 2, reverse: true, limit: 2) == [entries[4], entries[3]])
                #expect(try found(2, 1) == [])
                for (number, entry) in entries.enumerated() {
                    #expect(try found(0, 9, beyond: entry) == Array(entries[(number + 1)...]))
                    #expect(
                        try found(0, 9, beyond: entry, reverse: true)
                            == entries[..<number].reversed())
                }
                // What is beyond the range does not widen it.
                #expect(try found(1, 2, beyond: entries[0]) == Array(entries[1...4]))
                #expect(
                    try found(1, 2, beyond: entries[5], reverse: true)
                        == entries[1...4].reversed())
                let range = FieldIndexRange(
                    from: .init(rawValue: [1]), to: .init(rawValue: [2]))
                for limit in [0, 1, 3, 4, 100] {
                    #expect(
                        try transaction.fieldIndexEntryCount(of: index, in: range, limit: limit)
                            == min(limit, 4))
                }
                try transaction.removeFieldIndexEntries([entries[3], .entry(9, 9)], of: index)
                #expect(try found(1, 2) == [entries[1], entries[2], entries[4]])
            }
        },
        Check("Records are read by their positions, in the order asked for, living ones only") {
            store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary").key
                let other = try transaction.makeZone("other").key
                try transaction.putRecords(
                    [.note("a", at: 3), .note("b", at: 4), .tombstone("c", at: 5)], in: zone)
                try transaction.putRecords([.note("d", at: 6)], in: other)
                try transaction.putRecords([.note("b", at: 7)], in: zone)
                func read(_ positions: [Position], stopAfter count: Int = 9) throws -> [String] {
                    var found: [String] = []
                    try transaction.records(at: positions, in: zone) { number, record in
                        #expect(record.position == positions[number])
                        found.append("\(number) \(record.name)")
                        return found.count < count
                    }
                    return found
                }
                #expect(try read([]) == [])
                #expect(try read([7, 3, 4, 5, 6, 99, 7]) == ["0 b", "1 a", "6 b"])
                #expect(try read([3, 7], stopAfter: 1) == ["0 a"])
                #expect(throws: Refused()) {
                    try transaction.records(at: [3], in: zone) { _, _ in throw Refused() }
                }
                #expect(try read([3]) == ["0 a"])
            }
        },
        Check("Indexes go with their zone, however many entries they have") { store in
            let index = try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                let index = try transaction.makeFieldIndex("x", of: "Note", in: zone, at: .noon).id
                let entries = (1...3000).map { FieldIndexEntry.entry(UInt8($0 % 250), Int64($0)) }
                try transaction.putFieldIndexEntries(entries, of: index)
                try transaction.delete(zone)
                return index
            }
            try await store.write(.everything) { transaction throws in
                while try transaction.removeDeletedZones(limit: 1000, at: .noon) > 0 {}
                #expect(try transaction.fieldIndex(index) == nil)
                let all = FieldIndexRange(
                    from: .init(rawValue: [0]), to: .init(rawValue: [255]))
                #expect(
                    try transaction.fieldIndexEntryCount(of: index, in: all, limit: 10) == 0)
                let again = try transaction.makeZone("diary")
                #expect(try !transaction.isIndexed("diary", in: again.database))
            }
        },
    ]
}

extension FieldIndexEntry {
    /// An entry with a key of one byte.
    fileprivate static func entry(_ key: UInt8, _ position: Int64) -> FieldIndexEntry {
        FieldIndexEntry(
            key: FieldIndexKey(rawValue: [key]), position: Position(rawValue: position))
    }
}

extension StoreReader {
    fileprivate func isIndexed(_ zone: String, in database: DatabaseID) throws -> Bool {
        try zones([zone], in: database).first?.isIndexed ?? false
    }
}
