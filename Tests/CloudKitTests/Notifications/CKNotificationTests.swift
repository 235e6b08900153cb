// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@testable import CloudKit

@Suite struct CKNotificationTests {
    @available(*, deprecated)
    private func parsed(_ notification: CKNotification) -> PushRows.Parsed {
        var parsed = PushRows.Parsed(kind: "none", container: notification.containerIdentifier)
        parsed.owner = notification.subscriptionOwnerUserRecordID?.recordName
        parsed.nid = notification.notificationID != nil
        parsed.subscription = notification.subscriptionID
        parsed.alertBody = notification.alertBody
        parsed.title = notification.title
        parsed.subtitle = notification.subtitle
        parsed.badge = notification.badge?.intValue
        parsed.sound = notification.soundName
        parsed.category = notification.category
        if let query = notification as? CKQueryNotification {
            parsed.kind = query.notificationType == .query ? "query" : "wrong type"
            parsed.scope = query.databaseScope
            parsed.zone = query.recordID?.zoneID
            parsed.record = query.recordID?.recordName
            parsed.reason = query.queryNotificationReason
            parsed.fields = query.recordFields as? [String: String]
        } else if let zone = notification as? CKRecordZoneNotification {
            parsed.kind = zone.notificationType == .recordZone ? "recordZone" : "wrong type"
            parsed.scope = zone.databaseScope
            parsed.zone = zone.recordZoneID
        } else if let database = notification as? CKDatabaseNotification {
            parsed.kind = database.notificationType == .database ? "database" : "wrong type"
            parsed.scope = database.databaseScope
            parsed.zone = database.content.zoneID
        }
        return parsed
    }

    @Test(
        "T-15, NOTIF-3, NOTIF-4, NOTIF-6: every push of section 6 parses", arguments: PushRows.rows)
    @available(*, deprecated)
    func sectionSix(row: PushRows.Row) throws {
        let notification = try #require(CKNotification(fromRemoteNotificationDictionary: row.push))
        #expect(parsed(notification) == row.expected)
        #expect(!notification.isPruned)
    }

    @Test("T-15: section 6 is complete")
    func complete() {
        let numbers = Set(
            PushRows.rows.map { $0.name.split(separator: ",")[0].dropFirst() }.compactMap {
                Int($0)
            }
        )
        #expect(numbers == Set(1...21))
    }

    @Test("PUSH-16: a push without ck is not one of CloudKit")
    func withoutCK() {
        #expect(CKNotification(fromRemoteNotificationDictionary: [:]) == nil)
        #expect(CKNotification(fromRemoteNotificationDictionary: ["aps": ["alert": "a"]]) == nil)
        #expect(CKNotification(fromRemoteNotificationDictionary: ["ck": "text"]) == nil)
    }

    @Test("NOTIF-1: the raw values of the kinds are 1 to 4")
    func kinds() {
        #expect(CKNotification.NotificationType.query.rawValue == 1)
        #expect(CKNotification.NotificationType.recordZone.rawValue == 2)
        #expect(CKNotification.NotificationType.readNotification.rawValue == 3)
        #expect(CKNotification.NotificationType.database.rawValue == 4)
        #expect(CKQueryNotification.Reason.recordCreated.rawValue == 1)
        #expect(CKQueryNotification.Reason.recordUpdated.rawValue == 2)
        #expect(CKQueryNotification.Reason.recordDeleted.rawValue == 3)
    }

    @Test("NOTIF-1: the initializer of a subclass returns that subclass or nil")
    func subclasses() {
        let zone: [AnyHashable: Any] = ["ck": ["fet": ["zid": "Z"]]]
        let parsed = CKRecordZoneNotification(fromRemoteNotificationDictionary: zone)
        #expect(parsed?.recordZoneID == CKRecordZone.ID(zoneName: "Z"))
        #expect(CKQueryNotification(fromRemoteNotificationDictionary: zone) == nil)
        #expect(CKDatabaseNotification(fromRemoteNotificationDictionary: zone) == nil)
    }

    @Test("NOTIF-1: a switch over notificationType and a cast find the same subclass")
    func switching() throws {
        let push: [AnyHashable: Any] = ["ck": ["met": ["dbs": 3]]]
        let notification = try #require(CKNotification(fromRemoteNotificationDictionary: push))
        switch notification.notificationType {
        case .database: #expect((notification as? CKDatabaseNotification)?.databaseScope == .shared)
        default: Issue.record("no database notification")
        }
    }

    @Test("PUSH-17, NOTIF-7: p marks a pruned push")
    func pruned() {
        let push: [AnyHashable: Any] = ["ck": ["p": 1, "met": ["dbs": 1]] as [String: Any]]
        #expect(CKNotification(fromRemoteNotificationDictionary: push)?.isPruned == true)
    }

