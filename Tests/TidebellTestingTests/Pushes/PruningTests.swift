// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

/// T-14: what goes first when a payload is too large, seen through the server.
@Suite("Pruning", .finishesClouds)
struct PruningTests {
    private func push(_ info: CKSubscription.NotificationInfo) async throws -> ReceivedPush {
        let home = try await Household()
        let subscription = CKQuerySubscription(
            recordType: "FeedItem",
            predicate: NSPredicate(value: true),
            subscriptionID: "query"
        )
        subscription.notificationInfo = info
        try await home.phone.privateDatabase.save(subscription)
        let record = item("a", String(repeating: "t", count: 100), zone: .default)
        record["second"] = String(repeating: "s", count: 100)
        record["third"] = String(repeating: "u", count: 100)
        try await home.laptop.privateDatabase.save(record)
        return try await home.phone.nextPush()
    }

    private func part(_ key: String, of push: ReceivedPush) -> [String: Any] {
        let ck = push.userInfo["ck"] as? [String: Any] ?? [:]
        return key == "ck" ? ck : ck[key] as? [String: Any] ?? [:]
    }

    @Test(
        "T-14, PRUNE-1, PRUNE-9, NOTIF-7: a payload over 4096 bytes loses its least important parts and is marked"
    )
    func tooLarge() async throws {
        let info = CKSubscription.NotificationInfo(
            alertBody: String(repeating: "b", count: 3_900),
            subtitle: "subtitle",
            soundName: "default",
            desiredKeys: ["title", "second", "third"]
        )
        let push = try await push(info)
        #expect(push.json.utf8.count <= 4096)
        #expect(push.notification?.isPruned == true)
        #expect(part("ck", of: push)["p"] as? Int == 1)
        let aps = push.userInfo["aps"] as? [String: Any]
        #expect(aps?["sound"] as? String == "default")
        #expect(part("qry", of: push)["af"] == nil)
        #expect(part("qry", of: push)["sid"] as? String == "query")
        #expect(part("qry", of: push)["dbs"] as? Int == 1)
        // The header's list removes the subtitle before anything else.
        #expect((aps?["alert"] as? [String: Any])?["subtitle"] == nil)
    }

    @Test(
        "PRUNE-4: what fits after the first removals stays: without a subtitle's bytes nothing else goes"
    )
    func removesNoMoreThanNeeded() async throws {
        let info = CKSubscription.NotificationInfo(
            alertBody: "body",
            title: "title",
            subtitle: String(repeating: "s", count: 5_000),
            soundName: "default",
            desiredKeys: ["title"]
        )
        let push = try await push(info)
        #expect(push.notification?.isPruned == true)
        let aps = push.userInfo["aps"] as? NSDictionary
        let expected: [String: Any] = [
            "alert": ["body": "body", "title": "title"], "sound": "default",
        ]
        #expect(aps == expected as NSDictionary)
        #expect(part("qry", of: push)["rid"] as? String == "a")
        #expect((part("qry", of: push)["af"] as? [String: Any])?.count == 1)
    }

    @Test("PRUNE-6: the subscription, the database and the kind survive whatever is removed")
    func survivors() async throws {
        let info = CKSubscription.NotificationInfo(
            alertBody: String(repeating: "b", count: 9_000),
            alertLaunchImage: String(repeating: "i", count: 9_000),
            soundName: String(repeating: "s", count: 9_000)
        )
        let push = try await push(info)
        #expect(push.json.utf8.count <= 4096)
        let query = try #require(push.notification as? CKQueryNotification)
        #expect(query.subscriptionID == "query")
        #expect(query.databaseScope == .private)
        #expect(query.isPruned)
    }

    @Test("NOTIF-7: a payload that fits is complete and not marked as pruned")
    func small() async throws {
        let push = try await push(CKSubscription.NotificationInfo(alertBody: "b"))
        #expect(push.notification?.isPruned == false)
        #expect(part("ck", of: push)["p"] == nil)
    }
}
