// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let schema: [Check] = [
        Check("ENV-1: fields are known by type, container and environment") { store in
            try await store.write(.everything) { transaction throws in
                let note = StoredRecordType(
                    fields: ["text": StoredField(.string), "tags": StoredField(.stringList)])
                let game = StoredRecordType(fields: ["won": StoredField(.int64)])
                let other = StoredRecordType(fields: ["text": StoredField(.bytes)])
                try transaction.addRecordTypes(["Note": note, "Game": game], in: .notes)
                try transaction.addRecordTypes(["Note": other], in: .released)
                let both = try transaction.recordTypes(["Note", "Nope"], in: .notes)
                #expect(both == ["Note": note])
                let released = try transaction.recordTypes(["Note", "Game"], in: .released)
                #expect(released == ["Note": other])
                #expect(try transaction.recordTypes(["Note"], in: .chess).isEmpty)
                #expect(try transaction.recordTypes([], in: .notes).isEmpty)
            }
        },
        Check("A type without fields is known all the same") { store in
            try await store.write(.everything) { transaction throws in
                try transaction.addRecordTypes(["Empty": StoredRecordType()], in: .notes)
                let empty = try transaction.recordTypes(["Empty"], in: .notes)
                #expect(empty == ["Empty": StoredRecordType()])
                let filled = StoredRecordType(fields: ["a": StoredField(.double)])
                try transaction.addRecordTypes(["Empty": filled], in: .notes)
                #expect(try transaction.recordTypes(["Empty"], in: .notes) == ["Empty": filled])
            }
        },
        Check("REC-11: which fields are stored encrypted is known") { store in
            try await store.write(.everything) { transaction throws in
                let note = StoredRecordType(fields: [
                    "text": StoredField(.string), "key": StoredField(.bytes, isEncrypted: true),
                ])
                let plain = StoredRecordType(fields: ["key": StoredField(.bytes)])
                try transaction.addRecordTypes(["Note": note, "Game": plain], in: .notes)
                try transaction.addRecordTypes(["Note": plain], in: .released)
                #expect(try transaction.recordTypes(["Note"], in: .notes) == ["Note": note])
                #expect(
                    try transaction.recordTypes(["Note", "Game"], in: .notes)
                        == ["Note": note, "Game": plain])
                #expect(try transaction.recordTypes(["Note"], in: .released) == ["Note": plain])
            }
        },
        Check("Fields that are known stay as they are") { store in
            let types = try await store.write(.everything) { transaction throws in
                let note = StoredRecordType(fields: ["a": StoredField(.double)])
                try transaction.addRecordTypes(["Note": note], in: .notes)
                let other = StoredRecordType(fields: [
                    "a": StoredField(.string, isEncrypted: true), "b": StoredField(.int64),
                ])
                try transaction.addRecordTypes(["Note": other], in: .notes)
                return try transaction.recordTypes(["Note"], in: .notes)
            }
            #expect(
                types["Note"]?.fields == ["a": StoredField(.double), "b": StoredField(.int64)])
        },
        Check("A schema has a new revision with all that is added, another one has not") { store in
            try await store.write(.everything) { transaction throws in
                let note = StoredRecordType(fields: ["text": StoredField(.string)])
                let released = try transaction.schemaRevision(of: .released)
                var known: Set<SchemaRevision> = [try transaction.schemaRevision(of: .notes)]
                for types in [["Note": note], ["Game": note], ["Empty": StoredRecordType()]] {
                    try transaction.addRecordTypes(types, in: .notes)
                    let revision = try transaction.schemaRevision(of: .notes)
                    #expect(try transaction.schemaRevision(of: .notes) == revision)
                    #expect(known.insert(revision).inserted)
                }
                #expect(try transaction.schemaRevision(of: .released) == released)
            }
        },
        Check("A revision that was undone never comes again") { store in
            struct Undone: Error {}
            // An engine may run a body several times.
            let drawn = Mutex<[SchemaRevision]>([])
            for type in ["Note", "Game", "Note"] {
                await #expect(throws: Undone.self) {
                    try await store.write(.everything) { transaction throws in
                        try transaction.addRecordTypes([type: StoredRecordType()], in: .notes)
                        let revision = try transaction.schemaRevision(of: .notes)
                        drawn.withLock { $0.append(revision) }
                        throw Undone()
                    }
                }
            }
            let known = drawn.withLock { $0 }
            #expect(known.count >= 3 && Set(known).count == known.count)
            let now = try await store.read { try $0.schemaRevision(of: .notes) }
            #expect(!known.contains(now))
        },
    ]

    static let subscriptions: [Check] = [
        Check("A subscription of each kind comes back as it was saved") { store in
            var info = WireNotificationInfo()
            info.alert.body = "Tide"
            info.desiredKeys = ["a"]
            var query = WireSubscription.watching(.query, "q", zone: "diary", type: "Note")
            query.notificationInfo = info
            query.filters = [WireFilter(.equals, .field("a"), .int64(1))]
            var whole = WireSubscription.watching(.database, "d", type: "Note")
            whole.isWrittenAsZoneWide = true
            let saved = [whole, query, .watching(.zone, "z", zone: "diary", type: "Note")]
            let found = try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                for subscription in saved { try transaction.subscribe(in: database, subscription) }
                return try transaction.subscriptions(nil, of: .anna, in: database)
            }
            #expect(found.map(\.subscription) == saved)
        },
        Check("SUB-29: identity is database, user and ID; the same ID replaces") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                let other = try transaction.makeDatabase(.publicNotes).id
                try transaction.subscribe(in: database, .watching(.query, "s", type: "Note"))
                try transaction.subscribe(.ben, in: database, .watching(.query, "s", type: "B"))
                try transaction.subscribe(in: other, .watching(.query, "s", type: "C"))
                try transaction.subscribe(in: database, .watching(.query, "s", type: "New"))
                func types(_ user: UserID, _ database: DatabaseID) throws -> [String?] {
                    try transaction.subscriptions(nil, of: user, in: database)
                        .map(\.subscription.recordType)
                }
                #expect(try types(.anna, database) == ["New"])
                #expect(try types(.ben, database) == ["B"])
                #expect(try types(.anna, other) == ["C"])
            }
        },
        Check("Subscriptions are found and removed by ID; unknown IDs do not matter") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                for id in ["c", "a", "b"] {
                    try transaction.subscribe(in: database, .watching(.database, id))
                    try transaction.subscribe(.ben, in: database, .watching(.database, id))
                }
                func ids(_ wanted: Set<ExactText>?, of user: UserID = .anna) throws -> [String] {
                    try transaction.subscriptions(wanted, of: user, in: database)
                        .map(\.subscription.subscriptionID)
                }
                #expect(try ids(["c", "b", "x"]) == ["b", "c"])
                #expect(try ids([]).isEmpty)
                try transaction.removeSubscriptions(["a", "x"], of: .anna, in: database)
                #expect(try ids(nil) == ["b", "c"])
                #expect(try ids(nil, of: .ben) == ["a", "b", "c"])
                #expect(
                    try transaction.subscriptionIDs(of: .anna, in: database) == ["b", "c"])
            }
        },
        Check("SUB-42: the query subscriptions of a container are found page by page") { store in
            try await store.write(.everything) { transaction throws in
                let ours = try transaction.makeDatabase(.privateNotes()).id
                let all = try transaction.makeDatabase(.publicNotes).id
                let others = try transaction.makeDatabase(
                    DatabaseKey(container: .released, scope: .public, owner: nil)
                ).id
                for database in [ours, others, all] {
                    try transaction.subscribe(
                        in: database, .watching(.query, "q", type: "Note"),
                        .watching(.database, "d"))
                }
                func ids(after serial: SubscriptionSerial, limit: Int) throws -> [DatabaseID] {
                    let found = try transaction.querySubscriptions(
                        of: .notes, after: serial, limit: limit)
                    return try transaction.subscriptions(found, byteLimit: .max).subscriptions
                        .map(\.database)
                }
                #expect(try ids(after: .start, limit: 9) == [ours, all])
                #expect(try ids(after: .start, limit: 1) == [ours])
                let first = try transaction.querySubscriptions(
                    of: .notes, after: .start, limit: 1)
                #expect(try ids(after: #require(first.first), limit: 9) == [all])
            }
        },
        Check("A database knows which kinds of subscription it has") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                func kinds() throws -> Set<WireSubscription.Kind> {
                    try transaction.database(id: database)?.subscriptionKinds ?? []
                }
                #expect(try kinds().isEmpty)
                try transaction.subscribe(in: database, .watching(.database, "d"))
                #expect(try kinds() == [.database])
                try transaction.subscribe(
                    .ben, in: database, .watching(.query, "q", type: "Note"),
                    .watching(.zone, "z", zone: "diary")
                )
                #expect(try kinds() == [.database, .query, .zone])
                // The ID of a database subscription is taken over by a query.
                try transaction.subscribe(in: database, .watching(.query, "d", type: "Note"))
                #expect(try kinds() == [.query, .zone])
                try transaction.removeSubscriptions(["q"], of: .ben, in: database)
                #expect(try kinds() == [.query, .zone])
                try transaction.removeSubscriptions(["d"], of: .anna, in: database)
                #expect(try kinds() == [.zone])
                _ = try transaction.removeSubscriptions(onZone: "diary", in: database)
                #expect(try kinds().isEmpty)
            }
        },
        Check("SUB-65: what watches a zone goes with it, of all users, and is returned") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                let other = try transaction.makeDatabase(.privateNotes(.ben)).id
                let gone: [WireSubscription] = [
                    .watching(.query, "q", zone: "diary", type: "Note"),
                    .watching(.zone, "z", zone: "diary"),
                ]
                let kept: [WireSubscription] = [
                    .watching(.database, "d"), .watching(.query, "everywhere", type: "Note"),
                    .watching(.zone, "y", zone: "other"),
                ]
                for subscription in gone + kept {
                    try transaction.subscribe(in: database, subscription)
                    try transaction.subscribe(.ben, in: database, subscription)
                }
                try transaction.subscribe(in: other, gone[1])
                let removed = try transaction.removeSubscriptions(onZone: "diary", in: database)
                let expected = [UserID.anna, .ben].flatMap { user in
                    gone.map {
                        StoredSubscription(database: database, user: user, subscription: $0)
                    }
                }
                #expect(Set(removed.map(\.unnumbered)) == Set(expected))
                #expect(removed.count == expected.count)
                #expect(removed.allSatisfy { $0.serial > .start })
                for user in [UserID.anna, .ben] {
                    let left = try transaction.subscriptions(nil, of: user, in: database)
                    #expect(left.map(\.subscription) == kept)
                }
                #expect(try transaction.subscriptions(nil, of: .anna, in: other).count == 1)
            }
        },
    ]

    static let subscriptionMatching: [Check] = [
        Check("Exactly the subscriptions that a change can concern are returned") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                let other = try transaction.makeDatabase(.publicNotes).id
                let concerned: [WireSubscription] = [
                    .watching(.database, "d"), .watching(.database, "d2", type: "Game"),
                    .watching(.zone, "z", zone: "diary"),
                    .watching(.zone, "z2", zone: "diary", type: "Game"),
                    .watching(.query, "q", type: "Note"),
                    .watching(.query, "q2", zone: "diary", type: "Photo"),
                ]
                let unconcerned: [WireSubscription] = [
                    .watching(.zone, "x", zone: "other"),
                    .watching(.query, "x2", type: "Game"),
                    .watching(.query, "x3", zone: "other", type: "Note"),
                    .watching(.query, "x4", zone: "diary", type: "Game"),
                ]
                for subscription in concerned + unconcerned {
                    try transaction.subscribe(in: database, subscription)
                    try transaction.subscribe(.ben, in: database, subscription)
                    try transaction.subscribe(in: other, subscription)
                }
                let found = try transaction.subscriptions(
                    in: database, zoneName: "diary",
                    triggers: ["Note", "Photo", "Nope"].triggers, after: .start, limit: .max
                )
                let expected = [UserID.anna, .ben].flatMap { user in
                    concerned.map {
                        StoredSubscription(database: database, user: user, subscription: $0)
                    }
                }
                #expect(Set(found.map(\.unnumbered)) == Set(expected))
                #expect(found.count == expected.count)
            }
        },
        Check("A change of no record concerns no query") { store in
            let found = try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                try transaction.subscribe(
                    in: database, .watching(.query, "q", type: "Note"), .watching(.database, "d")
                )
                return try transaction.subscriptions(
                    in: database, zoneName: "diary", triggers: [], after: .start, limit: .max
                )
            }
            #expect(found.map(\.subscription) == [.watching(.database, "d")])
        },
        Check("SUB-23: a query is found by the term of its filters") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.publicNotes).id
                func watch(_ id: String, _ filters: WireFilter...) throws {
                    var subscription = WireSubscription.watching(.query, id, type: "Note")
                    subscription.filters = filters
                    try transaction.subscribe(in: database, subscription)
                }
                func found(_ field: String, _ value: FieldValue) throws -> [String] {
                    try transaction.subscriptions(
                        in: database, zoneName: "_defaultZone",
                        triggers: .note([field: value]), after: .start, limit: .max
                    ).map(\.subscription.subscriptionID)
                }
                try watch("sea", WireFilter(.equals, .field("place"), .string("Sea")))
                try watch("seaside", WireFilter(.equals, .field("place"), .string("Sea side")))
                try watch("three", WireFilter(.equals, .field("height"), .double(3)))
                try watch("tagged", WireFilter(.listContains, .field("tags"), .string("low")))
                try watch("high", WireFilter(.greaterThan, .field("height"), .int64(5)))
                try watch("never", .nothing)
                try watch("other", WireFilter(.notEquals, .field("place"), .string("Sea")))
                #expect(try found("place", .string("SEA")) == ["sea", "other"])
                #expect(try found("name", .string("Sea")) == ["other"])
                #expect(try found("height", .int64(3)) == ["three", "other"])
                #expect(try found("height", .int64(6)) == ["high", "other"])
                #expect(
                    try found("tags", .list(.stringList, [.string("Low"), .string("new")]))
                        == ["tagged", "other"]
                )
                // Saved anew, it is found by its new term only, under its old number.
                try watch("sea", WireFilter(.equals, .field("name"), .string("Sea")))
                #expect(try found("place", .string("sea")) == ["other"])
                #expect(try found("name", .string("sea")) == ["sea", "other"])
            }
        },
        Check("SUB-23: a query is found by its whole term, U+0000 included") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.publicNotes).id
                let texts = ["Z", "Z\u{0}", "Z\u{0}x", "\u{0}Z", "Z\u{1}", "Z\u{1}A", "Z\u{1}Ax"]
                for text in texts {
                    var subscription = WireSubscription.watching(.query, text, type: "Note")
                    subscription.filters = [WireFilter(.equals, .field("t"), .string(text))]
                    try transaction.subscribe(in: database, subscription)
                }
                for text in texts {
                    let found = try transaction.subscriptions(
                        in: database, zoneName: "_defaultZone",
                        triggers: .note(["t": .string(text)]), after: .start, limit: .max
                    )
                    #expect(found.map(\.subscription.subscriptionID) == [text])
                }
            }
        },
        Check("SUB-23: a query is found by any of its terms, once, as long as it has them") {
            store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.publicNotes).id
                let other = try transaction.makeDatabase(.privateNotes()).id
                func watch(_ id: String, zone: String? = nil, _ places: String...) throws {
                    var subscription = WireSubscription.watching(
                        .query, id, zone: zone, type: "Note")
                    subscription.filters = [
                        WireFilter(
                            .in, .field("place"), .list(.stringList, places.map { .string($0) }))
                    ]
                    for database in [database, other] {
                        try transaction.subscribe(in: database, subscription)
                    }
                }
                func found(_ places: String..., limit: Int = .max) throws -> [String] {
                    let triggers = places.map {
                        Set<SubscriptionTrigger>.note(["place": .string($0)])
                    }
                    return try transaction.subscriptions(
                        in: database, zoneName: "diary", triggers: Set(triggers.joined()),
                        after: .start, limit: limit
                    ).map(\.subscription.subscriptionID)
                }
                func families(limit: Int = .max) throws -> Set<TermFamily>? {
                    try transaction.termFamilies(
                        in: database, zoneName: "diary", recordType: "Note", limit: limit)
                }
                #expect(try families() == [])
                try watch("one", "a", "b", "c")
                try watch("two", zone: "diary", "c", "d")
                try watch("three", zone: "elsewhere", "a", "d")
                #expect(try found("a") == ["one"])
                #expect(try found("c") == ["one", "two"])
                #expect(try found("a", "b", "c", "d") == ["one", "two"])
                #expect(try found("a", "b", "c", "d", limit: 1) == ["one"])
                #expect(try families() == Set([TermFamily(of: .place)].compactMap { $0 }))
                #expect(try families(limit: 0) == nil)
                // Saved anew, removed, and gone with its zone: it has no other terms left.
                try watch("one", "d")
                #expect(try found("a", "b", "c") == ["two"])
                try transaction.removeSubscriptions(["one"], of: .anna, in: database)
                _ = try transaction.removeSubscriptions(onZone: "diary", in: database)
                #expect(try found("a", "b", "c", "d") == [])
                #expect(try families() == [])
            }
        },
        Check("All subscriptions of a database come together where they are few") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                let other = try transaction.makeDatabase(.publicNotes).id
                func all(limit: Int = 3, byteLimit: Int = .max) throws -> [String]? {
                    let found = try transaction.allSubscriptions(
                        in: database, limit: limit, byteLimit: byteLimit)
                    let bytes = found?.subscriptions.map(\.encoded.count).reduce(0, +)
                    #expect(bytes == found?.bytes)
                    return found?.subscriptions.map(\.subscription.subscriptionID)
                }
                #expect(try all() == [])
                try transaction.subscribe(.ben, in: database, .watching(.database, "z"))
                try transaction.subscribe(in: other, .watching(.query, "o", type: "Note"))
                try transaction.subscribe(
                    in: database, .watching(.zone, "y", zone: "diary"),
                    .watching(.query, "x", type: "Note"))
                #expect(try all() == ["z", "y", "x"])
                let bytes =
                    try transaction.allSubscriptions(
                        in: database, limit: 3, byteLimit: .max)?.bytes ?? 0
                #expect(try all(byteLimit: bytes + 1) == ["z", "y", "x"])
                #expect(try all(byteLimit: bytes) == nil)
                #expect(try all(limit: 2) == nil)
                try transaction.removeSubscriptions(["y"], of: .anna, in: database)
                #expect(try all(limit: 2) == ["z", "x"])
            }
        },
        Check("Subscriptions come page by page in the order of their serials") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                var ids: [String] = []
                for index in 0..<9 {
                    let id = "s\(9 - index)"
                    let kind = WireSubscription.Kind.allCases[index % 3]
                    let zone = kind == .zone || index % 2 == 0 ? "diary" : nil
                    let type = kind == .query ? ["Note", "Game"][index % 2] : nil
                    try transaction.subscribe(
                        index < 5 ? .anna : .ben, in: database,
                        .watching(kind, id, zone: kind == .database ? nil : zone, type: type)
                    )
                    ids.append(id)
                }
                // Saving again keeps the serial.
                try transaction.subscribe(in: database, .watching(.database, "s7"))
                for limit in 1...10 {
                    var pages: [StoredSubscription] = []
                    while true {
                        let page = try transaction.subscriptions(
                            in: database, zoneName: "diary", triggers: ["Note", "Game"].triggers,
                            after: pages.last?.serial ?? .start, limit: limit
                        )
                        #expect(page.count <= limit)
                        if page.isEmpty { break }
                        pages += page
                    }
                    #expect(pages.map(\.subscription.subscriptionID) == ids)
                    #expect(pages.map(\.serial) == Set(pages.map(\.serial)).sorted())
                }
            }
        },
        Check(reopening: "A subscription's serial is never given again") { store, engine in
            let database = try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                try transaction.subscribe(in: database, .watching(.database, "a"))
                return database
            }
            let old = try await store.read { try $0.subscriptions(nil, of: .anna, in: database) }
            let reopened = try await engine.reopen(store)
            let new = try await reopened.write(.everything) { transaction throws in
                try transaction.removeSubscriptions(["a"], of: .anna, in: database)
                try transaction.subscribe(in: database, .watching(.database, "a"))
                return try transaction.subscriptions(nil, of: .anna, in: database)
            }
            #expect(old.map(\.unnumbered) == new.map(\.unnumbered))
            #expect(new.map(\.serial).min() ?? .start > old.map(\.serial).max() ?? .start)
            try await reopened.close()
        },
    ]
}

