// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellTesting

@Suite("Snapshots, fixtures and beginning anew", .finishesClouds)
struct SnapshotTests {
    @Test(
        "a restored cloud holds what it held: users made since are gone, devices work and are notified",
        .onSQLite
    )
    func restore() async throws {
        let home = try await Household()
        try await home.subscribe(CKDatabaseSubscription(subscriptionID: "all"))
        try await home.laptop.privateDatabase.save(item("a", "before"))
        _ = try await home.phone.nextPush()
        let held = try await home.cloud.dump()
        let token = try await home.phone.privateDatabase.recordZoneChanges(
            inZoneWith: Household.feed, since: nil
        ).changeToken
        let snapshot = try await home.cloud.snapshot()

        let late = try await home.cloud.device(user: "cora")
        try await late.privateDatabase.save(CKRecordZone(zoneName: "Late"))
        try await home.laptop.privateDatabase.save(item("b", "after"))
        try await home.laptop.privateDatabase.deleteRecord(withID: itemID("a"))
        try await home.cloud.restore(snapshot)

        #expect(try await home.cloud.dump() == held)
        let zones = try await late.privateDatabase.allRecordZones().map(\.zoneID.zoneName)
        #expect(zones == [CKRecordZone.ID.defaultZoneName])
        #expect(
            await ckCode {
                _ = try await home.phone.privateDatabase.recordZoneChanges(
                    inZoneWith: Household.feed, since: token)
            } == .changeTokenExpired)
        try await home.laptop.privateDatabase.save(item("c"))
        _ = try await home.phone.nextPush()
        FinishedClouds.add(home.cloud, late)
    }

    @Test("a snapshot can be restored more than once, each time the same", .onSQLite)
    func restoredTwice() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        try await phone.privateDatabase.save(CKRecordZone(zoneID: Household.feed))
        let held = try await cloud.dump()
        let snapshot = try await cloud.snapshot()
        for name in ["a", "b"] {
            try await phone.privateDatabase.save(item(name))
            try await cloud.restore(snapshot)
            #expect(try await cloud.dump() == held)
        }
        try await cloud.finish()
    }

    @Test("a cloud that was reset is empty; its devices are signed in and notified as before")
    func reset() async throws {
        let home = try await Household()
        try await home.subscribe(CKDatabaseSubscription(subscriptionID: "all"))
        try await home.laptop.privateDatabase.save(item("a"))
        home.phone.inject(.quotaExceeded, into: .modifyZones)
        home.other.goOffline()
        let before = try await home.phone.userRecordName()

        try await home.cloud.reset()

        #expect(try await home.cloud.dump() == "")
        #expect(try await home.phone.userRecordName() != before)
        #expect(try await home.laptop.userRecordName() == home.phone.userRecordName())
        try await home.laptop.privateDatabase.save(CKRecordZone(zoneID: Household.feed))
        try await home.subscribe(CKDatabaseSubscription(subscriptionID: "all"))
        try await home.laptop.privateDatabase.save(item("a"))
        let push = try await home.phone.nextPush()
        #expect(push.notification?.subscriptionID == "all")
        try await home.other.goOnline()
        #expect(try await home.other.privateDatabase.allRecordZones().count == 1)
    }

    @Test("records of a file are saved as their users, and devices are notified")
    func load() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        try await phone.privateDatabase.save(CKRecordZone(zoneName: "Notes"))
        try await phone.registerForRemoteNotifications()
        let subscription = CKDatabaseSubscription(subscriptionID: "all")
        subscription.notificationInfo = .silent
        try await phone.privateDatabase.save(subscription)
        let files = try Files()
        let file = try files.write(
            "fixtures.json",
            """
            {
              "private": {
                "anna": {
                  "Notes": [
                    { "recordType": "Note", "recordName": "shopping", "fields": {
                      "text": "milk", "count": 3, "price": 1.5,
                      "due": { "value": 1767268800000, "type": "TIMESTAMP" } } }
                  ],
                  "_defaultZone": [ { "recordType": "Note", "recordName": "loose" } ]
                }
              },
              "public": { "ben": [ { "recordType": "City", "recordName": "ulm", "fields": { "since": 854 } } ] }
            }
            """)
        try await cloud.load(file.path)
        _ = try await phone.nextPush()
        #expect(
            try await cloud.dump() == """
                iCloud.org.example.app development
                  public
                    zone _defaultZone
                      City ulm {"since":{"value":854,"type":"INT64"}}
                  anna private
                    zone Notes
                      Note shopping {"count":{"value":3,"type":"INT64"},\
                "due":{"value":1767268800000,"type":"TIMESTAMP"},\
                "price":{"value":1.5,"type":"DOUBLE"},"text":{"value":"milk","type":"STRING"}}
                    zone _defaultZone
                      Note loose {}
                    subscription all database
                """)
        try await cloud.finish()
    }

    @Test(
        "a file that cannot be loaded names what is wrong",
        arguments: [
            ("[]", "the document must be an object"),
            (#"{"privat": {}}"#, "'privat' is not one of 'container', 'private' and 'public'"),
            (
                #"{"private": {"anna": {"Notes": [{"recordType": "No te", "recordName": "n"}]}}}"#,
                "record 'n': "
            ),
            (
                #"{"private": {"anna": {"Notes": {}}}}"#,
                "'private.anna.Notes' must be a list of records"
            ),
        ])
    func refused(text: String, reason: String) async throws {
        let cloud = try await TestCloud()
        let files = try Files()
        let file = try files.write("f.json", text)
        let error = await #expect(throws: TestCloudError.self) { try await cloud.load(file.path) }
        #expect(error?.description.hasPrefix("\(file.path): \(reason)") == true, "\(error as Any)")
    }

    @Test("a file is looked for beside the test")
    func beside() async throws {
        let cloud = try await TestCloud()
        let error = await #expect(throws: TestCloudError.self) { try await cloud.load("none.json") }
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
        #expect(error?.description.hasPrefix("\(folder)/none.json cannot be read: ") == true)
    }
}
