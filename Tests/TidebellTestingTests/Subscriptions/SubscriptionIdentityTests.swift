// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Identity, saving and deleting of subscriptions", .finishesClouds)
struct SubscriptionIdentityTests {
    private func query(
        _ id: String,
        type: String = "FeedItem",
        zone: CKRecordZone.ID? = nil,
        options: CKQuerySubscription.Options = [.firesOnRecordCreation]
    ) -> CKQuerySubscription {
        let subscription = CKQuerySubscription(
            recordType: type,
            predicate: NSPredicate(value: true),
            subscriptionID: id,
            options: options
        )
        subscription.zoneID = zone
        subscription.notificationInfo = .silent
        return subscription
    }

    @Test(
        "SUB-1, SUB-12, SUB-39: all kinds come back as their classes with what they were saved with"
    )
    func allKindsComeBack() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let all = CKDatabaseSubscription(subscriptionID: "a-database")
        all.recordType = "FeedItem"
        let zone = CKRecordZoneSubscription(zoneID: Household.feed, subscriptionID: "b-zone")
        zone.recordType = "FeedItem"
        let query = query(
            "c-query", zone: Household.feed, options: [.firesOnRecordUpdate, .firesOnce])
        let info = CKSubscription.NotificationInfo()
        info.alertBody = "changed"
        info.desiredKeys = ["title"]
        for subscription in [all, zone, query] {
            subscription.notificationInfo = info
            try await database.save(subscription)
        }
        let fetched = try await database.allSubscriptions()
            .sorted { $0.subscriptionID < $1.subscriptionID }
        #expect(fetched == [all, zone, query])
        #expect(fetched.map(\.subscriptionType) == [.database, .recordZone, .query])
    }

    @Test(
        "SUB-10: another user's subscriptions are separate, even with the same ID in the public database"
    )
    func usersAreSeparate() async throws {
        let home = try await Household()
        try await home.phone.publicDatabase.save(query("news", type: "News"))
        try await home.other.publicDatabase.save(query("news", type: "Weather"))
        #expect(
            try await home.phone.publicDatabase.allSubscriptions() == [query("news", type: "News")])
        #expect(
            try await home.other.publicDatabase.allSubscriptions() == [
                query("news", type: "Weather")
            ]
        )
        try await home.other.publicDatabase.deleteSubscription(withID: "news")
        #expect(
            try await home.phone.publicDatabase.allSubscriptions() == [query("news", type: "News")])
    }

    @Test("SUB-11: development and production have separate subscriptions")
    func environmentsAreSeparate() async throws {
        let home = try await Household()
        let released = try await home.cloud.device(user: "anna", environment: .production)
        try await home.phone.privateDatabase.save(CKDatabaseSubscription(subscriptionID: "s"))
        #expect(try await released.privateDatabase.allSubscriptions() == [])
        #expect(try await home.laptop.privateDatabase.allSubscriptions().count == 1)
    }

    @Test("SUB-29: the same ID in two databases is two subscriptions")
    func databasesAreSeparate() async throws {
        let home = try await Household()
        try await home.phone.privateDatabase.save(query("s", type: "Private"))
        try await home.phone.publicDatabase.save(query("s", type: "Public"))
        let inPrivate = try await home.phone.privateDatabase.subscription(for: "s")
        let inPublic = try await home.phone.publicDatabase.subscription(for: "s")
        #expect((inPrivate as? CKQuerySubscription)?.recordType == "Private")
        #expect((inPublic as? CKQuerySubscription)?.recordType == "Public")
    }

    @Test("SUB-28: a subscription without ID gets a UUID that the server keeps")
    func generatedID() async throws {
        let home = try await Household()
        let subscription = CKQuerySubscription(
            recordType: "FeedItem",
            predicate: NSPredicate(value: true),
            subscriptionID: UUID().uuidString,
            options: [.firesOnRecordCreation]
        )
        try await home.phone.privateDatabase.save(subscription)
        let ids = try await home.laptop.privateDatabase.allSubscriptions().map(\.subscriptionID)
        #expect(ids == [subscription.subscriptionID])
        #expect(UUID(uuidString: subscription.subscriptionID) != nil)
    }

    @Test("SUB-30, SUB-31: saving the same ID again updates the subscription, equal or not")
    func savingAgainUpdates() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.save(query("s", options: [.firesOnRecordCreation]))
        try await database.save(query("s", options: [.firesOnRecordCreation]))
        try await database.save(query("s", options: [.firesOnRecordDeletion]))
        #expect(
            try await database.allSubscriptions() == [query("s", options: [.firesOnRecordDeletion])]
        )
        try await home.laptop.privateDatabase.save(item("a"))
        try await home.phone.expectNoPushes()
        try await home.laptop.privateDatabase.deleteRecord(withID: itemID("a"))
        #expect(try await home.phone.nextNotification()?.subscriptionID == "s")
    }

    @Test(
        "SUB-15, SUB-69: changes of a subscription take effect when it is saved again, not before")
    func effectAfterSaving() async throws {
        let home = try await Household()
        let subscription = CKRecordZoneSubscription(
            zoneID: Household.feed,
            subscriptionID: "s"
        )
        try await home.subscribe(subscription)
        subscription.recordType = "Other"
        subscription.notificationInfo = CKSubscription.NotificationInfo(alertBody: "changed")
        try await home.laptop.privateDatabase.save(item("a"))
        let before = try await home.phone.nextPush()
        #expect(
            (before.userInfo["aps"] as? NSDictionary) == ["content-available": 1] as NSDictionary)

        try await home.phone.privateDatabase.save(subscription)
        try await home.laptop.privateDatabase.save(item("b"))
        try await home.phone.expectNoPushes()
        try await home.laptop.privateDatabase.save(item("c", type: "Other"))
        let after = try await home.phone.nextPush()
        #expect((after.userInfo["aps"] as? NSDictionary) == ["alert": "changed"] as NSDictionary)
    }

    @Test(
        "T-11, SUB-32, SUB-34, SUB-35: another ID with the same trigger is refused, naming the first, which keeps working"
    )
    func duplicates() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.save(query("first"))
        let error = await ckError { try await database.save(query("second")) }
        #expect(error?.code == .serverRejectedRequest)
        #expect(
            error?.localizedDescription.contains("subscription is duplicate of 'first'") == true
        )
        let zone = CKRecordZoneSubscription(zoneID: Household.feed, subscriptionID: "zone")
        try await database.save(zone)
        let twin = CKRecordZoneSubscription(zoneID: Household.feed, subscriptionID: "twin")
        #expect(await ckCode { try await database.save(twin) } == .serverRejectedRequest)
        try await home.laptop.privateDatabase.save(item("a"))
        let ids = try await [home.phone.nextPush(), home.phone.nextPush()]
            .map { $0.notification?.subscriptionID ?? "" }
        #expect(ids.sorted() == ["first", "zone"])
        try await home.phone.expectNoPushes()
    }

    @Test(
        "T-11, SUB-33: another set of events, type or zone is another trigger; so is another database ID"
    )
    func notDuplicates() async throws {
        let home = try await Household()
        let subscriptions: [CKSubscription] = [
            query("create"),
            query("create-and-update", options: [.firesOnRecordCreation, .firesOnRecordUpdate]),
            query("other-type", type: "Other"),
            query("one-zone", zone: Household.feed),
            CKDatabaseSubscription(subscriptionID: "database-1"),
            CKDatabaseSubscription(subscriptionID: "database-2"),
        ]
        let results = try await home.phone.privateDatabase.modifySubscriptions(
            saving: subscriptions,
            deleting: []
        )
        #expect(results.saveResults.compactMapValues(\.ckCode) == [:])
        #expect(try await home.phone.privateDatabase.allSubscriptions().count == 6)
    }

    @Test("SUB-36: subscriptions outlive the installation that made them")
    func outliveInstallation() async throws {
        let home = try await Household()
        try await home.subscribe(CKDatabaseSubscription(subscriptionID: "s"))
        let reinstalled = try await home.cloud.device(user: "anna")
        let found = try await reinstalled.privateDatabase.allSubscriptions().map(\.subscriptionID)
        #expect(found == ["s"])
        try await reinstalled.registerForRemoteNotifications()
        try await home.laptop.privateDatabase.save(item("a"))
        for device in [reinstalled, home.phone] {
            #expect(try await device.nextNotification()?.subscriptionID == "s")
        }
    }

    @Test(
        "SUB-37, SUB-38: deleting or fetching what does not exist is unknownItem, for that item alone"
    )
    func unknownIDs() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.save(CKDatabaseSubscription(subscriptionID: "s"))
        #expect(await ckCode { try await database.deleteSubscription(withID: "x") } == .unknownItem)
        #expect(await ckCode { _ = try await database.subscription(for: "x") } == .unknownItem)
        let fetched = try await database.subscriptions(for: ["s", "x"])
        #expect(try fetched["s"]?.get().subscriptionID == "s")
        #expect(fetched["x"]?.ckCode == .unknownItem)
        let modified = try await database.modifySubscriptions(saving: [], deleting: ["s", "x"])
        #expect(modified.deleteResults["x"]?.ckCode == .unknownItem)
        #expect(modified.deleteResults["s"]?.ckCode == nil)
        #expect(try await database.allSubscriptions() == [])
    }

    @available(*, deprecated)
    @Test("SUB-38, SUB-44: the old completion block gets partialFailure keyed by subscription ID")
    func partialFailureOfTheOldBlocks() async throws {
        let home = try await Household()
        let log = Log<String>()
        let modify = CKModifySubscriptionsOperation(
            subscriptionsToSave: [
                CKDatabaseSubscription(subscriptionID: "good"),
                CKRecordZoneSubscription(zoneID: .default, subscriptionID: "bad"),
            ],
            subscriptionIDsToDelete: ["missing"]
        )
        modify.perSubscriptionSaveBlock = { log.append("save \($0) \($1.ckCode?.rawValue ?? 0)") }
        modify.perSubscriptionDeleteBlock = {
            log.append("delete \($0) \($1.ckCode?.rawValue ?? 0)")
        }
        modify.modifySubscriptionsCompletionBlock = { saved, deleted, error in
            log.append("saved \((saved ?? []).map(\.subscriptionID)) deleted \(deleted ?? [])")
            let parts = (error as? CKError)?.partialErrorsByItemID ?? [:]
            for (id, error) in parts.sorted(by: { "\($0.key)" < "\($1.key)" }) {
                log.append("\(id as? String ?? "?"): \((error as? CKError)?.code.rawValue ?? 0)")
            }
            log.append("error \((error as? CKError)?.code.rawValue ?? 0)")
        }
        await home.phone.privateDatabase.run(modify)
        #expect(
            log.entries.prefix(3).sorted() == ["delete missing 11", "save bad 12", "save good 0"])
        #expect(
            Array(log.entries.dropFirst(3)) == [
                "saved [\"good\"] deleted []", "bad: 12", "missing: 11", "error 2",
            ]
        )

        let fetch = CKFetchSubscriptionsOperation(subscriptionIDs: ["good", "missing"])
        let fetched = Log<String>()
        fetch.fetchSubscriptionCompletionBlock = { found, error in
            let parts = (error as? CKError)?.partialErrorsByItemID ?? [:]
            let missing = parts["missing"] as? CKError
            fetched.append("found \((found ?? [:]).keys.sorted())")
            fetched.append(
                "error \((error as? CKError)?.code.rawValue ?? 0) \(missing?.code.rawValue ?? 0)"
            )
        }
        await home.phone.privateDatabase.run(fetch)
        #expect(fetched.entries == ["found [\"good\"]", "error 2 11"])
    }

    @Test("SUB-70: a subscription's kind can be changed by deleting and creating it in one batch")
    func replaceKind() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.save(CKDatabaseSubscription(subscriptionID: "s"))
        try await database.deleteSubscription(withID: "s")
        try await database.save(query("s"))
        #expect(try await database.subscription(for: "s").subscriptionType == .query)
    }
}
