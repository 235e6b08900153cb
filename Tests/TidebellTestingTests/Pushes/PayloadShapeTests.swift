// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

/// T-13: what an app gets in `didReceiveRemoteNotification`, to the last key.
@Suite("The payload of each kind", .finishesClouds)
struct PayloadShapeTests {
    /// The dictionary's JSON, after checking that the ID is a lower-case UUID.
    private func json(of push: ReceivedPush) throws -> String {
        let id = try #require(push.notificationID)
        #expect(UUID(uuidString: id) != nil && id == id.lowercased(), "\(id)")
        return push.json.replacingOccurrences(of: id, with: "NID")
    }

    private func query(
        _ info: CKSubscription.NotificationInfo,
        options: CKQuerySubscription.Options = [.firesOnRecordCreation],
        type: String = "FeedItem"
    ) -> CKQuerySubscription {
        let subscription = CKQuerySubscription(
            recordType: type,
            predicate: NSPredicate(value: true),
            subscriptionID: "query",
            options: options
        )
        subscription.notificationInfo = info
        return subscription
    }

    @Test("T-13, PUSH-16, PUSH-17, PUSH-18: a silent zone push")
    func zone() async throws {
        let home = try await Household()
        try await home.subscribe(
            CKRecordZoneSubscription(zoneID: Household.feed, subscriptionID: "zone")
        )
        try await home.laptop.privateDatabase.save(item("a"))
        let user = try await home.phone.userRecordName()
        #expect(
            try json(of: try await home.phone.nextPush())
                == #"{"aps":{"content-available":1},"ck":{"ce":2,"cid":"iCloud.org.example.feed","#
                + #""ckuserid":"\#(user)","fet":{"dbs":1,"sid":"zone","zid":"Feed","#
                + #""zoid":"\#(user)"},"nid":"NID"}}"#
        )
    }

    @Test("T-13, PUSH-19, SUB-55: a silent database push names the zone and database 1")
    func database() async throws {
        let home = try await Household()
        try await home.subscribe(CKDatabaseSubscription(subscriptionID: "all"))
        try await home.laptop.privateDatabase.save(item("a"))
        let user = try await home.phone.userRecordName()
        #expect(
            try json(of: try await home.phone.nextPush())
                == #"{"aps":{"content-available":1},"ck":{"ce":2,"cid":"iCloud.org.example.feed","#
                + #""ckuserid":"\#(user)","met":{"dbs":1,"sid":"all","zid":"Feed","#
                + #""zoid":"\#(user)"},"nid":"NID"}}"#
        )
    }

    @Test(
        "T-13, PUSH-18, PUSH-23: a query push in the private database, for each reason with its fields"
    )
    func privateQuery() async throws {
        let home = try await Household()
        let info = CKSubscription.NotificationInfo(
            desiredKeys: ["title", "missing"],
            shouldSendContentAvailable: true
        )
        let subscription = query(
            info,
            options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
        )
        try await home.phone.privateDatabase.save(subscription)
        let database = home.laptop.privateDatabase
        let record = try await database.save(item("a", "one", zone: .default))
        record["title"] = "two"
        try await database.save(record)
        try await database.deleteRecord(withID: record.recordID)
        let user = try await home.phone.userRecordName()
        for (reason, title) in [(1, "one"), (2, "two"), (3, "two")] {
            #expect(
                try json(of: try await home.phone.nextPush())
                    == #"{"aps":{"content-available":1},"#
                    + #""ck":{"ce":2,"cid":"iCloud.org.example.feed","ckuserid":"\#(user)","#
                    + #""nid":"NID","qry":{"af":{"title":"\#(title)"},"dbs":1,"fo":\#(reason),"#
                    + #""rid":"a","sid":"query","zid":"_defaultZone","zoid":"\#(user)"}}}"#
            )
        }
    }

    @Test(
        "T-13, PUSH-18, PUSH-19: a query push in the public database is of database 2 and _defaultOwner"
    )
    func publicQuery() async throws {
        let home = try await Household()
        try await home.phone.publicDatabase.save(query(.silent))
        try await home.other.publicDatabase.save(item("a", zone: .default))
        let user = try await home.phone.userRecordName()
        #expect(
            try json(of: try await home.phone.nextPush())
                == #"{"aps":{"content-available":1},"ck":{"ce":2,"cid":"iCloud.org.example.feed","#
                + #""ckuserid":"\#(user)","nid":"NID","qry":{"dbs":2,"fo":1,"rid":"a","#
                + #""sid":"query","zid":"_defaultZone","zoid":"_defaultOwner"}}}"#
        )
        #expect(try await home.laptop.nextNotification()?.subscriptionID == "query")
    }

    @Test("T-13, PUSH-24, NINFO-2, NINFO-10: an alert of text alone is a string")
    func textAlert() async throws {
        let aps = try await aps(
            of: CKSubscription.NotificationInfo(alertBody: "New", soundName: "default"))
        #expect(aps == #"{"alert":"New","sound":"default"}"#)
    }

    @Test("T-13, PUSH-24, NINFO-5, NINFO-13, NINFO-14: title, subtitle and body are a dictionary")
    func dictionaryAlert() async throws {
        let info = CKSubscription.NotificationInfo(
            alertBody: "body",
            title: "title",
            subtitle: "subtitle",
            shouldSendMutableContent: true,
            category: "feed"
        )
        #expect(
            try await aps(of: info)
                == #"{"alert":{"body":"body","subtitle":"subtitle","title":"title"},"#
                + #""category":"feed","mutable-content":1}"#
        )
    }

    @Test(
        "NINFO-3, NINFO-4, NINFO-6, NINFO-7, NINFO-8, NINFO-9, NINFO-21: localized alerts carry keys and field values"
    )
    func localizedAlert() async throws {
        let info = CKSubscription.NotificationInfo(
            alertBody: "ignored",
            alertLocalizationKey: "BODY",
            alertLocalizationArgs: ["title", "missing", "count"],
            title: "ignored",
            titleLocalizationKey: "TITLE",
            titleLocalizationArgs: ["title"],
            subtitleLocalizationKey: "SUBTITLE",
            alertActionLocalizationKey: "OPEN",
            alertLaunchImage: "launch.png"
        )
        #expect(
            try await aps(of: info)
                == #"{"alert":{"action-loc-key":"OPEN","launch-image":"launch.png","#
                + #""loc-args":["hello","","7"],"loc-key":"BODY","subtitle-loc-key":"SUBTITLE","#
                + #""title-loc-args":["hello"],"title-loc-key":"TITLE"}}"#
        )
    }

    @Test("NINFO-16, PUSH-27: desired keys of every type the payload may carry")
    func desiredKeys() async throws {
        let home = try await Household()
        let info = CKSubscription.NotificationInfo(
            alertBody: "x",
            desiredKeys: ["date", "place", "ref"]
        )
        try await home.phone.privateDatabase.save(query(info))
        let record = item("a", zone: .default)
        record["date"] = Date(timeIntervalSince1970: 1_700_000_000.5)
        record["place"] = CLLocation(latitude: 1.5, longitude: 2.5)
        record["ref"] = CKRecord.Reference(recordID: itemID("b", zone: .default), action: .none)
        try await home.laptop.privateDatabase.save(record)
        let push = try await home.phone.nextPush()
        let ck = push.userInfo["ck"] as? [String: Any]
        let fields = (ck?["qry"] as? [String: Any])?["af"] as? [String: Any]
        #expect(fields?["date"] as? Int64 == 1_700_000_000_500)
        let location = fields?["place"] as? [String: Any]
        #expect(location?["latitude"] as? Double == 1.5)
        #expect(location?["longitude"] as? Double == 2.5)
        let reference = fields?["ref"] as? [String: Any]
        #expect(reference?["recordName"] as? String == "b")
        #expect(reference?["action"] as? String == "NONE")
    }

    @Test("NINFO-17: text longer than 100 characters is cut to 100 in fields and arguments")
    func longText() async throws {
        let home = try await Household()
        let info = CKSubscription.NotificationInfo(
            alertLocalizationKey: "KEY",
            alertLocalizationArgs: ["title"],
            desiredKeys: ["title"]
        )
        try await home.phone.privateDatabase.save(query(info))
        let long = String(repeating: "é", count: 150)
        try await home.laptop.privateDatabase.save(item("a", long, zone: .default))
        let notification = try await home.phone.nextNotification() as? CKQueryNotification
        #expect(notification?.recordFields?["title"] as? String == String(long.prefix(100)))
        #expect(notification?.isPruned == false)
    }

    /// The `aps` dictionary of a push that `info` configures.
    private func aps(of info: CKSubscription.NotificationInfo) async throws -> String {
        let home = try await Household()
        try await home.phone.privateDatabase.save(query(info))
        let record = item("a", "hello", zone: .default)
        record["count"] = 7
        try await home.laptop.privateDatabase.save(record)
        let push = try await home.phone.nextPush()
        let aps = try #require(push.userInfo["aps"])
        let data = try JSONSerialization.data(withJSONObject: aps, options: .sortedKeys)
        return String(decoding: data, as: UTF8.self)
    }
}
