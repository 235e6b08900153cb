// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Which subscriptions can be saved where", .finishesClouds)
struct SubscriptionLegalityTests {
    /// A kind, a database, and whether they go together.
    struct Cell: Sendable, CustomTestStringConvertible {
        var kind: CKSubscription.SubscriptionType
        var scope: CKDatabase.Scope
        var isLegal: Bool

        var testDescription: String { "\(kind) in \(scope): \(isLegal)" }
    }

    static let cells: [Cell] = [
        Cell(kind: .query, scope: .public, isLegal: true),
        Cell(kind: .query, scope: .private, isLegal: true),
        Cell(kind: .query, scope: .shared, isLegal: false),
        Cell(kind: .recordZone, scope: .public, isLegal: false),
        Cell(kind: .recordZone, scope: .private, isLegal: true),
        Cell(kind: .recordZone, scope: .shared, isLegal: false),
        Cell(kind: .database, scope: .public, isLegal: false),
        Cell(kind: .database, scope: .private, isLegal: true),
        Cell(kind: .database, scope: .shared, isLegal: true),
    ]

    private func subscription(
        _ kind: CKSubscription.SubscriptionType,
        id: String = "s"
    ) -> CKSubscription {
        switch kind {
        case .recordZone:
            CKRecordZoneSubscription(zoneID: Household.feed, subscriptionID: id)
        case .database: CKDatabaseSubscription(subscriptionID: id)
        default:
            CKQuerySubscription(
                recordType: "FeedItem",
                predicate: NSPredicate(value: true),
                subscriptionID: id
            )
        }
    }

    @Test(
        "T-6, SUB-2, SUB-3, SUB-4, SUB-5: the nine cells, each error naming both", arguments: cells
    )
    func nineCells(cell: Cell) async throws {
        let home = try await Household()
        let database = home.phone.container().database(with: cell.scope)
        let error = await ckError { try await database.save(subscription(cell.kind)) }
        let saved = try await database.allSubscriptions().map(\.subscriptionID)
        if cell.isLegal {
            #expect(error == nil)
            #expect(saved == ["s"])
        } else {
            #expect(error?.code == .invalidArguments)
            let names = [CKDatabase.Scope.public: "public", .private: "private", .shared: "shared"]
            let reason = error?.localizedDescription ?? ""
            #expect(reason.contains(names[cell.scope] ?? "?"), "\(reason)")
            #expect(reason.contains("subscription"), "\(reason)")
            #expect(saved == [])
        }
    }

    @Test("SUB-5: in a batch the illegal subscription fails alone")
    func batchFailsPerItem() async throws {
        let home = try await Household()
        let results = try await home.phone.privateDatabase.modifySubscriptions(
            saving: [
                subscription(.database, id: "legal"),
                CKRecordZoneSubscription(zoneID: .default, subscriptionID: "illegal"),
            ],
            deleting: []
        )
        #expect(results.saveResults["illegal"]?.ckCode == .invalidArguments)
        #expect(try results.saveResults["legal"]?.get().subscriptionID == "legal")
    }

    @Test("SUB-6: a zone subscription needs a custom zone that exists")
    func zoneMustExist() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let onDefault = CKRecordZoneSubscription(zoneID: .default, subscriptionID: "d")
        #expect(await ckCode { try await database.save(onDefault) } == .invalidArguments)
        let missing = CKRecordZone.ID(zoneName: "Nowhere")
        let onMissing = CKRecordZoneSubscription(zoneID: missing, subscriptionID: "m")
        #expect(await ckCode { try await database.save(onMissing) } == .zoneNotFound)
        #expect(try await database.allSubscriptions() == [])
    }

    @Test("SUB-25: a query subscription on the system type Users is refused")
    func usersAreNotQueried() async throws {
        let home = try await Household()
        let users = CKQuerySubscription(
            recordType: "Users",
            predicate: NSPredicate(value: true),
            subscriptionID: "u"
        )
        for database in [home.phone.privateDatabase, home.phone.publicDatabase] {
            let error = await ckError { try await database.save(users) }
            #expect(error?.code == .invalidArguments)
            #expect(error?.localizedDescription.contains("Users") == true)
        }
    }

    @Test("SUB-68: without notificationInfo a subscription is accepted and pushes silently")
    func nilInfo() async throws {
        let home = try await Household()
        try await home.phone.privateDatabase.save(subscription(.database))
        try await home.laptop.privateDatabase.save(item("a"))
        let push = try await home.phone.nextPush()
        let aps = push.userInfo["aps"] as? NSDictionary
        #expect(aps == ["content-available": 1] as NSDictionary)
        #expect(push.notification?.subscriptionID == "s")
    }

    @Test("NINFO-16, NINFO-20: more than three desired keys are refused with their number")
    func tooManyDesiredKeys() async throws {
        let home = try await Household()
        let query = subscription(.query)
        let info = CKSubscription.NotificationInfo()
        info.desiredKeys = ["a", "b", "c", "d"]
        query.notificationInfo = info
        let error = await ckError { try await home.phone.privateDatabase.save(query) }
        #expect(error?.code == .invalidArguments)
        #expect(error?.localizedDescription.contains("4 fields") == true)
    }
}