    @Test(
        "PUSH-18, PUSH-19: dbs 1 is private, 2 public, 3 shared",
        arguments: [(1, CKDatabase.Scope.private), (2, .public), (3, .shared)]
    )
    func scopes(number: Int, scope: CKDatabase.Scope) {
        let push: [AnyHashable: Any] = ["ck": ["met": ["dbs": number]]]
        let notification = CKDatabaseNotification(fromRemoteNotificationDictionary: push)
        #expect(notification?.databaseScope == scope)
    }

    @Test("PUSH-20: a met without anything is a database notification")
    func emptyMet() {
        let push: [AnyHashable: Any] = ["ck": ["met": [String: Any]()]]
        let notification = CKNotification(fromRemoteNotificationDictionary: push)
        #expect(notification is CKDatabaseNotification)
        #expect(notification?.subscriptionID == nil)
    }

    @Test("PUSH-21: a ck without a kind is a notification of no subclass")
    func noKind() {
        let push: [AnyHashable: Any] = ["ck": ["ce": 2, "cid": "c"] as [String: Any]]
        let notification = CKNotification(fromRemoteNotificationDictionary: push)
        #expect(notification != nil)
        #expect(notification.map { type(of: $0) == CKNotification.self } == true)
        #expect(notification?.subscriptionID == nil)
    }

    @Test("PUSH-22: numbers of every width and form are understood")
    func numbers() {
        let forms: [Any] = [3, Int64(3), Int32(3), UInt8(3), NSNumber(value: 3), 3.0]
        let scopes = forms.map { number in
            let push: [AnyHashable: Any] = ["ck": ["met": ["dbs": number]]]
            return CKDatabaseNotification(fromRemoteNotificationDictionary: push)?.databaseScope
        }
        #expect(scopes == Array(repeating: .shared, count: forms.count))
    }

    @Test("PUSH-22: a push read with JSONSerialization parses")
    func json() throws {
        let text = """
            {"aps":{"alert":{"body":"b"},"badge":3},\
            "ck":{"cid":"c","nid":"n","qry":{"dbs":2,"fo":2,"rid":"r","sid":"s","zid":"Z",\
            "zoid":"_defaultOwner","af":{"n":1.5}}}}
            """
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let push = try #require(object as? [AnyHashable: Any])
        let notification = try #require(CKQueryNotification(fromRemoteNotificationDictionary: push))
        #expect(notification.databaseScope == .public)
        #expect(notification.queryNotificationReason == .recordUpdated)
        #expect(notification.recordFields?["n"] as? Double == 1.5)
        #expect(notification.content.badge == 3)
        #expect(notification.recordID?.zoneID == CKRecordZone.ID(zoneName: "Z"))
    }

    @Test("PUSH-22: a push in Foundation's classes parses")
    func foundationClasses() throws {
        let ck: NSDictionary = [
            "met": ["dbs": NSNumber(value: 3), "sid": NSString("s")] as NSDictionary
        ]
        let push = try #require((["ck": ck] as NSDictionary) as? [AnyHashable: Any])
        let notification = CKDatabaseNotification(fromRemoteNotificationDictionary: push)
        #expect(notification?.databaseScope == .shared)
        #expect(notification?.subscriptionID == "s")
    }

    @Test("PUSH-23: a deletion keeps its fields")
    func fieldsOfDeletion() {
        let push: [AnyHashable: Any] = [
            "ck": ["qry": ["fo": 3, "af": ["a": "b"]] as [String: Any]]
        ]
        let notification = CKQueryNotification(fromRemoteNotificationDictionary: push)
        #expect(notification?.queryNotificationReason == .recordDeleted)
        #expect(notification?.recordFields as? [String: String] == ["a": "b"])
        #expect(notification?.recordID == nil)
    }

    @Test("PUSH-27: locations and references among the fields are objects, times numbers")
    func fieldTypes() {
        let fields: [String: Any] = [
            "place": ["latitude": 52.5, "longitude": 13, "timestamp": 1_000] as [String: Any],
            "link": [
                "recordName": "r", "action": "DELETE_SELF",
                "zoneID": ["zoneName": "Z", "ownerRecordName": "_you"],
            ] as [String: Any],
            "time": 1_000,
            "text": "t",
        ]
        let push: [AnyHashable: Any] = ["ck": ["qry": ["af": fields]]]
        let read = CKQueryNotification(fromRemoteNotificationDictionary: push)?.recordFields
        let location = read?["place"] as? CLLocation
        #expect(location?.coordinate.latitude == 52.5)
        #expect(location?.coordinate.longitude == 13)
        #expect(location?.timestamp == Date(timeIntervalSince1970: 1))
        let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_you")
        let id = CKRecord.ID(recordName: "r", zoneID: zoneID)
        let link = read?["link"] as? CKRecord.Reference
        #expect(link == CKRecord.Reference(recordID: id, action: .deleteSelf))
        #expect(read?["time"] as? Int == 1_000)
        #expect(read?["text"] as? String == "t")
    }

