// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let schema: [Check] = [
        Check("ENV-1: fields are known by type, container and environment") { store in
            try await store.write { transaction throws in
                let note: [String: FieldType] = ["text": .string, "tags": .stringList]
                try transaction.addFieldTypes(["Note": note, "Game": ["won": .int64]], in: .notes)
                try transaction.addFieldTypes(["Note": ["text": .bytes]], in: .released)
                let both = try transaction.fieldTypes(of: ["Note", "Nope"], in: .notes)
                #expect(both == ["Note": note])
                let released = try transaction.fieldTypes(of: ["Note", "Game"], in: .released)
                #expect(released == ["Note": ["text": .bytes]])
                #expect(try transaction.fieldTypes(of: ["Note"], in: .chess).isEmpty)
                #expect(try transaction.fieldTypes(of: [], in: .notes).isEmpty)
            }
        },
        Check("A type without fields is known all the same") { store in
            try await store.write { transaction throws in
                try transaction.addFieldTypes(["Empty": [:]], in: .notes)
                #expect(try transaction.fieldTypes(of: ["Empty"], in: .notes) == ["Empty": [:]])
                try transaction.addFieldTypes(["Empty": ["a": .double]], in: .notes)
                let types = try transaction.fieldTypes(of: ["Empty"], in: .notes)
                #expect(types == ["Empty": ["a": .double]])
            }
        },
        Check("Fields that are known keep their type") { store in
            let types = try await store.write { transaction throws in
                try transaction.addFieldTypes(["Note": ["a": .double]], in: .notes)
                try transaction.addFieldTypes(["Note": ["a": .string, "b": .int64]], in: .notes)
                return try transaction.fieldTypes(of: ["Note"], in: .notes)
            }
            #expect(types == ["Note": ["a": .double, "b": .int64]])
        },
    ]

    static let subscriptions: [Check] = [
        Check("A subscription of each kind comes back as it was saved") { store in
            var info = WireNotificationInfo()
            info.alertBody = "Tide"
            info.desiredKeys = ["a"]
            var query = WireSubscription.watching(.query, "q", zone: "diary", type: "Note")
            query.notificationInfo = info
            query.filters = [WireFilter(.equals, .field("a"), .int64(1))]
            var whole = WireSubscription.watching(.database, "d", type: "Note")
            whole.isWrittenAsZoneWide = true
            let saved = [whole, query, .watching(.zone, "z", zone: "diary", type: "Note")]
            let found = try await store.write { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                for subscription in saved { try transaction.subscribe(in: database, subscription) }
                return try transaction.subscriptions(nil, of: .anna, in: database)
            }
            #expect(found.map(\.subscription) == saved)
        },
        Check("SUB-29: identity is database, user and ID; the same ID replaces") { store in
            try await store.write { transaction throws in
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
            try await store.write { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                for id in ["c", "a", "b"] {
                    try transaction.subscribe(in: database, .watching(.database, id))
                    try transaction.subscribe(.ben, in: database, .watching(.database, id))
                }
                func ids(_ wanted: Set<String>?, of user: UserID = .anna) throws -> [String] {
                    try transaction.subscriptions(wanted, of: user, in: database)
                        .map(\.subscription.subscriptionID)
                }
                #expect(try ids(["c", "b", "x"]) == ["b", "c"])
                #expect(try ids([]).isEmpty)
                try transaction.removeSubscriptions(["a", "x"], of: .anna, in: database)
                #expect(try ids(nil) == ["b", "c"])
                #expect(try ids(nil, of: .ben) == ["a", "b", "c"])
            }
        },
        Check("A database knows which kinds of subscription it has") { store in
            try await store.write { transaction throws in
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
            try await store.write { transaction throws in
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
                #expect(Set(removed) == Set(expected))
                #expect(removed.count == expected.count)
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
            try await store.write { transaction throws in
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
                    in: database, zoneName: "diary", recordTypes: ["Note", "Photo", "Nope"]
                )
                let expected = [UserID.anna, .ben].flatMap { user in
                    concerned.map {
                        StoredSubscription(database: database, user: user, subscription: $0)
                    }
                }
                #expect(Set(found) == Set(expected))
                #expect(found.count == expected.count)
            }
        },
        Check("A change of no record concerns no query") { store in
            let found = try await store.write { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                try transaction.subscribe(
                    in: database, .watching(.query, "q", type: "Note"), .watching(.database, "d")
                )
                return try transaction.subscriptions(
                    in: database, zoneName: "diary", recordTypes: []
                )
            }
            #expect(found.map(\.subscription) == [.watching(.database, "d")])
        },
    ]
}
