// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Predicates by operator and class")
struct PredicateOperatorTests {
    private func subscribe(
        _ home: Household,
        _ predicate: NSPredicate,
        _ options: CKQuerySubscription.Options = .firesOnRecordCreation
    ) async throws {
        let subscription = CKQuerySubscription(
            recordType: "FeedItem",
            predicate: predicate,
            subscriptionID: "query",
            options: options
        )
        try await home.subscribe(subscription)
    }

    /// What the phone was told since, as reasons and records.
    private func told(_ home: Household) async throws -> [String] {
        try await home.cloud.settle()
        return try home.phone.takePushes().map { push in
            let query = try #require(push.notification as? CKQueryNotification)
            return "\(query.queryNotificationReason.rawValue) \(query.recordID?.recordName ?? "-")"
        }
    }

    @Test("T-9, SUB-24: an update fires when the record matches after it, as an update")
    func becomingTrueAndFalse() async throws {
        let home = try await Household()
        try await subscribe(
            home, NSPredicate(format: "%K == %@", "title", "open"),
            [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion])
        let record = try await home.laptop.privateDatabase.save(item("a", "closed"))
        #expect(try await told(home) == [])
        record["title"] = "OPEN"
        try await home.laptop.privateDatabase.save(record)
        #expect(try await told(home) == ["2 a"])
        record["title"] = "closed"
        try await home.laptop.privateDatabase.save(record)
        #expect(try await told(home) == [])
        try await home.laptop.privateDatabase.deleteRecord(withID: record.recordID)
        #expect(try await told(home) == [])
    }

    @Test("T-9, SUB-24: a deletion fires when the record matched before it")
    func deletion() async throws {
        let home = try await Household()
        try await subscribe(home, NSPredicate(format: "title == 'x'"), .firesOnRecordDeletion)
        _ = try await home.laptop.privateDatabase.modifyRecords(
            saving: [item("a", "x"), item("b", "y")], deleting: [])
        _ = try await home.laptop.privateDatabase.modifyRecords(
            saving: [], deleting: [itemID("a"), itemID("b")])
        #expect(try await told(home) == ["3 a"])
    }

    @Test("T-9, SUB-19: firesOnce is used up by the first event that matches")
    func firesOnce() async throws {
        let home = try await Household()
        try await subscribe(
            home, NSPredicate(format: "title == 'x'"), [.firesOnRecordCreation, .firesOnce])
        try await home.laptop.privateDatabase.save(item("a", "y"))
        #expect(try await told(home) == [])
        #expect(try await home.phone.privateDatabase.allSubscriptions().count == 1)
        try await home.laptop.privateDatabase.save(item("b", "x"))
        try await home.laptop.privateDatabase.save(item("c", "x"))
        #expect(try await told(home) == ["1 b"])
        #expect(try await home.phone.privateDatabase.allSubscriptions() == [])
    }

    /// Predicates and whether ``full(_:)`` matches them.
    static let rows: [(format: String, matches: Bool)] = [
        ("FALSEPREDICATE", false), ("number BETWEEN {1, 3}", true), ("number > 2", false),
        ("number IN {1, 2}", true), ("NOT (number IN {1, 2})", false), ("3 > number", true),
        ("title BEGINSWITH 'On'", true), ("title BEGINSWITH 'on'", false),
        ("NOT title BEGINSWITH 'x'", true), ("tags CONTAINS 'red'", true),
        ("NOT tags CONTAINS 'red'", false), ("ANY tags IN {'red', 'x'}", true),
        ("ANY tags BEGINSWITH 're'", true), ("SELF CONTAINS 'house sea'", true),
        ("SELF CONTAINS 'house mountain'", false), ("title == 'ONE HOUSE BY THE SEA'", true),
        ("number == 2 AND title == 'x'", false),
        ("creationDate > CAST(0, 'NSDate')", true), ("recordID == %1$@", true),
        ("parentItem == %2$@", true), ("parentItem == %1$@", false),
        ("creatorUserRecordID == %3$@", true), ("creatorUserRecordID == %1$@", false),
        ("distanceToLocation:fromLocation:(place, %4$@) < 100000", true),
        ("distanceToLocation:fromLocation:(place, %4$@) < 10000", false),
    ]

    private func full(_ name: String) -> CKRecord {
        let record = item(name, "One house by the sea")
        record["number"] = 2
        record["tags"] = ["red", "blue"]
        record["place"] = CLLocation(latitude: 50, longitude: 8)
        record["parentItem"] = CKRecord.Reference(recordID: itemID("p"), action: .none)
        return record
    }

    @Test("T-9, SUB-22: predicates of every operator and class fire as they say")
    func operators() async throws {
        let home = try await Household()
        let arguments: [Any] = [
            itemID("full"), itemID("p"), CKRecord.ID(recordName: CKCurrentUserDefaultName),
            CLLocation(latitude: 50.5, longitude: 8),
        ]
        for (index, row) in Self.rows.enumerated() {
            let subscription = CKQuerySubscription(
                recordType: "FeedItem",
                predicate: NSPredicate(format: row.format, argumentArray: arguments),
                subscriptionID: "\(index)",
                options: .firesOnRecordCreation
            )
            try await home.subscribe(subscription)
            let saved = try await home.phone.privateDatabase.subscription(for: "\(index)")
            #expect(saved == subscription, "\(row.format)")
        }
        try await home.laptop.privateDatabase.save(full("full"))
        try await home.cloud.settle()
        let fired = Set(home.phone.takePushes().compactMap { $0.notification?.subscriptionID })
        for (index, row) in Self.rows.enumerated() {
            #expect(fired.contains("\(index)") == row.matches, "\(row.format)")
        }
    }

    @Test("QUERY-3, SUB-22: a predicate CloudKit refuses is refused when it is saved")
    func refused() async throws {
        let home = try await Household()
        let error = await ckError {
            try await subscribe(home, NSPredicate(format: "title == 'x' OR title == 'y'"))
        }
        #expect(error?.code == .invalidArguments)
        #expect(
            error?.localizedDescription.hasPrefix(
                "Invalid predicate: OR is not supported by CloudKit.") == true)
        #expect(try await home.phone.privateDatabase.allSubscriptions() == [])
    }
}