    @Test("NOTIF-5: without desired keys there are no fields")
    func noFields() {
        let push: [AnyHashable: Any] = ["ck": ["qry": ["fo": 1]]]
        #expect(CKQueryNotification(fromRemoteNotificationDictionary: push)?.recordFields == nil)
    }

    @Test("PUSH-24, PUSH-25: every key of aps is read, from the alert or beside it")
    func alert() {
        let alert: [String: Any] = [
            "body": "b", "loc-key": "lk", "loc-args": ["a", 1], "title": "t",
            "title-loc-key": "tk", "title-loc-args": ["ta"], "subtitle": "s",
            "subtitle-loc-key": "sk", "subtitle-loc-args": ["sa"], "action-loc-key": "ak",
            "launch-image": "li",
        ]
        let aps: [String: Any] = [
            "alert": alert, "badge": 2, "sound": ["name": "bell"], "category": "c",
        ]
        let push: [AnyHashable: Any] = ["aps": aps, "ck": [String: Any]()]
        var expected = WirePushPayload()
        expected.alert.body = "b"
        expected.alert.localizationKey = "lk"
        expected.alert.localizationArgs = ["a", "1"]
        expected.alert.title = "t"
        expected.alert.titleLocalizationKey = "tk"
        expected.alert.titleLocalizationArgs = ["ta"]
        expected.alert.subtitle = "s"
        expected.alert.subtitleLocalizationKey = "sk"
        expected.alert.subtitleLocalizationArgs = ["sa"]
        expected.alert.actionLocalizationKey = "ak"
        expected.alert.launchImage = "li"
        expected.badge = 2
        expected.soundName = "bell"
        expected.category = "c"
        #expect(CKNotification(fromRemoteNotificationDictionary: push)?.content == expected)
    }

    @Test("values of the wrong type count as missing, unknown keys are ignored")
    func nonsense() {
        let push: [AnyHashable: Any] = [
            "aps": "text",
            "ck": [
                "cid": 5, "nid": ["a"], "ckuserid": NSNull(), "new": true,
                "qry": ["dbs": "x", "fo": 99, "rid": 5, "sid": 1, "zid": NSNull(), "af": 3]
                    as [String: Any],
            ] as [String: Any],
        ]
        let notification = CKQueryNotification(fromRemoteNotificationDictionary: push)
        #expect(notification != nil)
        var expected = WirePushPayload()
        expected.kind = .query
        #expect(notification?.content == expected)
        #expect(notification?.recordFields == nil)
    }

    @Test("NOTIF-9: notification IDs are opaque, and compare by value")
    func ids() {
        #expect(CKNotification.ID("a") == CKNotification.ID("a"))
        #expect(CKNotification.ID("a") != CKNotification.ID("b"))
        #expect(CKNotification.ID() != CKNotification.ID())
        #expect(Set([CKNotification.ID("a"), CKNotification.ID("a")]).count == 1)
    }
}

/// Zone owners in pushes name the user by ID, programs by a constant.
@Suite struct NotificationOwnerTests {
    private func zoneID(_ ck: [String: Any]) -> CKRecordZone.ID? {
        CKRecordZoneNotification(fromRemoteNotificationDictionary: ["ck": ck])?.recordZoneID
    }

    @Test("NOTIF-10: zones of the private database are the user's own, whatever their owner's ID")
    func privateZone() {
        let zone: [String: Any] = ["zid": "Z", "zoid": "_me", "dbs": 1]
        #expect(zoneID(["fet": zone]) == CKRecordZone.ID(zoneName: "Z"))
    }

    @Test("NOTIF-10: the ID of the subscription's owner becomes CKCurrentUserDefaultName")
    func ownZone() {
        let zone = ["zid": "Z", "zoid": "_me"]
        #expect(zoneID(["fet": zone, "ckuserid": "_me"]) == CKRecordZone.ID(zoneName: "Z"))
    }

    @Test("NOTIF-10: the ID of another user stays, and any while the user is unknown")
    func otherZone() {
        let zone: [String: Any] = ["zid": "Z", "zoid": "_other", "dbs": 3]
        let expected = CKRecordZone.ID(zoneName: "Z", ownerName: "_other")
        #expect(zoneID(["fet": zone, "ckuserid": "_me"]) == expected)
        #expect(zoneID(["fet": ["zid": "Z", "zoid": "_other"]]) == expected)
    }
}
