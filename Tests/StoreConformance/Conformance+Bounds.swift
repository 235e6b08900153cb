// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let bounds: [Check] = [
        Check("H7: a subscription's summary is what is known of it without reading it") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                let subscription = WireSubscription.watching(.query, "q", type: "Note")
                try transaction.subscribe(in: database, subscription)
                let expected = SubscriptionSummary(
                    id: "q", kind: .query, duplicateHash: subscription.duplicateHash,
                    bytes: subscription.json.count
                )
                #expect(
                    try transaction.subscriptionSummaries(of: .anna, in: database) == [expected])
                #expect(try transaction.subscriptionSummaries(of: .ben, in: database).isEmpty)
            }
        },
        Check("ACCT-9: a zone and its use are its database's use, and go with the zone") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                let other = try transaction.makeZone("kept")
                func use() throws -> StorageUse? {
                    let database = try transaction.database(id: zone.database)
                    return database?.use
                }
                func add(
                    _ change: StorageUse, to zone: StoredZone, token: [UInt8]? = nil
                ) throws {
                    let position = try transaction.advance(
                        zone.database, by: 1, at: .noon, adding: change)
                    try transaction.touchZone(
                        zone.key, position: position, clientChangeToken: token, adding: change)
                }
                try add(StorageUse(bytes: 500, records: 2), to: zone)
                try add(StorageUse(bytes: 70, records: 1), to: other, token: [1])
                try add(StorageUse(bytes: -200, records: -1), to: zone)
                let overhead = StoredZone.overhead
                #expect(try use() == StorageUse(bytes: 370 + 2 * overhead, records: 2))
                try transaction.delete(zone)
                #expect(try use() == StorageUse(bytes: 70 + overhead, records: 1))
            }
        },
        Check("A large zone goes at once for who looks, and in steps from the store") { store in
            let count = 2500
            let zone = try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("large")
                try transaction.putRecords(
                    (0..<count).map { .note("\($0)", at: Position(rawValue: Int64($0 + 10))) },
                    in: zone.key
                )
                try transaction.putReferences(
                    [StoredReference(source: "1", target: "2", kind: .parent)], from: ["1"],
                    in: zone.key
                )
                try transaction.delete(zone)
                #expect(
                    try transaction.zones(nil, in: zone.database).map(\.name) == ["_defaultZone"])
                return zone
            }
            // A new zone of the name is another one.
            let again = try await store.write(.everything) { transaction throws in
                let again = try transaction.makeZone("large")
                try transaction.putRecords([.note("new", at: 9000)], in: again.key)
                return again
            }
            var removed = 0
            while true {
                let step = try await store.write(.everything) {
                    try $0.removeDeletedZones(limit: 700, at: .noon)
                }
                #expect(step <= 700)
                removed += step
                if step < 700 { break }
            }
            #expect(removed > count / 2 && removed <= count)
            try await store.read { reader throws in
                #expect(try reader.history(of: zone.key).isEmpty)
                #expect(try reader.references(to: ["2"], in: zone.key).isEmpty)
                #expect(try reader.history(of: again.key).count == 1)
            }
            #expect(
                try await store.write(.everything) {
                    try $0.removeDeletedZones(limit: 9, at: .noon)
                } == 0)
        },
        Check("A step removes a bounded number of deleted zones, also of those without rows") {
            store in
            try await store.write(.everything) { transaction throws in
                let large = try transaction.makeZone("large")
                try transaction.putRecords(
                    (0..<1000).map { .note("\($0)", at: Position(rawValue: Int64($0 + 10))) },
                    in: large.key
                )
                // What this takes to remove leaves no time for the others.
                try transaction.delete(large)
                for index in 0..<20 { try transaction.delete(try transaction.makeZone("\(index)")) }
            }
            var steps: [Int] = []
            while steps.last != 0 {
                steps.append(
                    try await store.write(.everything) {
                        try $0.removeDeletedZones(limit: 8, at: .noon)
                    })
            }
            #expect(steps == [8, 8, 5, 0])
        },
        Check("M8: with a person goes what deleted zones have left, of zones made anew too") {
            store in
            try await store.write(.everything) { transaction throws in
                let account = try transaction.createAccount(named: "carl", at: .noon)
                let carl = try transaction.makeUser(
                    of: account, in: .notes, recordName: "_carl", at: .noon
                )
                let database = DatabaseKey.privateNotes(carl.id)
                let zone = try transaction.makeZone("large", in: database)
                try transaction.putRecords(
                    (0..<1500).map { .note("\($0)", at: Position(rawValue: Int64($0 + 10))) },
                    in: zone.key
                )
                try transaction.delete(zone)
                _ = try transaction.makeZone("large", in: database)
                #expect(try !transaction.history(of: zone.key).isEmpty)
                try transaction.removeAccount(account, at: .noon)
                try transaction.beginErasing(account, .personal)
                while try !transaction.eraseRows(of: carl, at: .noon, limit: 100) {}
                #expect(try transaction.history(of: zone.key).isEmpty)
                #expect(try transaction.removeDeletedZones(limit: 9, at: .noon) == 0)
            }
        },
        Check("H9, QUERY-20: the types of a container are listed in order, up to a bound") {
            store in
            try await store.write(.everything) { transaction throws in
                #expect(try transaction.recordTypeNames(in: .notes, limit: 9) == [])
                let type = StoredRecordType(
                    fields: ["a": StoredField(.string), "b": StoredField(.int64)])
                try transaction.addRecordTypes(
                    ["Note": type, "Game": StoredRecordType(), "Zoo": type], in: .notes)
                let names = ["Game", "Note", "Zoo"]
                #expect(try transaction.recordTypeNames(in: .notes, limit: 9) == names)
                #expect(try transaction.recordTypeNames(in: .notes, limit: 3) == names)
                #expect(try transaction.recordTypeNames(in: .notes, limit: 2) == ["Game", "Note"])
                #expect(try transaction.recordTypeNames(in: .notes, limit: 0) == [])
                #expect(try transaction.recordTypeNames(in: .released, limit: 9) == [])
            }
        },
        Check("Of a user with too many devices those unused for longest go") { store in
            try await store.write(.everything) { transaction throws in
                func register(_ client: String, day: Int64, user: UserID = .anna) throws {
                    _ = try transaction.registerDevice(
                        clientID: client, user: user, container: .notes, atMost: 2,
                        at: .noon.advanced(by: .seconds(day * 86_400))
                    )
                }
                try register("other", day: 0, user: .ben)
                for (index, name) in ["old", "used", "third"].enumerated() {
                    try register(name, day: Int64(index))
                }
                #expect(try transaction.devices(of: .anna).map(\.clientID) == ["used", "third"])
                try register("used", day: 5)
                try register("fourth", day: 6)
                #expect(try transaction.devices(of: .anna).map(\.clientID) == ["used", "fourth"])
                #expect(try transaction.devices(of: .ben).map(\.clientID) == ["other"])
            }
        },
        Check("H8: the newest notifications of a user are kept, and what went is known") { store in
            try await store.write(.everything) { transaction throws in
                let account = try transaction.createAccount(named: "carl", at: .noon)
                let carl = try transaction.makeUser(
                    of: account, in: .notes, recordName: "_carl", at: .noon
                ).id
                let log = try transaction.appendNotifications(
                    (0..<5).map { .push("\($0)", to: carl) } + [.push("x", to: .ben)]
                )
                #expect(try transaction.usersWithNotifications(moreThan: 4, limit: 9) == [carl])
                #expect(try transaction.usersWithNotifications(moreThan: 5, limit: 9).isEmpty)
                #expect(try transaction.trimNotifications(of: carl, to: 2, limit: 2) == 2)
                #expect(try transaction.notificationFloor(of: carl) == log[1].sequence)
                #expect(try transaction.trimNotifications(of: carl, to: 2, limit: 9) == 1)
                #expect(try transaction.trimNotifications(of: carl, to: 2, limit: 9) == 0)
                #expect(try transaction.notificationFloor(of: carl) == log[2].sequence)
                #expect(try transaction.notificationFloor(of: .ben) == .start)
                let kept = try transaction.notifications(
                    for: carl, after: .start, excludingOrigin: nil, limit: 9)
                #expect(kept.map(\.notificationID) == ["3", "4"])
            }
        },
    ]
}
