// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite struct SubscriptionMatcherTests {
    private func fired(
        by entry: OutboxEntry, _ candidates: [StoredSubscription]
    ) throws -> [SubscriptionMatch] {
        var matcher = SubscriptionMatcher()
        return try matcher.matches(entry, candidates: candidates, devices: [:]).matches
    }

    private func causes(
        by entry: OutboxEntry, _ candidate: StoredSubscription
    ) throws -> [SubscriptionMatch.Cause] {
        try fired(by: entry, [candidate]).map(\.cause)
    }

    @Test("SUB-6, SUB-7: the default zone fires no zone and no database subscription")
    func defaultZone() throws {
        let entry = Fixture.entry(.records([Fixture.change()]), zone: ZoneID.defaultName)
        let candidates = [
            Fixture.subscription(.database),
            Fixture.subscription(.zone, zone: ZoneID.defaultName),
            Fixture.subscription(.query, id: "query", type: "FeedItem"),
        ]
        #expect(try fired(by: entry, candidates).map(\.subscription) == [candidates[2]])
    }

    @Test("SUB-7, SUB-54: a database subscription covers every custom zone, created, changed, gone")
    func databaseSubscription() throws {
        let subscription = Fixture.subscription(.database)
        let events: [OutboxEntry.Event] = [
            .zoneCreated, .records([Fixture.change()]),
            .zoneDeleted(.deleted, subscriptions: []), .zoneDeleted(.purged, subscriptions: []),
        ]
        for event in events {
            #expect(try causes(by: Fixture.entry(event, zone: "later"), subscription) == [.zone])
        }
    }

    @Test("SUB-8: a database subscription fires in the shared database too, for the owner's zone")
    func sharedDatabase() throws {
        let entry = Fixture.entry(
            .records([Fixture.change()]), owner: "_ffffffffffffffffffffffffffffffff")
        #expect(try causes(by: entry, Fixture.subscription(.database)) == [.zone])
    }

    @Test("SUB-9: a query subscription spans all zones unless it names one")
    func queryZones() throws {
        let change = Fixture.change()
        let everywhere = Fixture.subscription(.query, id: "everywhere", type: "FeedItem")
        let elsewhere = Fixture.subscription(
            .query, id: "elsewhere", zone: "other", type: "FeedItem")
        let here = Fixture.subscription(.query, id: "here", zone: "feed", type: "FeedItem")
        let matches = try fired(
            by: Fixture.entry(.records([change])), [everywhere, elsewhere, here]
        )
        #expect(matches.map(\.subscription) == [everywhere, here])
    }

    @Test("SUB-12, SUB-13: a record type narrows a zone or database subscription, exactly")
    func recordTypeFilter() throws {
        let note = Fixture.entry(.records([Fixture.change(type: "Note")]))
        for kind in [WireSubscription.Kind.zone, .database] {
            func subscription(_ type: String?) throws -> StoredSubscription {
                Fixture.subscription(kind, zone: kind == .zone ? "feed" : nil, type: type)
            }
            #expect(try causes(by: note, subscription(nil)) == [.zone])
            #expect(try causes(by: note, subscription("Note")) == [.zone])
            #expect(try causes(by: note, subscription("note")) == [])
            #expect(try causes(by: note, subscription("FeedItem")) == [])
        }
    }

    @Test("SUB-13: zone-level events fire a database subscription whatever its record type")
    func zoneEventsAndRecordType() throws {
        let typed = Fixture.subscription(.database, type: "FeedItem")
        #expect(try causes(by: Fixture.entry(.zoneCreated), typed) == [.zone])
        let deletion = Fixture.entry(.zoneDeleted(.purged, subscriptions: []))
        #expect(try causes(by: deletion, typed) == [.zone])
    }

    @Test("SUB-14: a deletion is filtered by the type of the deleted record")
    func deletionType() throws {
        let entry = Fixture.entry(.records([Fixture.change(type: "Note", .deleted)]))
        let notes = Fixture.subscription(.zone, id: "notes", zone: "feed", type: "Note")
        let items = Fixture.subscription(.zone, id: "items", zone: "feed", type: "FeedItem")
        #expect(try fired(by: entry, [notes, items]).map(\.subscription) == [notes])
    }

    @Test(
        "SUB-17, SUB-18, SUB-23: a query subscription fires for exactly the events it asks for",
        arguments: [RecordEvent.created, .updated, .deleted]
    )
    func queryEvents(event: RecordEvent) throws {
        let change = Fixture.change(event)
        let wanted: [RecordEvent: WireSubscription.Events] = [
            .created: .create, .updated: .update, .deleted: .delete,
        ]
        for (other, option) in wanted {
            let subscription = Fixture.subscription(.query, type: "FeedItem", firesOn: option)
            let expected: [SubscriptionMatch.Cause] = other == event ? [.record(change)] : []
            #expect(try causes(by: Fixture.entry(.records([change])), subscription) == expected)
        }
        let none = Fixture.subscription(.query, type: "FeedItem", firesOn: [])
        #expect(try causes(by: Fixture.entry(.records([change])), none) == [])
    }

    @Test("SUB-19, SUB-20: firesOnce is notified of its first event only, over all of a batch")
    func firesOnce() throws {
        let subscription = Fixture.subscription(.query, type: "FeedItem", firesOnce: true)
        let first = Fixture.change("a")
        let devices = [Fixture.anna.id: [Fixture.device("laptop"), Fixture.device("phone")]]
        var matcher = SubscriptionMatcher()
        let matches = try [
            Fixture.entry(.records([first, Fixture.change("b")]), id: 1),
            Fixture.entry(.records([Fixture.change("c")]), id: 2),
        ].flatMap { try matcher.matches($0, candidates: [subscription], devices: devices).matches }
        #expect(matches.map(\.cause) == [.record(first)])
        #expect(matcher.consumed == [subscription])
    }

    @Test("SUB-20: firesOnce is not consumed by an event that no device is notified of")
    func firesOnceWithoutDevice() throws {
        let subscription = Fixture.subscription(.query, type: "FeedItem", firesOnce: true)
        let own = Fixture.entry(.records([Fixture.change("a")]), id: 1, origin: "laptop")
        let others = Fixture.entry(.records([Fixture.change("b")]), id: 2, origin: "tablet")
        let devices = [Fixture.anna.id: [Fixture.device("laptop")]]

        var matcher = SubscriptionMatcher()
        #expect(
            try matcher.matches(own, candidates: [subscription], devices: devices).matches == [])
        #expect(try matcher.matches(own, candidates: [subscription], devices: [:]).matches == [])
        #expect(matcher.consumed == [])
        let later = try matcher.matches(others, candidates: [subscription], devices: devices)
            .matches
        #expect(later.map(\.cause) == [.record(Fixture.change("b"))])
        #expect(matcher.consumed == [subscription])
    }

    @Test("SUB-20: a change without a known device consumes firesOnce when there is any device")
    func firesOnceWithoutOrigin() throws {
        let subscription = Fixture.subscription(.query, type: "FeedItem", firesOnce: true)
        let entry = Fixture.entry(.records([Fixture.change()]), origin: nil)
        var matcher = SubscriptionMatcher()
        let devices = [Fixture.anna.id: [Fixture.device("laptop")]]
        #expect(
            try matcher.matches(entry, candidates: [subscription], devices: devices).matches.count
                == 1)
        #expect(matcher.consumed == [subscription])
    }

    @Test("SUB-24: the reason is what happened to the record, with its fields as notified")
    func queryCause() throws {
        let changes = [
            Fixture.change("a", .created, fields: ["title": Field(.string("new"))]),
            Fixture.change("b", .deleted, fields: ["title": Field(.string("old"))]),
        ]
        let subscription = Fixture.subscription(.query, type: "FeedItem")
        #expect(
            try causes(by: Fixture.entry(.records(changes)), subscription)
                == changes.map { .record($0) }
        )
    }

    @Test(
        "SUB-53, SUB-60: any change of a record in its zone fires a zone subscription, cascades too"
    )
    func zoneSubscription() throws {
        let subscription = Fixture.subscription(.zone, zone: "feed")
        for event in [RecordEvent.created, .updated, .deleted] {
            let entry = Fixture.entry(.records([Fixture.change(event)]))
            #expect(try causes(by: entry, subscription) == [.zone])
        }
        let elsewhere = Fixture.entry(.records([Fixture.change()]), zone: "other")
        #expect(try causes(by: elsewhere, subscription) == [])
        #expect(try causes(by: Fixture.entry(.zoneCreated), subscription) == [])
    }

    @Test("SUB-62: a batch fires zone and database once, query once per matching record")
    func onePerBatch() throws {
        let changes = (1...5).map { Fixture.change("item-\($0)", type: $0 < 4 ? "A" : "B") }
        let query = Fixture.subscription(.query, id: "query", type: "A")
        let zone = Fixture.subscription(.zone, id: "zone", zone: "feed")
        let database = Fixture.subscription(.database, id: "database")
        let entry = Fixture.entry(.records(changes))
        let expected =
            [SubscriptionMatch(subscription: database, entry: entry, cause: .zone)]
            + changes.prefix(3).map {
                SubscriptionMatch(subscription: query, entry: entry, cause: .record($0))
            } + [SubscriptionMatch(subscription: zone, entry: entry, cause: .zone)]
        #expect(try fired(by: entry, [database, query, zone]) == expected)
    }

    @Test("SUB-63: an update that changed nothing is an update")
    func emptyUpdate() throws {
        let change = Fixture.change(.updated, fields: [:])
        let subscription = Fixture.subscription(.query, type: "FeedItem", firesOn: .update)
        #expect(
            try causes(by: Fixture.entry(.records([change])), subscription) == [.record(change)])
    }

    @Test("SUB-64: a batch without changes triggers nothing")
    func emptyBatch() throws {
        let candidates = [
            Fixture.subscription(.database), Fixture.subscription(.zone, zone: "feed"),
            Fixture.subscription(.query, type: "FeedItem"),
        ]
        #expect(try fired(by: Fixture.entry(.records([])), candidates) == [])
    }

    @Test("SUB-65: the subscriptions that end with a zone get its end, queries do not")
    func zoneDeletion() throws {
        let zone = Fixture.subscription(.zone, id: "zone", zone: "feed")
        let typed = Fixture.subscription(.zone, id: "typed", zone: "feed", type: "FeedItem")
        let query = Fixture.subscription(.query, id: "query", zone: "feed", type: "FeedItem")
        let database = Fixture.subscription(.database, id: "database")
        let entry = Fixture.entry(.zoneDeleted(.deleted, subscriptions: [zone, typed, query]))
        let candidates = [database, zone, typed, query]
        #expect(try fired(by: entry, candidates).map(\.subscription) == [database, zone])
    }

    @Test("SUB-65: a subscription on the zone that came after gets nothing of the one before")
    func zoneDeletionAndRecreation() throws {
        let later = Fixture.subscription(.zone, id: "later", zone: "feed")
        let entry = Fixture.entry(.zoneDeleted(.deleted, subscriptions: []))
        #expect(try fired(by: entry, [later]) == [])
    }

    @Test("SUB-68, NINFO-24, NINFO-25: what makes a push visual, and its priority")
    func pushTypes() throws {
        let visual: [(inout WireNotificationInfo) -> Void] = [
            { $0.alert.body = "" }, { $0.alert.localizationKey = "k" }, { $0.alert.title = "t" },
            { $0.alert.titleLocalizationKey = "k" }, { $0.alert.subtitle = "s" },
            { $0.alert.subtitleLocalizationKey = "k" }, { $0.soundName = "default" },
            { $0.shouldBadge = true },
        ]
        for set in visual { #expect(PushType(Fixture.info(set)) == .alert) }
        let silent: [(inout WireNotificationInfo) -> Void] = [
            { _ in }, { $0.shouldSendContentAvailable = true }, { $0.category = "c" },
            { $0.desiredKeys = ["title"] }, { $0.shouldSendMutableContent = true },
            { $0.alert.launchImage = "i" },
        ]
        for set in silent { #expect(PushType(Fixture.info(set)) == .background) }
        #expect(PushType(nil) == .background)
        #expect([PushType.alert, .background].map(\.priority) == [10, 5])
        #expect([PushType.alert, .background].map(\.rawValue) == ["alert", "background"])
    }
}
