// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

/// Texts that are the same for much of what reads them, and not for a store.
extension StoreConformance {
    /// Each is another one: U+0000 ends no text, and a form of Unicode is not another form.
    private static let spellings = [
        "Z", "Z\u{0}", "Z\u{0}x", "\u{0}Z", "Z\u{1}", "Z\u{1}A", "Z\u{1}Ax", "Z\u{1}Bx",
        "caf\u{E9}", "cafe\u{301}",
    ]
    /// The names of what is found by strings: Unicode's forms of a name are one for them.
    private static let names = Array(spellings.dropLast())

    static let texts: [Check] = [
        Check("Zones and records are found by their whole names, U+0000 included") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("Z")
                for name in names.dropFirst() {
                    #expect(try transaction.zones(Set(names), in: zone.database) == [zone])
                    #expect(try transaction.zones([name, "no"], in: zone.database).isEmpty)
                }
                let all = try [zone] + names.dropFirst().map { try transaction.makeZone($0) }
                #expect(
                    Set(try transaction.zones(Set(names), in: zone.database).map(\.key))
                        == Set(all.map(\.key)))
                for (index, name) in names.enumerated() {
                    let position = try transaction.advance(zone.database, by: 1)
                    try transaction.putRecords([.note(name, at: position)], in: zone.key)
                    let found = try transaction.records(Set(names), in: zone.key)
                    #expect(found.count == index + 1)
                    #expect(found.allSatisfy { $0.key == $0.value.name })
                    let heads = try transaction.recordsWithoutFields(Set(names), in: zone.key)
                    #expect(Set(heads.keys) == Set(found.keys))
                }
            }
        },
        Check("References are found by the whole names of their targets") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary").key
                try transaction.putReferences(
                    names.map { StoredReference(source: "s", target: $0, kind: .deleteSelf) },
                    from: ["s"], in: zone
                )
                for name in names {
                    let found = try transaction.references(to: [name, "no"], in: zone)
                    #expect(found.map(\.target) == [name])
                    let counts = try transaction.deleteSelfCounts(to: [name, "no"], in: zone)
                    #expect(counts == [name: 1])
                }
            }
        },
        Check("Record types are found by their whole names") { store in
            try await store.write(.everything) { transaction throws in
                for name in names {
                    let type = StoredRecordType(fields: ["a": StoredField(.int64)])
                    try transaction.addRecordTypes([name: type], in: .notes)
                    let found = try transaction.recordTypes([name, "no"], in: .notes)
                    #expect(Array(found.keys) == [name])
                }
                #expect(try transaction.recordTypes(Set(names), in: .notes).count == names.count)
            }
        },
        Check("SUB-29: IDs of subscriptions are compared as they are spelled") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                func ids(_ wanted: [String]?) throws -> Set<ExactText> {
                    Set(
                        try transaction.subscriptions(
                            wanted.map { ids in Set(ids.map { ExactText($0) }) }, of: .anna,
                            in: database
                        ).map(\.subscription.exactID))
                }
                var left = Set(spellings.map { ExactText($0) })
                for id in spellings {
                    #expect(try ids([id, "no"]).isEmpty)
                    try transaction.subscribe(in: database, .watching(.database, id))
                    #expect(try ids([id, "no"]) == [ExactText(id)])
                }
                #expect(try ids(nil) == left)
                #expect(try ids(spellings) == left)
                for id in spellings {
                    try transaction.removeSubscriptions([ExactText(id)], of: .anna, in: database)
                    left.remove(ExactText(id))
                    #expect(try ids(nil) == left)
                }
            }
        },
    ]
}
