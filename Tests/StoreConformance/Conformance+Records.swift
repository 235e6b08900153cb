// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let records: [Check] = [
        Check("A record comes back with everything it had") { store in
            let record = StoredRecord(
                name: "a\"b\\c", type: "Note", position: 9,
                created: RecordStamp(timestamp: -1, userRecordName: "_a", deviceID: ""),
                modified: RecordStamp(timestamp: .max, userRecordName: "_b", deviceID: "pad"),
                parent: "p", fields: RecordFields(json: Array(#"{"x":{"value":"\u0000é"}}"#.utf8))
            )
            let zone = try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                try transaction.putRecords([record], in: zone.key)
                return zone
            }
            try await store.read { reader throws in
                #expect(try reader.records([record.name], in: zone.key) == [record.name: record])
                let both = try reader.records([record.name, "x"], in: zone.key)
                #expect(both == [record.name: record])
                #expect(try reader.history(of: zone.key) == [record])
            }
        },
        Check("Only living records of the zone are found by name") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                let other = try transaction.makeZone("other")
                try transaction.putRecords(
                    [.note("a", at: 3), .tombstone("b", at: 4)], in: zone.key)
                try transaction.putRecords([.note("c", at: 5)], in: other.key)
                let wanted: Set = ["a", "b", "c", "d"]
                #expect(try transaction.records(wanted, in: zone.key) == ["a": .note("a", at: 3)])
                #expect(try transaction.records(["b"], in: zone.key).isEmpty)
                #expect(try transaction.records([], in: zone.key).isEmpty)
            }
        },
        Check("Records that are larger than wanted are not returned, be it one or several") {
            store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                try transaction.putRecords(
                    [.note("a", at: 3), .note("b", at: 4)], in: zone.key)
                let size = StoredRecord.note("a", at: 3).fields.json.count
                let wanted: [(names: Set<String>, byteLimit: Int, count: Int?)] = [
                    (["a"], size, 1), (["a"], size - 1, nil), (["a", "b"], 2 * size, 2),
                    (["a", "b"], 2 * size - 1, nil), (["c", "d"], 0, 0),
                ]
                for (names, byteLimit, count) in wanted {
                    let found = try transaction.records(names, in: zone.key, byteLimit: byteLimit)
                    #expect(found?.count == count)
                }
            }
        },
        Check("Records without their fields are the living ones, the fields left out") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                let other = try transaction.makeZone("other")
                try transaction.putRecords(
                    [.note("a", at: 3), .note("b", at: 4), .tombstone("c", at: 5)], in: zone.key)
                try transaction.putRecords([.note("d", at: 6)], in: other.key)
                var (a, b) = (StoredRecord.note("a", at: 3), StoredRecord.note("b", at: 4))
                (a.fields, b.fields) = (.none, .none)
                for (names, records) in [
                    (Set(["a", "b", "c", "d", "e"]), ["a": a, "b": b]), (["a"], ["a": a]),
                    ([], [:]),
                ] {
                    #expect(
                        try transaction.recordsWithoutFields(names, in: zone.key) == records)
                }
            }
        },
        Check("A thousand records are put and found in one call each") { store in
            let records = (0..<1000).map { StoredRecord.note("n\($0)", at: Position(rawValue: $0)) }
            let found = try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                try transaction.putRecords(records, in: zone.key)
                return try transaction.records(Set(records.map(\.name)), in: zone.key)
            }
            #expect(found.count == 1000)
            #expect(records.allSatisfy { found[$0.name] == $0 })
        },
        Check("TOK-15: a record that changes again is listed once, at its latest position") {
            store in
            let history = try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                try transaction.putRecords([.note("a", at: 2), .note("b", at: 3)], in: zone.key)
                try transaction.putRecords([.note("a", at: 4, text: "new")], in: zone.key)
                return try transaction.history(of: zone.key)
            }
            #expect(history == [.note("b", at: 3), .note("a", at: 4, text: "new")])
        },
        Check("TOK-16: a record deleted stands as tombstone, recreated as changed only") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                try transaction.putRecords([.note("a", at: 2)], in: zone.key)
                try transaction.putRecords([.tombstone("a", at: 3)], in: zone.key)
                #expect(try transaction.history(of: zone.key) == [.tombstone("a", at: 3)])
                try transaction.putRecords([.note("a", at: 4)], in: zone.key)
                #expect(try transaction.history(of: zone.key) == [.note("a", at: 4)])
            }
        },
        Check("Fields of a megabyte come back byte for byte") { store in
            let record = StoredRecord.note(
                "big", at: 2, text: String(repeating: "tide ", count: 200_000)
            )
            let found = try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                try transaction.putRecords([record], in: zone.key)
                return try transaction.history(of: zone.key)
            }
            #expect(found == [record])
        },
    ]

    static let recordChanges: [Check] = [
        Check("TOK-17: history is paged forward, tombstones included") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.sampleHistory().key
                func page(_ after: Position, _ limit: Int) throws -> Page {
                    try transaction.page(of: zone, after: after, limit: limit)
                }
                #expect(try page(.start, 2) == Page("a2 -b3", isComplete: false))
                #expect(try page(3, 2) == Page("c4 -d5", isComplete: false))
                #expect(try page(5, 2) == Page("e6", isComplete: true))
                #expect(try page(6, 2) == Page("", isComplete: true))
                #expect(try page(.start, 5) == Page("a2 -b3 c4 -d5 e6", isComplete: true))
                #expect(try page(.start, 0) == Page("", isComplete: false))
            }
        },
        Check("Reverse history is paged newest first, before the position") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.sampleHistory().key
                func page(_ before: Position, _ limit: Int) throws -> Page {
                    try transaction.page(of: zone, after: before, limit: limit, reverse: true)
                }
                #expect(try page(7, 2) == Page("e6 -d5", isComplete: false))
                #expect(try page(5, 2) == Page("c4 -b3", isComplete: false))
                #expect(try page(3, 2) == Page("a2", isComplete: true))
                #expect(try page(2, 2) == Page("", isComplete: true))
                #expect(try page(7, 5) == Page("e6 -d5 c4 -b3 a2", isComplete: true))
            }
        },
        Check("A page ends after the record that brings its bytes to the limit") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary").key
                let records = (2...5).map {
                    StoredRecord.note("n", at: Position(rawValue: $0), text: "twelve bytes")
                }
                let size = records[0].fields.json.count
                for (index, var record) in records.enumerated() {
                    record.name = "abcd".map(String.init)[index]
                    try transaction.putRecords([record], in: zone)
                }
                func page(_ bytes: Int) throws -> Page {
                    try transaction.page(of: zone, after: .start, limit: 9, bytes: bytes)
                }
                #expect(try page(1) == Page("a2", isComplete: false))
                #expect(try page(size) == Page("a2", isComplete: false))
                #expect(try page(size + 1) == Page("a2 b3", isComplete: false))
                #expect(try page(4 * size) == Page("a2 b3 c4 d5", isComplete: true))
            }
        },
        Check("History of one zone never shows another's") { store in
            try await store.write(.everything) { transaction throws in
                let first = try transaction.makeZone("first").key
                let second = try transaction.makeZone("second").key
                try transaction.putRecords([.note("a", at: 3)], in: first)
                try transaction.putRecords([.note("b", at: 4)], in: second)
                #expect(
                    try transaction.page(of: first, after: .start, limit: 9)
                        == Page("a3", isComplete: true)
                )
                #expect(
                    try transaction.page(of: second, after: 9, limit: 9, reverse: true)
                        == Page("b4", isComplete: true)
                )
            }
        },
    ]

    static let references: [Check] = [
        Check("REF-2: references are found by their targets") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary").key
                let other = try transaction.makeZone("other").key
                let references = [
                    StoredReference(source: "a", target: "x", kind: .deleteSelf),
                    StoredReference(source: "b", target: "x", kind: .parent),
                    StoredReference(source: "b", target: "x", kind: .deleteSelf),
                    StoredReference(source: "b", target: "y", kind: .deleteSelf),
                ]
                try transaction.putReferences(references, from: ["a", "b"], in: zone)
                let found = try transaction.references(to: ["x", "z"], in: zone)
                #expect(Set(found) == Set(references.prefix(3)))
                #expect(found.count == 3)
                #expect(try transaction.references(to: ["y"], in: zone) == [references[3]])
                #expect(try transaction.references(to: [], in: zone).isEmpty)
                #expect(try transaction.references(to: ["x"], in: other).isEmpty)
                #expect(
                    try transaction.deleteSelfCounts(to: ["x", "y", "z"], in: zone)
                        == ["x": 2, "y": 1]
                )
                #expect(try transaction.deleteSelfCounts(to: [], in: zone).isEmpty)
                #expect(try transaction.deleteSelfCounts(to: ["x"], in: other).isEmpty)
            }
        },
        Check("Putting references replaces all that went out from their sources") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary").key
                let old = [
                    StoredReference(source: "a", target: "x", kind: .parent),
                    StoredReference(source: "b", target: "x", kind: .parent),
                    StoredReference(source: "c", target: "x", kind: .parent),
                ]
                try transaction.putReferences(old, from: ["a", "b", "c"], in: zone)
                let new = StoredReference(source: "a", target: "y", kind: .parent)
                try transaction.putReferences([new], from: ["a", "b"], in: zone)
                #expect(try transaction.references(to: ["x"], in: zone) == [old[2]])
                #expect(try transaction.references(to: ["y"], in: zone) == [new])
            }
        },
    ]

    static let retention: [Check] = [
        Check("TOK-22: old tombstones go and raise the floor of their zones only") { store in
            let old = Instant.noon
            let young = old.advanced(by: .seconds(60))
            let (first, second) = try await store.write(.everything) { transaction throws in
                let first = try transaction.makeZone("first")
                let second = try transaction.makeZone("second")
                try transaction.putRecords(
                    [
                        .tombstone("a", at: 3, modified: old), .note("b", at: 4, modified: old),
                        .tombstone("c", at: 5, modified: old),
                        .tombstone("d", at: 6, modified: young),
                    ], in: first.key
                )
                try transaction.putRecords(
                    [.tombstone("e", at: 7, modified: young)], in: second.key
                )
                return (first, second)
            }
            try await store.write(.everything) { transaction throws in
                #expect(try transaction.removeTombstones(modifiedBefore: young, limit: 9) == 2)
                #expect(try transaction.removeTombstones(modifiedBefore: young, limit: 9) == 0)
                let page = try transaction.page(of: first.key, after: .start, limit: 9)
                #expect(page == Page("b4 -d6", isComplete: true))
                let zones = try transaction.zones(["first", "second"], in: first.database)
                let floors = Dictionary(uniqueKeysWithValues: zones.map { ($0.key, $0.floor) })
                #expect(floors == [first.key: 5, second.key: .start])
            }
        },
        Check("At most as many tombstones go as were asked for, the oldest first") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                for age in 1...5 {
                    let moment = Instant.noon.advanced(by: .seconds(age))
                    let position = Position(rawValue: Int64(10 + age))
                    try transaction.putRecords(
                        [.tombstone("\(age)", at: position, modified: moment)], in: zone.key
                    )
                }
                let end = Instant.noon.advanced(by: .seconds(100))
                #expect(try transaction.removeTombstones(modifiedBefore: end, limit: 2) == 2)
                let left = try transaction.history(of: zone.key).map(\.name)
                #expect(left == ["3", "4", "5"])
                #expect(try transaction.zones(["diary"], in: zone.database)[0].floor == 12)
                #expect(try transaction.removeTombstones(modifiedBefore: end, limit: 9) == 3)
            }
        },
        Check("TOK-22: old zone traces go and raise the floor of their database") { store in
            let later = Instant.noon.advanced(by: .seconds(60))
            let database = try await store.write(.everything) { transaction throws in
                let (old, young) = (try transaction.makeZone("a"), try transaction.makeZone("b"))
                _ = try transaction.makeZone("c")
                try transaction.delete(old, at: .noon)
                try transaction.delete(young, at: later)
                return old.database
            }
            try await store.write(.everything) { transaction throws in
                #expect(try transaction.removeTombstones(modifiedBefore: later, limit: 9) == 1)
                let left = try transaction.zoneChanges(in: database, after: .start, limit: 9)
                #expect(left.map(\.name) == ["c", "b"])
                #expect(try transaction.database(id: database)?.floor == 4)
            }
        },
    ]
}

/// A page of history as text: `a2 -b3` is record a at 2, then b's tombstone.
private struct Page: Equatable {
    var text: String
    var isComplete: Bool

    init(_ text: String, isComplete: Bool) {
        self.text = text
        self.isComplete = isComplete
    }
}

extension StoreTransaction {
    fileprivate func sampleHistory() throws -> StoredZone {
        let zone = try makeZone("diary")
        try putRecords(
            [
                .note("a", at: 2), .tombstone("b", at: 3), .note("c", at: 4),
                .tombstone("d", at: 5), .note("e", at: 6),
            ], in: zone.key
        )
        return zone
    }

    fileprivate func page(
        of zone: ZoneKey, after position: Position, limit: Int, bytes: Int = .max,
        reverse: Bool = false
    ) throws -> Page {
        let (records, isComplete) = try recordChanges(
            in: zone, after: position, limit: limit, byteLimit: bytes, reverse: reverse
        )
        let text = records.map { "\($0.isDeleted ? "-" : "")\($0.name)\($0.position.rawValue)" }
        return Page(text.joined(separator: " "), isComplete: isComplete)
    }
}
