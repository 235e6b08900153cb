// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore
import TidebellWire

/// The payloads of T-13: compared as text, key by key.
@Suite struct NotificationBuilderTests {
    private let head = """
        "ce":2,"cid":"iCloud.org.example.feed","ckuserid":"_0123456789abcdef0123456789abcdef",\
        "nid":"6f1c2a5e-3b7d-4c89-9e10-a1b2c3d4e5f6"
        """
    private let zone = """
        "zid":"feed","zoid":"_0123456789abcdef0123456789abcdef"
        """

    private func query(
        _ info: WireNotificationInfo?, _ fields: [String: Field] = [:],
        _ event: RecordEvent = .created
    ) -> WirePushPayload? {
        Fixture.payload(
            Fixture.subscription(.query, type: "FeedItem", info: info),
            .records([Fixture.change(event, fields: fields)])
        )
    }

    private func aps(_ info: WireNotificationInfo?, _ fields: [String: Field] = [:]) -> String? {
        query(info, fields).map {
            let text = String(decoding: $0.encoded(), as: UTF8.self)
            return text.components(separatedBy: ",\"ck\":")[0]
        }
    }

    private func alert(_ info: WireNotificationInfo) -> WireAlert? { query(info)?.alert }

    // MARK: Shapes

    @Test("T-13, PUSH-16 to 18: a database push, P10")
    func database() {
        let info = Fixture.info { $0.shouldSendContentAvailable = true }
        let subscription = Fixture.subscription(.database, id: "all", info: info)
        #expect(
            Fixture.json(subscription, .zoneCreated) == """
                {"aps":{"content-available":1},"ck":{\(head),"met":{"sid":"all","dbs":1,\(zone)}}}
                """
        )
    }

    @Test("T-13, PUSH-18: a database push of the shared database has dbs 3")
    func sharedDatabase() {
        let subscription = Fixture.subscription(.database, id: "all")
        #expect(
            Fixture.json(subscription, .zoneDeleted(.deleted, subscriptions: []), in: .shared)
                == """
                {"aps":{"content-available":1},"ck":{\(head),"met":{"sid":"all","dbs":3,\(zone)}}}
                """
        )
    }

    @Test("T-13, PUSH-17: a record zone push, P18")
    func recordZone() {
        let info = Fixture.info {
            $0.alert.body = "Feed changed"
            $0.category = "feed"
        }
        let subscription = Fixture.subscription(.zone, id: "feed-changes", zone: "feed", info: info)
        #expect(
            Fixture.json(subscription, .records([Fixture.change()])) == """
                {"aps":{"alert":"Feed changed","category":"feed"},\
                "ck":{\(head),"fet":{"sid":"feed-changes","dbs":1,\(zone)}}}
                """
        )
    }

    @Test("T-13: a silent query push of the private default zone, P4")
    func silentQuery() {
        let subscription = Fixture.subscription(.query, id: "new", type: "FeedItem")
        #expect(
            Fixture.json(subscription, .records([Fixture.change()]), zone: "_defaultZone") == """
                {"aps":{"content-available":1},"ck":{\(head),"qry":{"sid":"new","dbs":1,\
                "zid":"_defaultZone","zoid":"_0123456789abcdef0123456789abcdef",\
                "rid":"item-1","fo":1}}}
                """
        )
    }

    @Test("T-13: a silent query push of the public database, P8")
    func publicQuery() {
        let subscription = Fixture.subscription(.query, id: "new", type: "FeedItem")
        #expect(
            Fixture.json(
                subscription, .records([Fixture.change(.updated)]), in: .public,
                zone: "_defaultZone"
            ) == """
                {"aps":{"content-available":1},"ck":{\(head),"qry":{"sid":"new","dbs":2,\
                "zid":"_defaultZone","zoid":"_defaultOwner","rid":"item-1","fo":2}}}
                """
        )
    }

    @Test("T-13, PUSH-23: a visual query push with title and fields, P6, of a deletion too, P20")
    func visualQuery() {
        let info = Fixture.info {
            $0.alert.body = "An item is gone"
            $0.alert.title = "Feed"
            $0.soundName = "default"
            $0.desiredKeys = ["author", "stars"]
        }
        let subscription = Fixture.subscription(.query, id: "gone", type: "FeedItem", info: info)
        let fields = [
            "author": Field(.string("Anna")), "stars": Field(.int64(5)),
            "body": Field(.string("not wanted")),
        ]
        #expect(
            Fixture.json(subscription, .records([Fixture.change(.deleted, fields: fields)])) == """
                {"aps":{"alert":{"body":"An item is gone","title":"Feed"},"sound":"default"},\
                "ck":{\(head),"qry":{"sid":"gone","dbs":1,\(zone),"rid":"item-1","fo":3,\
                "af":{"author":"Anna","stars":5}}}}
                """
        )
    }

    // MARK: aps

    @Test("NINFO-2, PUSH-24: the alert is a string when the body is all, a dictionary otherwise")
    func alertForms() {
        #expect(aps(Fixture.info { $0.alert.body = "x" }) == #"{"aps":{"alert":"x"}"#)
        let titled = Fixture.info {
            $0.alert.body = "x"
            $0.alert.title = "t"
            $0.alert.subtitle = "s"
        }
        #expect(aps(titled) == #"{"aps":{"alert":{"body":"x","title":"t","subtitle":"s"}}"#)
        #expect(aps(Fixture.info { $0.alert.title = "t" }) == #"{"aps":{"alert":{"title":"t"}}"#)
    }

    @Test("NINFO-3, NINFO-6: a localization key beats the text beside it")
    func keysBeatTexts() {
        let info = Fixture.info {
            ($0.alert.body, $0.alert.localizationKey) = ("x", "BODY")
            ($0.alert.title, $0.alert.titleLocalizationKey) = ("t", "TITLE")
            ($0.alert.subtitle, $0.alert.subtitleLocalizationKey) = ("s", "SUBTITLE")
        }
        #expect(
            aps(info) == """
                {"aps":{"alert":{"loc-key":"BODY","title-loc-key":"TITLE",\
                "subtitle-loc-key":"SUBTITLE"}}
                """
        )
    }

    @Test("NINFO-4, NINFO-7, NINFO-21: arguments are field values in order, missing ones empty")
    func arguments() {
        let info = Fixture.info {
            ($0.alert.localizationKey, $0.alert.localizationArgs) = (
                "B", ["author", "gone", "stars"]
            )
            ($0.alert.titleLocalizationKey, $0.alert.titleLocalizationArgs) = (
                "T", ["price", "half"]
            )
            ($0.alert.subtitleLocalizationKey, $0.alert.subtitleLocalizationArgs) = (
                "S", ["at", "raw"]
            )
        }
        let fields = [
            "author": Field(.string("Anna")), "stars": Field(.int64(-5)),
            "price": Field(.double(3)), "half": Field(.double(2.5)),
            "at": Field(.timestamp(1_767_268_800_000)), "raw": Field(.bytes([1])),
        ]
        let alert = query(info, fields)?.alert
        #expect(alert?.localizationArgs == ["Anna", "", "-5"])
        #expect(alert?.titleLocalizationArgs == ["3", "2.5"])
        #expect(alert?.subtitleLocalizationArgs == ["2026-01-01T12:00:00Z", ""])
    }

    @Test("NINFO-4: a date out of any calendar is shown as a number", arguments: [Int64.min, .max])
    func wildDates(milliseconds: Int64) {
        let info = Fixture.info {
            ($0.alert.localizationKey, $0.alert.localizationArgs) = ("B", ["at"])
        }
        let alert = query(info, ["at": Field(.timestamp(milliseconds))])?.alert
        #expect(alert?.localizationArgs == [String(milliseconds)])
    }

    @Test("NINFO-4: arguments without a key, or of a zone push, have no field to show")
    func argumentsWithoutUse() {
        let info = Fixture.info {
            ($0.alert.body, $0.alert.localizationArgs) = ("x", ["author"])
        }
        #expect(alert(info)?.localizationArgs == nil)
        let keyed = Fixture.info {
            ($0.alert.localizationKey, $0.alert.localizationArgs) = ("B", ["author"])
        }
        let payload = Fixture.payload(
            Fixture.subscription(.zone, zone: "feed", info: keyed), .records([Fixture.change()])
        )
        #expect(payload?.alert.localizationArgs == [""])
    }

    @Test("NINFO-8 to 14: action key, launch image, sound, category and the two flags")
    func otherKeys() {
        let info = Fixture.info {
            $0.alert.body = "x"
            $0.alert.actionLocalizationKey = "OPEN"
            $0.alert.launchImage = "image"
            $0.soundName = "bell.caf"
            $0.category = "feed"
            $0.shouldSendContentAvailable = true
            $0.shouldSendMutableContent = true
        }
        #expect(
            aps(info) == """
                {"aps":{"alert":{"body":"x","action-loc-key":"OPEN","launch-image":"image"},\
                "sound":"bell.caf","category":"feed","content-available":1,"mutable-content":1}
                """
        )
    }

    @Test("NINFO-11, P5: the badge stands in aps, and shouldBadge alone makes a push visual")
    func badge() throws {
        var payload = try #require(query(Fixture.info { $0.shouldBadge = true }))
        payload.badge = 180
        #expect(
            String(decoding: payload.encoded(), as: UTF8.self).hasPrefix(#"{"aps":{"badge":180},"#)
        )
    }

    @Test("NINFO-24, NINFO-27, SUB-68: a background push has content-available and nothing to show")
    func backgroundPush() {
        #expect(aps(nil) == #"{"aps":{"content-available":1}"#)
        #expect(aps(WireNotificationInfo()) == #"{"aps":{"content-available":1}"#)
        let info = Fixture.info {
            $0.alert.launchImage = "image"
            $0.alert.actionLocalizationKey = "OPEN"
            $0.category = "feed"
        }
        #expect(aps(info) == #"{"aps":{"category":"feed","content-available":1}"#)
    }

    // MARK: Fields

    @Test("PUSH-27: how each type of desired key stands on the wire")
    func desiredKeyTypes() {
        let location = WireLocation(latitude: 48.5, longitude: -3.25, altitude: 12)
        let fields = [
            "text": Field(.string("a\"b")), "number": Field(.double(2.5)),
            "at": Field(.timestamp(1_767_268_800_000)), "place": Field(.location(location)),
            "other": Field(.reference(WireReference(recordName: "r", action: .deleteSelf))),
        ]
        func af(_ keys: [String]) -> String? {
            query(Fixture.info { $0.desiredKeys = keys }, fields).flatMap {
                let text = String(decoding: $0.encoded(), as: UTF8.self)
                return text.split(separator: #""af":"#).last.map { String($0.dropLast(3)) }
            }
        }
        #expect(
            af(["text", "number", "at"]) == #"{"text":"a\"b","number":2.5,"at":1767268800000}"#
        )
        #expect(
            af(["place"]) == #"{"place":{"latitude":48.5,"longitude":-3.25,"altitude":12.0}}"#
        )
        #expect(
            af(["other"]) == """
                {"other":{"recordName":"r","zoneID":{"zoneName":"feed",\
                "ownerRecordName":"_0123456789abcdef0123456789abcdef",\
                "zoneType":"REGULAR_CUSTOM_ZONE"},"action":"DELETE_SELF"}}
                """
        )
    }

    @Test(
        "NINFO-16, NINFO-20, NINFO-21: bytes, lists, assets, secrets and absent keys are left out")
    func omittedFields() {
        let fields = [
            "bytes": Field(.bytes([1])), "list": Field(.list(.stringList, [.string("x")])),
            "asset": Field(.asset(WireAsset(fileChecksum: "c", size: 1))),
            "secret": Field(.string("s"), isEncrypted: true), "ok": Field(.int64(1)),
        ]
        for key in ["bytes", "list", "asset", "secret", "absent"] {
            let info = Fixture.info { $0.desiredKeys = [key, "ok", "ok"] }
            let expected = [WirePushPayload.DesiredField(key: "ok", value: .int64(1))]
            #expect(query(info, fields)?.desiredFields == expected)
        }
        let info = Fixture.info { $0.desiredKeys = ["absent"] }
        #expect(query(info, fields)?.desiredFields == [])
        let secret = Fixture.info {
            ($0.alert.localizationKey, $0.alert.localizationArgs) = ("B", ["secret"])
        }
        #expect(query(secret, fields)?.alert.localizationArgs == [""])
    }

    @Test("NINFO-16: at most three desired keys")
    func threeKeys() {
        let fields = Dictionary(
            uniqueKeysWithValues: ["a", "b", "c", "d"].map { ($0, Field(.int64(1))) })
        let info = Fixture.info { $0.desiredKeys = ["a", "b", "c", "d"] }
        #expect(query(info, fields)?.desiredFields.map(\.key) == ["a", "b", "c"])
    }

    @Test("NINFO-17: arguments and desired keys keep exactly 100 scalars, without the pruned flag")
    func truncation() throws {
        let long = String(repeating: "é", count: 99) + "🎈🎈"
        let info = Fixture.info {
            ($0.alert.localizationKey, $0.alert.localizationArgs) = ("B", ["text"])
            $0.desiredKeys = ["text"]
        }
        let payload = try #require(query(info, ["text": Field(.string(long))]))
        let cut = String(repeating: "é", count: 99) + "🎈"
        #expect(payload.alert.localizationArgs == [cut])
        #expect(payload.desiredFields == [.init(key: "text", value: .string(cut))])
        #expect(!PayloadPruner.encoded(payload).isPruned)
    }

    @Test("NINFO-2: the body is sent in full")
    func bodyIsNotTruncated() {
        let body = String(repeating: "x", count: 3000)
        #expect(alert(Fixture.info { $0.alert.body = body })?.body == body)
    }

    @Test("NINFO-21: stored fields that cannot be read count as absent")
    func unreadableFields() throws {
        let subscription = Fixture.subscription(
            .query, type: "FeedItem", info: Fixture.info { $0.desiredKeys = ["a"] }
        )
        var change = Fixture.change()
        change.fields = RecordFields(json: Array("{\"a\":".utf8))
        var matcher = SubscriptionMatcher()
        let outcome = try matcher.matches(
            Fixture.entry(.records([change])), candidates: [subscription], devices: [:]
        )
        let match = try #require(outcome.matches.first)
        var builder = NotificationBuilder()
        for _ in 1...2 {
            let payload = builder.payload(
                for: match, in: Fixture.database(), owner: Fixture.anna, notificationID: "n"
            )
            #expect(payload.desiredFields == [])
        }
        #expect(builder.unreadableRecords == 1)
    }
}
