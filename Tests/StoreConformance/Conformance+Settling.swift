// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let settling: [Check] = [
        Check("TOK-25: what is above a record is read with the hierarchies that it is in") {
            store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("A").key
                let share = StoredShare(name: "share", root: "list", shortGUID: "guid")
                try transaction.putShares([share], in: zone)
                func note(_ name: String, _ position: Position, _ parent: String?) -> StoredRecord {
                    var record = StoredRecord.note(name, at: position)
                    record.parent = parent
                    return record
                }
                try transaction.putRecords(
                    [
                        note("list", 2, nil), note("a", 3, "list"), note("b", 4, "a"),
                        note("c", 5, "d"), note("d", 6, "c"), note("share", 7, nil),
                    ], in: zone)
                try transaction.putSharedRecords(
                    [
                        SharedRecord(name: "list", share: "share", position: 2),
                        SharedRecord(name: "share", share: "share", position: 7),
                        SharedRecord(
                            name: "a", share: "share", position: 8, entry: 3, above: 2),
                        SharedRecord(name: "b", share: "gone", position: 4),
                        SharedRecord(name: "c", share: "share", position: 5, leftAt: .noon),
                    ], in: zone)
                let list = HierarchyMembership(share: "share", entry: 2, above: .start)
                let inner = HierarchyMembership(share: "share", entry: 3, above: 2)
                let own = HierarchyMembership(share: "share", entry: 7, above: .start)
                #expect(
                    try transaction.memberships(of: ["list", "a", "b", "c", "no"], in: zone)
                        == ["list": list, "a": inner])
                let places = [
                    "b": HierarchyPlace(parent: "a", membership: nil, ownShare: nil),
                    "a": HierarchyPlace(parent: "list", membership: inner, ownShare: nil),
                    "list": HierarchyPlace(parent: nil, membership: list, ownShare: "share"),
                    "share": HierarchyPlace(parent: nil, membership: own, ownShare: "share"),
                ]
                let names: Set = ["b", "share", "no"]
                #expect(try transaction.places(above: names, in: zone, limit: 5) == places)
                #expect(try transaction.places(above: names, in: zone, limit: 4) == nil)
                #expect(
                    try transaction.places(of: names, in: zone)
                        == places.filter { names.contains($0.key) })
                #expect(
                    try transaction.departures(of: ["a", "c", "no"], in: zone)
                        == ["c": ["share": [5]]])
                try transaction.putSharedRecords(
                    [
                        SharedRecord(
                            name: "c", share: "share", position: 9, entry: 6, leftAt: .noon),
                        SharedRecord(name: "c", share: "other", position: 9, leftAt: .noon),
                    ], in: zone)
                #expect(
                    try transaction.departures(of: ["c"], in: zone)
                        == ["c": ["share": [6], "other": [9]]])
                let history = try transaction.sharedRecordChanges(
                    in: zone, of: ["share"], after: 7, limit: 9, byteLimit: .max, reverse: false)
                #expect(history.changes.map(\.position) == [8, 9])
                #expect(history.changes.map(\.hiddenSince) == [8, 6])
                // A circle has an end.
                #expect(
                    try transaction.places(above: ["c"], in: zone, limit: 2)?.keys.sorted()
                        == ["c", "d"])
                #expect(try transaction.places(above: [], in: zone, limit: 0) == [:])
            }
        },
        Check(
            "TOK-6: since when a record was hidden is kept when it comes back, until all followed"
        ) {
            store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("A").key
                let share = StoredShare(name: "share", root: "list", shortGUID: "guid")
                try transaction.putShares([share], in: zone)
                try transaction.putRecords([.note("a", at: 3), .note("b", at: 4)], in: zone)
                try transaction.noteUnsettled([], in: zone)
                func put(_ position: Position, since: Position?, leftAt: Instant? = nil) throws {
                    try transaction.putSharedRecords(
                        [
                            SharedRecord(
                                name: "a", share: "share", position: position, leftAt: leftAt,
                                hiddenBefore: since)
                        ], in: zone)
                }
                func departures() throws -> [String: [String: [Position]]] {
                    try transaction.departures(of: ["a", "b"], in: zone)
                }
                try put(3, since: nil)
                #expect(try departures() == [:])
                try put(9, since: 7)
                #expect(try departures() == ["a": ["share": [7]]])
                #expect(
                    try transaction.memberships(of: ["a"], in: zone)
                        == ["a": HierarchyMembership(share: "share", entry: 9, above: .start)])
                try put(12, since: 11)
                try put(12, since: 11)
                try put(14, since: nil, leftAt: .noon)
                try transaction.putSharedRecords(
                    [
                        SharedRecord(
                            name: "b", share: "other", position: 13, hiddenBefore: 12)
                    ], in: zone)
                #expect(
                    try departures() == ["a": ["share": [7, 11, 14]], "b": ["other": [12]]])
                #expect(try transaction.settleZone(zone) == false)
                #expect(try transaction.removeEarlierDepartures(in: zone, limit: 2) == 2)
                #expect(try transaction.settleZone(zone) == false)
                #expect(try transaction.removeEarlierDepartures(in: zone, limit: 2) == 1)
                #expect(try transaction.settleZone(zone))
                #expect(try departures() == ["a": ["share": [14]]])
            }
        },
        Check("REF-7: children are found by their parents, as many as asked for") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("A").key
                func refer(_ source: String, _ kinds: StoredReference.Kind...) throws {
                    try transaction.putReferences(
                        kinds.map { StoredReference(source: source, target: "top", kind: $0) },
                        from: [source], in: zone)
                }
                try refer("a", .parent, .validate)
                try refer("b", .validate, .deleteSelf)
                try refer("c", .parent)
                let all = try transaction.children(of: ["top", "a"], in: zone, limit: 5)
                #expect(all?.mapValues { $0.sorted() } == ["top": ["a", "c"]])
                #expect(try transaction.children(of: ["top", "a"], in: zone, limit: 4) == nil)
                #expect(try transaction.children(of: [], in: zone, limit: 0) == [:])
                func page(_ last: String, _ limit: Int) throws -> [String] {
                    let page = try transaction.children(
                        of: "top", in: zone, after: last, limit: limit)
                    return page.names + [page.next ?? "end"]
                }
                #expect(try page("", 2) == ["a", "b"])
                #expect(try page("b", 2) == ["c", "end"])
                #expect(try page("", 9) == ["a", "c", "end"])
            }
        },
        Check(reopening: "What is to be settled in a zone stays until it is, newest first") {
            store, engine in
            let zone = try await store.write(.everything) { transaction in
                let zone = try transaction.makeZone("A")
                try transaction.putReferences(
                    [
                        StoredReference(source: "x", target: "a", kind: .parent),
                        StoredReference(source: "y", target: "b", kind: .parent),
                    ], from: ["x", "y"], in: zone.key)
                #expect(try transaction.unsettledZones(from: zone.key, limit: 9) == [])
                // Nothing is below x.
                try transaction.noteUnsettled(["a", "b", "x"], in: zone.key)
                try transaction.putUnsettled(UnsettledRecord(name: "b", last: "y"), in: zone.key)
                return zone
            }
            let reopened = try await engine.reopen(store)
            try await reopened.write(.everything) { transaction throws in
                func newest() throws -> UnsettledRecord? {
                    try transaction.newestUnsettledRecord(in: zone.key)
                }
                let found = try transaction.unsettledZones(from: zone.key, limit: 9)
                #expect(found.map(\.zone.key) == [zone.key])
                #expect(found.allSatisfy { $0.zone.isUnsettled && $0.database.id == zone.database })
                let after = ZoneKey(rawValue: zone.key.rawValue + 1)
                #expect(try transaction.unsettledZones(from: after, limit: 9) == [])
                #expect(try newest() == UnsettledRecord(name: "b", last: "y"))
                try transaction.noteUnsettled(["a", "b"], in: zone.key)
                #expect(try newest() == UnsettledRecord(name: "b"))
                try transaction.removeUnsettled("b", in: zone.key)
                #expect(try newest() == UnsettledRecord(name: "a"))
                #expect(try transaction.settleZone(zone.key) == false)
                try transaction.removeUnsettled("a", in: zone.key)
                #expect(try transaction.settleZone(zone.key))
                #expect(try transaction.unsettledZones(from: zone.key, limit: 9) == [])
            }
            try await reopened.close()
        },
        Check("SHARE-14: a large hierarchy whose share ends goes in parts, and is seen no more") {
            store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("A").key
                let share = StoredShare(name: "share", root: "list", shortGUID: "guid")
                let names = (0..<1500).map { "n\($0)" }
                func put(_ names: [String], from first: Int64) throws {
                    try transaction.putSharedRecords(
                        names.enumerated().map { index, name in
                            SharedRecord(
                                name: name, share: "share",
                                position: Position(rawValue: first + Int64(index)))
                        }, in: zone)
                }
                try transaction.putShares([share], in: zone)
                try transaction.putRecords(
                    names.enumerated().map { .note($1, at: Position(rawValue: Int64($0 + 2))) },
                    in: zone)
                try put(names, from: 2)
                try transaction.removeShares(["share"], in: zone)
                #expect(try transaction.unsettledZones(from: zone, limit: 1).count == 1)
                try transaction.putShares([share], in: zone)
                #expect(try transaction.memberships(of: Set(names), in: zone) == [:])
                try put(["n0", "n1499"], from: 2000)
                #expect(try transaction.removeEndedHierarchies(in: zone, limit: 300) == 300)
                #expect(try transaction.settleZone(zone) == false)
                #expect(try transaction.removeEndedHierarchies(in: zone, limit: 9000) < 300)
                #expect(try transaction.settleZone(zone))
                #expect(
                    try transaction.memberships(of: Set(names), in: zone).keys.sorted()
                        == ["n0", "n1499"])
                #expect(
                    try transaction.sharedRecordChanges(
                        in: zone, of: ["share"], after: 0, limit: 9, byteLimit: .max,
                        reverse: false
                    ).changes.count == 2)
            }
        },
        Check("A commit that leaves something to settle is signalled") { store in
            var commits = store.unsettledCommits().makeAsyncIterator()
            try await store.write(.everything) { transaction in
                let zone = try transaction.makeZone("A").key
                try transaction.putReferences(
                    [StoredReference(source: "x", target: "a", kind: .parent)], from: ["x"],
                    in: zone)
                try transaction.noteUnsettled(["a"], in: zone)
            }
            #expect(await commits.next() != nil)
        },
    ]
}
