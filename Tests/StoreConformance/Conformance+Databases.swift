// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let databases: [Check] = [
        Check("A database is nil while nothing was written to it") { store in
            let found = try await store.read { try $0.database(.privateNotes()) }
            #expect(found == nil)
        },
        Check("Making a database again returns the same one") { store in
            let first = try await store.write(.everything) { try $0.makeDatabase(.privateNotes()) }
            let second = try await store.write(.everything) { transaction throws in
                _ = try transaction.advance(first.id, by: 7)
                return try transaction.makeDatabase(.privateNotes())
            }
            var expected = first
            expected.head = 7
            #expect(second == expected)
            let found = try await store.read { reader throws in
                [try reader.database(.privateNotes()), try reader.database(id: first.id)]
            }
            #expect(found == [expected, expected])
        },
        Check("SUB-11: databases differ by container, environment, scope and owner") { store in
            let keys = [
                .publicNotes, .privateNotes(.anna), .privateNotes(.ben),
                DatabaseKey(container: .notes, scope: .shared, owner: .anna),
                DatabaseKey(container: .released, scope: .private, owner: .anna),
                DatabaseKey(container: .chess, scope: .private, owner: .anna),
            ]
            let made = try await store.write(.everything) { transaction throws in
                try keys.map { try transaction.makeDatabase($0) }
            }
            #expect(Set(made.map(\.id)).count == keys.count)
            #expect(made.map(\.key) == keys)
            let found = try await store.read { reader in try keys.map { try reader.database($0) } }
            #expect(found == made)
        },
        Check("ZONE-1: public and private databases come with a default zone") { store in
            let keys = [
                .publicNotes, .privateNotes(),
                DatabaseKey(container: .notes, scope: .shared, owner: .anna),
            ]
            let zones = try await store.write(.everything) { transaction throws in
                try keys.map { key in
                    try transaction.zones(nil, in: transaction.makeDatabase(key).id).map(\.name)
                }
            }
            #expect(zones == [["_defaultZone"], ["_defaultZone"], []])
        },
        Check("ENV-8: the databases of a container are listed by ID, page by page") { store in
            let keys = [
                .publicNotes, .privateNotes(.anna),
                DatabaseKey(container: .released, scope: .public, owner: nil),
                DatabaseKey(container: .notes, scope: .shared, owner: .anna),
            ]
            try await store.write(.everything) { transaction throws in
                let all = try keys.map { try transaction.makeDatabase($0).id }
                let made = [all[0], all[1], all[3]].sorted { $0.rawValue < $1.rawValue }
                func list(_ last: DatabaseID?, _ limit: Int) throws -> [DatabaseID] {
                    try transaction.databases(of: .notes, after: last, limit: limit)
                }
                #expect(try list(nil, 9) == made)
                #expect(try list(nil, 1) == [made[0]])
                #expect(try list(made[1], 9) == [made[2]])
                #expect(try list(made[2], 9) == [])
            }
        },
        Check("ENV-9: tokens expire up to a position, which never goes back") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                let other = try transaction.makeDatabase(.publicNotes).id
                try transaction.expireTokens(of: database, before: 7)
                try transaction.expireTokens(of: database, before: 5)
                #expect(try transaction.database(id: database)?.floor == 7)
                #expect(try transaction.database(id: other)?.floor == .start)
            }
        },
        Check("Advancing returns the first of the positions taken") { store in
            let positions = try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                return try [1, 5, 1].map { try transaction.advance(database, by: $0) }
            }
            #expect(positions == [1, 2, 7])
            #expect(try await store.read { try $0.database(.privateNotes())?.head } == 7)
        },
        Check("H6: no position is below the clock, and a clock that goes back does no harm") {
            store in
            let positions = try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                return try [(2, 100), (1, 100), (3, 50), (0, 200), (1, 101), (1, 300), (1, -7)].map
                {
                    try transaction.advance(database, by: $0, at: Instant(rawValue: $1))
                }
            }
            #expect(positions == [100, 102, 103, 200, 106, 300, 301])
            #expect(try await store.read { try $0.database(.privateNotes())?.head } == 301)
        },
        Check("Positions that a failed body took are given out again") { store in
            let database = try await store.write(.everything) {
                try $0.makeDatabase(.privateNotes()).id
            }
            _ = try? await store.write(.everything) { transaction throws in
                _ = try transaction.advance(database, by: 3)
                throw Refused()
            }
            #expect(try await store.write(.everything) { try $0.advance(database, by: 1) } == 1)
        },
    ]

    static let zones: [Check] = [
        Check("Zones are created at their positions, with keys of their own") { store in
            let (created, stored) = try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                let created = try transaction.createZones([("b", 1), ("a", 2)], in: database)
                return (created, try transaction.zones(["a", "b", "c"], in: database))
            }
            #expect(created.map(\.name) == ["b", "a"])
            #expect(created.map(\.position) == [1, 2])
            #expect(Set(created.map(\.key)).count == 2)
            #expect(Set(stored) == Set(created))
        },
        Check("ZONE-7: all living zones come by name") { store in
            let names = try await store.write(.everything) { transaction throws in
                for name in ["b", "c", "a"] { _ = try transaction.makeZone(name) }
                let database = try transaction.makeDatabase(.privateNotes()).id
                try transaction.delete(transaction.zones(["c"], in: database)[0])
                return try transaction.zones(nil, in: database).map(\.name)
            }
            #expect(names == ["_defaultZone", "a", "b"])
        },
        Check("No names find no zones, and zones of another database are not found") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                let other = try transaction.makeDatabase(.publicNotes).id
                #expect(try transaction.zones([], in: zone.database).isEmpty)
                #expect(try transaction.zones(["diary", "x"], in: other).isEmpty)
            }
        },
        Check("A deleted zone leaves a trace and none of its records or references") { store in
            let zone = try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                let other = try transaction.makeZone("kept")
                for key in [zone.key, other.key] {
                    try transaction.putRecords(
                        [.note("a", at: 5), .tombstone("b", at: 6)], in: key
                    )
                    try transaction.putReferences(
                        [StoredReference(source: "a", target: "b", kind: .parent)], from: ["a"],
                        in: key
                    )
                }
                try transaction.touchZone(zone.key, position: 6, clientChangeToken: [1])
                _ = try transaction.advance(zone.database, by: 4)
                try transaction.deleteZones([(zone.key, 7)], reason: .purged, at: .noon)
                #expect(try transaction.history(of: other.key).count == 2)
                #expect(try transaction.references(to: ["b"], in: other.key).count == 1)
                return zone
            }
            try await store.read { reader throws in
                var trace = zone
                trace.position = 7
                trace.deletion = .purged
                #expect(try reader.zones(["diary"], in: zone.database) == [trace])
                #expect(try reader.history(of: zone.key).isEmpty)
                #expect(try reader.records(["a"], in: zone.key).isEmpty)
                #expect(try reader.references(to: ["b"], in: zone.key).isEmpty)
            }
        },
        Check("TOK-22: a zone created again has a new key, no records and no trace") { store in
            let (first, second) = try await store.write(.everything) { transaction throws in
                let first = try transaction.makeZone("diary")
                try transaction.putRecords([.note("a", at: 2)], in: first.key)
                try transaction.delete(first)
                return (first, try transaction.makeZone("diary"))
            }
            #expect(first.key != second.key)
            try await store.read { reader throws in
                #expect(try reader.zones(["diary"], in: first.database) == [second])
                #expect(try reader.history(of: second.key).isEmpty)
                let changes = try reader.zoneChanges(in: first.database, after: .start, limit: 9)
                #expect(changes == [second])
            }
        },
        Check(reopening: "TOK-22: a zone key is never given twice") { store, engine in
            let first = try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                try transaction.delete(zone)
                // Without its trace nothing of the zone is left but the number.
                let later = Instant.noon.advanced(by: .seconds(1))
                #expect(try transaction.removeTombstones(modifiedBefore: later, limit: 9) == 1)
                return zone
            }
            let reopened = try await engine.reopen(store)
            let second = try await reopened.write(.everything) { try $0.makeZone("diary") }
            #expect(second.key.rawValue > first.key.rawValue)
            try await reopened.close()
        },
        Check("TOK-24: a client change token stays until another replaces it") { store in
            let given: [[UInt8]?] = [nil, [1, 2], nil, [3]]
            let tokens = try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                return try given.enumerated().map { index, token -> [UInt8]? in
                    let position = Position(rawValue: Int64(10 + index))
                    try transaction.touchZone(
                        zone.key, position: position, clientChangeToken: token
                    )
                    let touched = try transaction.zones(["diary"], in: zone.database)
                    #expect(touched.map(\.position) == [position])
                    return touched[0].clientChangeToken
                }
            }
            #expect(tokens == [nil, [1, 2], [1, 2], [3]])
        },
    ]

    static let zoneChanges: [Check] = [
        Check("TOK-17: changed zones come oldest change first, in pages") { store in
            let database = try await store.write(.everything) { transaction throws in
                let zones = try ["a", "b", "c", "d"].map { try transaction.makeZone($0) }
                try transaction.delete(zones[1])
                let position = try transaction.advance(zones[0].database, by: 1)
                try transaction.touchZone(
                    zones[0].key, position: position, clientChangeToken: nil
                )
                return zones[0].database
            }
            try await store.read { reader throws in
                func page(_ position: Position, _ limit: Int) throws -> [String] {
                    try reader.zoneChanges(in: database, after: position, limit: limit)
                        .map { "\($0.name)\($0.position.rawValue)" }
                }
                #expect(try page(.start, 9) == ["c3", "d4", "b5", "a6"])
                #expect(try page(.start, 2) == ["c3", "d4"])
                #expect(try page(4, 2) == ["b5", "a6"])
                #expect(try page(6, 2).isEmpty)
            }
        },
        Check("SUB-7: an untouched default zone is no change") { store in
            let changes = try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                return try transaction.zoneChanges(in: database, after: .start, limit: 9)
            }
            #expect(changes.isEmpty)
        },
    ]
}
