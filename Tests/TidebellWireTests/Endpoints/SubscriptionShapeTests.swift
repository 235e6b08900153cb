// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

/// The literal shapes of web-services 4.6, 5.10 and 5.12.
@Suite("Shapes of subscriptions and tokens")
struct SubscriptionShapeTests {
    private func subscription(_ json: String) throws -> WireSubscription {
        try JSONReader.read(utf8(json)) { try SubscriptionParts(from: &$0).subscription() }
    }

    @Test("a database subscription is read by either spelling and answered in the one received")
    func databaseSpellings() throws {
        let named = try subscription(#"{"subscriptionID":"s","subscriptionType":"database"}"#)
        #expect(named == WireSubscription(subscriptionID: "s", kind: .database))
        #expect(
            written { named.write(to: &$0) }
                == #"{"subscriptionID":"s","subscriptionType":"database"}"#
        )
        let json = #"{"subscriptionID":"s","subscriptionType":"zone","zoneWide":true}"#
        let zoneWide = try subscription(json)
        var expected = WireSubscription(subscriptionID: "s", kind: .database)
        expected.isWrittenAsZoneWide = true
        #expect(zoneWide == expected)
        #expect(written { zoneWide.write(to: &$0) } == json)
    }

    @Test(
        "NINFO-23: desiredKeys, which on the wire are additionalFields, are not ignored in silence")
    func nameOfDesiredKeys() throws {
        func problem(_ member: String) -> String? {
            do {
                _ = try subscription(
                    #"{"subscriptionID":"s","subscriptionType":"query","#
                        + #""query":{"recordType":"T"},"#
                        + #""firesOn":["create"],"notificationInfo":{"\#(member)":["a"]}}"#)
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(
            problem("desiredKeys")
                == "notificationInfo.desiredKeys: the fields of a push are called additionalFields here"
        )
        #expect(problem("unknown") == nil)
        #expect(problem("additionalFields") == nil)
    }

    @Test("SUB-12: zone and database subscriptions keep their record type")
    func zoneSubscription() throws {
        let json =
            #"{"subscriptionID":"feed-changes","subscriptionType":"zone","#
            + #""zoneID":{"zoneName":"Feed","zoneType":"REGULAR_CUSTOM_ZONE"},"#
            + #""recordType":"FeedItem","notificationInfo":{"shouldSendContentAvailable":true}}"#
        var info = WireNotificationInfo()
        info.shouldSendContentAvailable = true
        let expected = WireSubscription(
            subscriptionID: "feed-changes",
            kind: .zone,
            zoneID: ZoneID(zoneName: "Feed"),
            recordType: "FeedItem",
            notificationInfo: info
        )
        #expect(try subscription(json) == expected)
        #expect(written { expected.write(to: &$0) } == json)
    }

    @Test("a zone subscription ignores query, firesOn and firesOnce")
    func zoneIgnoresQueryMembers() throws {
        let read = try subscription(
            #"""
            {"subscriptionID":"s","subscriptionType":"zone","zoneID":{"zoneName":"Z"},
             "firesOn":["create"],"firesOnce":true,"zoneWide":false,"query":null}
            """#
        )
        #expect(
            read
                == WireSubscription(
                    subscriptionID: "s",
                    kind: .zone,
                    zoneID: ZoneID(zoneName: "Z")
                )
        )
    }

    @Test("a query subscription keeps its filters, answered with their types")
    func querySubscription() throws {
        let filters =
            #"[{"comparator":"EQUALS","fieldName":"f","fieldValue":{"value":1,"type":"INT64"}}]"#
        let json =
            #"{"subscriptionID":"q","subscriptionType":"query","zoneWide":true,"#
            + #""query":{"recordType":"Item","filterBy":\#(filters)},"#
            + #""firesOn":["create","delete"],"firesOnce":true}"#
        var expected = WireSubscription(
            subscriptionID: "q",
            kind: .query,
            recordType: "Item",
            firesOn: [.create, .delete],
            firesOnce: true
        )
        expected.filters = [WireFilter(.equals, .field("f"), .int64(1))]
        #expect(try subscription(json) == expected)
        #expect(written { expected.write(to: &$0) } == json)
    }

    @Test("null query members are absent ones")
    func nullFilters() throws {
        let read = try subscription(
            #"""
            {"subscriptionID":"q","subscriptionType":"query","notificationInfo":null,"zoneID":null,
             "query":{"recordType":"Item","filterBy":null,"sortBy":null},"firesOn":["update"]}
            """#
        )
        let expected = WireSubscription(
            subscriptionID: "q",
            kind: .query,
            recordType: "Item",
            firesOn: .update
        )
        #expect(read == expected)
    }

    @Test("NINFO-23: every notification setting has its wire name, desiredKeys is additionalFields")
    func notificationInfo() throws {
        let json =
            #"{"alertActionLocalizationKey":"a","alertBody":"b","alertLaunchImage":"c","#
            + #""alertLocalizationKey":"d","category":"e","collapseIDKey":"f","soundName":"g","#
            + #""subtitle":"h","subtitleLocalizationKey":"i","title":"j","#
            + #""titleLocalizationKey":"k","additionalFields":["l"],"#
            + #""alertLocalizationArgs":["m","n"],"subtitleLocalizationArgs":[],"#
            + #""titleLocalizationArgs":["o"],"shouldBadge":true,"#
            + #""shouldSendContentAvailable":true,"shouldSendMutableContent":true}"#
        var info = WireNotificationInfo()
        info.alert.actionLocalizationKey = "a"
        info.alert.body = "b"
        info.alert.launchImage = "c"
        info.alert.localizationKey = "d"
        info.category = "e"
        info.collapseIDKey = "f"
        info.soundName = "g"
        info.alert.subtitle = "h"
        info.alert.subtitleLocalizationKey = "i"
        info.alert.title = "j"
        info.alert.titleLocalizationKey = "k"
        info.desiredKeys = ["l"]
        info.alert.localizationArgs = ["m", "n"]
        info.alert.subtitleLocalizationArgs = []
        info.alert.titleLocalizationArgs = ["o"]
        info.shouldBadge = true
        info.shouldSendContentAvailable = true
        info.shouldSendMutableContent = true
        #expect(written { info.write(to: &$0) } == json)
        #expect(try JSONReader.read(utf8(json)) { try WireNotificationInfo(from: &$0) } == info)
        let nulls = #"{"alertBody":null,"alertLocalizationArgs":null,"shouldBadge":null,"new":[]}"#
        #expect(
            try JSONReader.read(utf8(nulls)) { try WireNotificationInfo(from: &$0) }
                == WireNotificationInfo()
        )
    }

    @Test(
        "subscriptions/modify names what is wrong",
        arguments: [
            ("{}", "missing required field 'operations'"),
            (
                #"{"operations":[{"operationType":"create"}]}"#,
                "operations[0]: missing required field 'subscription'"
            ),
            (
                #"{"operations":[{"subscription":{}}]}"#,
                "operations[0]: missing required field 'operationType'"
            ),
            (
                #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"s"}}]}"#,
                "operations[0]: missing required field 'subscriptionType'"
            ),
            (
                #"{"operations":[{"operationType":"delete","subscription":{}}]}"#,
                "operations[0]: missing required field 'subscriptionID'"
            ),
            (
                #"{"operations":[{"operationType":"create","subscription":{"subscriptionType":"record"}}]}"#,
                #"operations[0]: unknown subscriptionType "record""#
            ),
            (
                #"{"operations":[{"operationType":"create","subscription":{"firesOn":["create","open"]}}]}"#,
                #"operations[0].subscription.firesOn[1]: unknown event "open""#
            ),
            (
                #"{"operations":[{"operationType":"create","subscription":{"query":{"filterBy":{}}}}]}"#,
                "operations[0].subscription.query.filterBy: expected an array, found an object"
            ),
        ]
    )
    func modifyErrors(json: String, expected: String) {
        #expect(
            failure(reading: json) { _ = try ModifySubscriptions.Request(from: &$0) }
                == expected
        )
    }

    @Test("a deleted subscription is answered with deleted, a failed one with its reason")
    func results() {
        let answer = SubscriptionsResponse(subscriptions: [
            .deleted(subscriptionID: "a"),
            .failed(subscriptionID: "b", WireError(.notFound, "no such subscription")),
        ])
        #expect(
            written { answer.write(to: &$0) }
                == #"{"subscriptions":[{"subscriptionID":"a","deleted":true},"#
                + #"{"subscriptionID":"b","reason":"no such subscription","#
                + #""serverErrorCode":"NOT_FOUND"}]}"#
        )
    }

    @Test("tokens/create: the worked exchange")
    func tokens() throws {
        let json = #"{"apnsEnvironment":"development","clientId":"6f2c"}"#
        let request = try JSONReader.read(utf8(json)) { try TokenRequest(from: &$0) }
        #expect(request == TokenRequest(apnsEnvironment: .development, clientId: "6f2c"))
        let answer = TokenResponse(
            apnsEnvironment: .development,
            apnsToken: "ab",
            webcourierURL: "http://127.0.0.1/courier/x"
        )
        #expect(
            written { answer.write(to: &$0) }
                == #"{"apnsEnvironment":"development","apnsToken":"ab","#
                + #""webcourierURL":"http://127.0.0.1/courier/x"}"#
        )
        #expect(
            failure(reading: #"{"apnsToken":"ab"}"#) { _ = try TokenRequest(from: &$0) }
                == "missing required field 'apnsEnvironment'"
        )
        #expect(
            failure(reading: #"{"apnsEnvironment":"sandbox"}"#) { _ = try TokenRequest(from: &$0) }
                == #"apnsEnvironment: expected "development" or "production""#
        )
    }

    @Test("PUSH-18: push payloads number the databases 1 private, 2 public, 3 shared")
    func payloadCodes() {
        #expect(DatabaseScope.private.payloadCode == 1)
        #expect(DatabaseScope.public.payloadCode == 2)
        #expect(DatabaseScope.shared.payloadCode == 3)
    }

    @Test("NINFO-25: a notification is visual by alert, title, subtitle, sound or badge only")
    func visual() {
        func info(_ change: (inout WireNotificationInfo) -> Void) -> Bool {
            var info = WireNotificationInfo()
            change(&info)
            return info.isVisual
        }
        #expect(info { $0.alert.body = "x" })
        #expect(info { $0.alert.localizationKey = "x" })
        #expect(info { $0.alert.title = "x" })
        #expect(info { $0.alert.titleLocalizationKey = "x" })
        #expect(info { $0.alert.subtitle = "x" })
        #expect(info { $0.alert.subtitleLocalizationKey = "x" })
        #expect(info { $0.soundName = "x" })
        #expect(info { $0.shouldBadge = true })
        #expect(
            !info {
                $0.category = "x"
                $0.desiredKeys = ["x"]
                $0.collapseIDKey = "x"
                $0.alert.launchImage = "x"
                $0.alert.actionLocalizationKey = "x"
                $0.shouldSendContentAvailable = true
                $0.shouldSendMutableContent = true
            }
        )
    }
}
