// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Predicates by operator and class", .finishesClouds)
struct PredicateOperatorTests {
    /// Predicates and whether ``full(_:)`` matches them.
    static let rows: [(format: String, matches: Bool)] = [
        ("FALSEPREDICATE", false), ("number BETWEEN {1, 3}", true), ("number > 2", false),
        ("number IN {1, 2}", true), ("NOT (number IN {1, 2})", false), ("3 > number", true),
        ("title BEGINSWITH 'On'", true), ("title BEGINSWITH 'on'", false),
        ("NOT title BEGINSWITH 'x'", true), ("tags CONTAINS 'red'", true),
        ("NOT tags CONTAINS 'red'", false), ("ANY tags IN {'red', 'x'}", true),
        ("ANY tags BEGINSWITH 're'", true), ("SELF CONTAINS 'house sea'", true),
        ("SELF CONTAINS 'house mountain'", true), ("SELF CONTAINS 'mountain'", false),
        ("SELF CONTAINS 'house' AND SELF CONTAINS 'mountain'", false),
        ("title == 'ONE HOUSE BY THE SEA'", true),
        ("number == 2 AND title == 'x'", false),
        ("creationDate > CAST(0, 'NSDate')", true), ("recordID == %1$@", true),
        ("parentItem == %2$@", true), ("parentItem == %1$@", false),
        ("creatorUserRecordID == %3$@", true), ("creatorUserRecordID == %5$@", false),
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

    @Test("T-9, SUB-22: predicates of every operator and class fire as they describe")
    func operators() async throws {
        let home = try await Household()
        let arguments: [Any] = [
            itemID("full"), itemID("p"), CKRecord.ID(recordName: CKCurrentUserDefaultName),
            CLLocation(latitude: 50.5, longitude: 8), CKRecord.ID(recordName: "_nobody"),
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
            try await home.subscribe(
                CKQuerySubscription(
                    recordType: "FeedItem",
                    predicate: NSPredicate(format: "title == 'x' OR title == 'y'"),
                    subscriptionID: "query"
                )
            )
        }
        #expect(error?.code == .invalidArguments)
        #expect(
            error?.localizedDescription.hasPrefix(
                "Invalid predicate: OR is not supported by CloudKit.") == true)
        #expect(try await home.phone.privateDatabase.allSubscriptions() == [])
    }
}