extension SubscriptionTerm {
    fileprivate static let place = SubscriptionTerm(rawValue: "place=sa")
}

extension Set<SubscriptionTrigger> {
    /// The triggers of a note with these fields.
    fileprivate static func note(_ fields: [String: FieldValue]) -> Self {
        let change = RecordChange(
            recordName: "r", recordType: "Note", event: .created,
            fields: RecordFields(fields.mapValues { Field($0) }))
        return ChangedRecords([change]).triggers
    }
}

extension [String] {
    /// The triggers of records of these types without anything to be found by.
    fileprivate var triggers: Set<SubscriptionTrigger> {
        Set(map { SubscriptionTrigger(recordType: $0, term: .none) })
    }
}

extension StoredSubscription {
    /// The subscription without what the store gave it.
    fileprivate var unnumbered: StoredSubscription {
        StoredSubscription(database: database, user: user, subscription: subscription)
    }
}

extension StoreReader {
    /// Reads the subscriptions that a change may concern, with their content.
    fileprivate func subscriptions(
        in database: DatabaseID, zoneName: String, triggers: Set<SubscriptionTrigger>,
        after serial: SubscriptionSerial, limit: Int
    ) throws -> [StoredSubscription] {
        let outlines = try subscriptionOutlines(
            in: database, zoneName: zoneName, triggers: triggers, after: serial, limit: limit
        )
        return try subscriptions(outlines.map(\.serial), byteLimit: .max).subscriptions
    }
}
