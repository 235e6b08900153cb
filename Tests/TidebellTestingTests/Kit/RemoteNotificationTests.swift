// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Payloads made by hand", .finishesClouds)
struct RemoteNotificationTests {
    @Test("NOTIF-2: tests can make the notification of each kind, with all its properties")
    func everyKind() throws {
        let zone = CKRecordZoneNotification(
            fromRemoteNotificationDictionary: RemoteNotification.recordZone(
                subscriptionID: "s",
                zoneID: Household.feed
            )
        )
        #expect(zone?.subscriptionID == "s")
        #expect(zone?.recordZoneID == Household.feed)
        #expect(zone?.databaseScope == .private)
        #expect(zone?.containerIdentifier == TestCloud.defaultContainer)

        let theirs = CKRecordZone.ID(zoneName: "Feed", ownerName: "_them")
        let database = CKDatabaseNotification(
            fromRemoteNotificationDictionary: RemoteNotification.database(
                subscriptionID: "s",
                zoneID: theirs,
                scope: .shared
            )
        )
        #expect(database?.databaseScope == .shared)

        let query = CKQueryNotification(
            fromRemoteNotificationDictionary: RemoteNotification.query(
                subscriptionID: "s",
                recordID: itemID("a", zone: .default),
                reason: .recordDeleted,
                recordFields: ["title": "t"],
                scope: .public
            )
        )
        #expect(query?.recordID == itemID("a", zone: .default))
        #expect(query?.queryNotificationReason == .recordDeleted)
        #expect(query?.recordFields as? [String: String] == ["title": "t"])
        #expect(query?.databaseScope == .public)
        #expect(query?.notificationID != zone?.notificationID)
    }

    @Test("a payload made by hand has the shape of a real one")
    func sameShape() async throws {
        let home = try await Household()
        try await home.subscribe(
            CKRecordZoneSubscription(zoneID: Household.feed, subscriptionID: "zone")
        )
        try await home.laptop.privateDatabase.save(item("a"))
        let real = try await home.phone.nextPush()
        let made = RemoteNotification.recordZone(
            subscriptionID: "zone",
            zoneID: Household.feed,
            container: "iCloud.org.example.feed",
            user: try await home.phone.userRecordName()
        )
        func comparable(_ userInfo: [AnyHashable: Any]) -> NSDictionary {
            var ck = userInfo["ck"] as? [String: Any] ?? [:]
            ck["nid"] = nil
            return ["aps": userInfo["aps"] as Any, "ck": ck] as NSDictionary
        }
        #expect(comparable(made) == comparable(real.userInfo))
    }
}
