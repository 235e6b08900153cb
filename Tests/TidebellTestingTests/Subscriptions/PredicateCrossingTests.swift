// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Records that come to match a predicate, and cease to")
struct PredicateCrossingTests {
    /// What the phone is told next: the reason and the record.
    private func next(_ home: Household) async throws -> String {
        let notification = try await home.phone.nextNotification() as? CKQueryNotification
        let query = try #require(notification)
        return "\(query.queryNotificationReason.rawValue) \(query.recordID?.recordName ?? "-")"
    }

    @Test("T-9, SUB-23, SUB-24: the record after a save counts, of a deletion the one before it")
    func crossing() async throws {
        let home = try await Household()
        let subscription = CKQuerySubscription(
            recordType: "FeedItem",
            predicate: NSPredicate(format: "title == %@", "hot"),
            subscriptionID: "hot",
            options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
        )
        try await home.subscribe(subscription, in: .private)
        let database = home.laptop.privateDatabase

        let record = try await database.save(item("a", "cold"))
        try await home.phone.expectNoPushes()
        record["title"] = "hot"
        try await database.save(record)
        #expect(try await next(home) == "2 a")
        record["title"] = "cold"
        try await database.save(record)
        try await database.deleteRecord(withID: record.recordID)
        try await home.phone.expectNoPushes()

        let other = try await database.save(item("b", "hot"))
        #expect(try await next(home) == "1 b")
        try await database.deleteRecord(withID: other.recordID)
        #expect(try await next(home) == "3 b")
    }
}
