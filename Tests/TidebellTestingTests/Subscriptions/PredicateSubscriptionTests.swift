// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("The predicate of a query subscription", .finishesClouds)
struct PredicateSubscriptionTests {
    private func subscribe(
        _ home: Household, _ predicate: NSPredicate,
        _ options: CKQuerySubscription.Options = [
            .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
        ],
        id: String = "query"
    ) async throws {
        try await home.subscribe(
            CKQuerySubscription(
                recordType: "FeedItem", predicate: predicate, subscriptionID: id,
                options: options
            )
        )
    }

    /// Everything a device received since the last look.
    private func received(_ home: Household) async throws -> [String] {
        try await home.cloud.settle()
        return try home.phone.takePushes().map { push in
            let query = try #require(push.notification as? CKQueryNotification)
            return "\(query.queryNotificationReason.rawValue) \(query.recordID?.recordName ?? "-")"
        }
    }

    @Test("T-9, SUB-24: an update that starts to match fires as updated, one that stops does not")
    func becomesTrueAndFalse() async throws {
        let home = try await Household()
        try await subscribe(home, NSPredicate(format: "title == %@", "low"))
        let database = home.laptop.privateDatabase
        let record = try await database.save(item("a", "high"))
        #expect(try await received(home) == [])
        record["title"] = "Low"
        try await database.save(record)
        #expect(try await received(home) == ["2 a"])
        record["title"] = "high"
        try await database.save(record)
        #expect(try await received(home) == [])
        // A deletion is matched by the record as it was before.
        try await database.deleteRecord(withID: record.recordID)
        #expect(try await received(home) == [])
    }

    @Test("SUB-22, SUB-23: only records that match the predicate fire, their deletions too")
    func matching() async throws {
        let home = try await Household()
        try await subscribe(home, NSPredicate(format: "title BEGINSWITH %@", "tide"))
        let database = home.laptop.privateDatabase
        let record = try await database.save(item("a", "tide table"))
        _ = try await database.save(item("b", "Tide table"))
        try await database.deleteRecord(withID: record.recordID)
        #expect(try await received(home) == ["1 a", "3 a"])
    }

    @Test("SUB-22, QUERY-10: one record can be watched by its ID")
    func oneRecord() async throws {
        let home = try await Household()
        let wanted = item("wanted").recordID
        try await subscribe(home, NSPredicate(format: "recordID == %@", wanted))
        for name in ["other", "wanted"] {
            _ = try await home.laptop.privateDatabase.save(item(name))
        }
        #expect(try await received(home) == ["1 wanted"])
    }

    @Test("SUB-19, SUB-24: firesOnce waits for the first record that matches")
    func firesOnce() async throws {
        let home = try await Household()
        try await subscribe(
            home, NSPredicate(format: "title == %@", "low"),
            [.firesOnRecordCreation, .firesOnce]
        )
        for (name, title) in [("a", "high"), ("b", "low"), ("c", "low")] {
            _ = try await home.laptop.privateDatabase.save(item(name, title))
        }
        #expect(try await received(home) == ["1 b"])
    }

    @Test("SUB-22: a predicate on a field of another type is an error on save")
    func wrongType() async throws {
        let home = try await Household()
        _ = try await home.laptop.privateDatabase.save(item("a", "low"))
        let error = await #expect(throws: CKError.self) {
            try await subscribe(home, NSPredicate(format: "title == %d", 1))
        }
        #expect(error?.code == .invalidArguments)
    }

    @Test("SUB-34: a predicate that matches the same is a duplicate, another is not")
    func duplicates() async throws {
        let home = try await Household()
        try await subscribe(home, NSPredicate(format: "title == %@", "low"), id: "first")
        let error = await #expect(throws: CKError.self) {
            try await subscribe(home, NSPredicate(format: "title == %@", "LOW"), id: "second")
        }
        #expect(error?.code == .serverRejectedRequest)
        try await subscribe(home, NSPredicate(format: "title == %@", "high"), id: "third")
    }
}
