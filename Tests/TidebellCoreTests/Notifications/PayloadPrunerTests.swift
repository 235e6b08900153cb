// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite struct PayloadPrunerTests {
    /// A query push in which every property is `length` bytes long.
    private func payload(_ kind: WireSubscription.Kind, length: Int) -> WirePushPayload {
        let text = String(repeating: "x", count: length)
        var payload = WirePushPayload(kind: kind, subscriptionID: "s", scope: .private)
        payload.category = text
        payload.isMutableContent = true
        payload.isContentAvailable = true
        payload.badge = 7
        payload.soundName = text
        payload.alert.body = text
        payload.alert.localizationKey = text
        payload.alert.localizationArgs = [text]
        payload.alert.title = text
        payload.alert.titleLocalizationKey = text
        payload.alert.titleLocalizationArgs = [text]
        payload.alert.subtitle = text
        payload.alert.subtitleLocalizationKey = text
        payload.alert.subtitleLocalizationArgs = [text]
        payload.alert.actionLocalizationKey = text
        payload.alert.launchImage = text
        payload.containerIdentifier = text
        payload.notificationID = text
        payload.ownerRecordName = text
        payload.zone = ZoneID(zoneName: "zone", ownerRecordName: "owner")
        if kind == .query {
            payload.recordName = text
            payload.reason = .created
            payload.desiredFields = [.init(key: "k", value: .string(text))]
        }
        return payload
    }

    @Test("PRUNE-4, T-14: the removal order of a query push, the least important first")
    func queryOrder() {
        #expect(
            PayloadProperty.removalOrder(of: .query) == [
                .category, .mutableContent,
                .subtitle, .subtitleLocalizationArgs, .subtitleLocalizationKey,
                .title, .titleLocalizationArgs, .titleLocalizationKey,
                .subscriptionOwner, .containerIdentifier,
                .recordID, .queryNotificationReason, .desiredKeys,
                .contentAvailable, .soundName, .alertLaunchImage, .alertActionLocalizationKey,
                .alertBody, .alertLocalizationArgs, .alertLocalizationKey,
                .badge, .notificationID,
            ]
        )
    }

    @Test("PRUNE-3: zone pushes have the zone instead of the record, database pushes neither")
    func otherOrders() {
        let query = PayloadProperty.removalOrder(of: .query)
        let own: Set<PayloadProperty> = [.recordID, .queryNotificationReason, .desiredKeys]
        #expect(
            PayloadProperty.removalOrder(of: .database) == query.filter { !own.contains($0) }
        )
        var zone = query.filter { !own.contains($0) }
        zone.insert(.recordZoneID, at: 10)
        #expect(PayloadProperty.removalOrder(of: .zone) == zone)
    }

    @Test("PRUNE-5: the operator may have the desired keys go first, and then the rest in order")
    func fieldsFirst() {
        let rest = PayloadProperty.removalOrder(of: .query).filter { $0 != .desiredKeys }
        #expect(PayloadProperty.removalOrder(of: .query, .fieldsFirst) == [.desiredKeys] + rest)
        for kind in [WireSubscription.Kind.zone, .database] {
            #expect(
                PayloadProperty.removalOrder(of: kind, .fieldsFirst)
                    == PayloadProperty.removalOrder(of: kind)
            )
        }
        var payload = payload(.query, length: 10)
        payload.desiredFields = [
            .init(key: "k", value: .string(String(repeating: "x", count: 4000)))
        ]
        let pruned = PayloadPruner.encoded(payload, order: .fieldsFirst)
        #expect(pruned.removed == [.desiredKeys])
        payload.desiredFields = []
        payload.isPruned = true
        #expect(pruned.bytes == payload.encoded())
    }

    @Test("PRUNE-2, PRUNE-4: the badge goes after all texts and before the notification ID")
    func badgeGoesLate() {
        var payload = WirePushPayload(kind: .query, subscriptionID: "s", scope: .private)
        payload.badge = 3
        payload.alert.localizationKey = String(repeating: "k", count: 4100)
        payload.notificationID = "n"
        let pruned = PayloadPruner.encoded(payload)
        #expect(pruned.removed == [.alertLocalizationKey])
        #expect(
            String(decoding: pruned.bytes, as: UTF8.self)
                == #"{"aps":{"badge":3},"ck":{"ce":2,"nid":"n","p":1,"qry":{"sid":"s","dbs":1}}}"#
        )
        payload.notificationID = String(repeating: "n", count: 4100)
        #expect(
            PayloadPruner.encoded(payload).removed
                == [.alertLocalizationKey, .badge, .notificationID]
        )
    }

    @Test("PRUNE-1: what fits is not touched", arguments: WireSubscription.Kind.allCases)
    func nothingToDo(kind: WireSubscription.Kind) {
        let payload = payload(kind, length: 40)
        let encoded = PayloadPruner.encoded(payload)
        #expect(encoded.bytes == payload.encoded())
        #expect(encoded.removed == [])
    }

    @Test("PRUNE-1: 4096 bytes fit, one more does not")
    func exactLimit() throws {
        var payload = WirePushPayload(kind: .database, subscriptionID: "s", scope: .private)
        payload.alert.body = ""
        let room = PayloadPruner.limit - payload.encoded().count
        payload.alert.body = String(repeating: "x", count: room)
        let whole = PayloadPruner.encoded(payload)
        #expect(whole.bytes.count == 4096)
        #expect(!whole.isPruned)
        payload.alert.body = String(repeating: "x", count: room + 1)
        let pruned = PayloadPruner.encoded(payload)
        #expect(pruned.isPruned)
        #expect(
            String(decoding: pruned.bytes, as: UTF8.self)
                == #"{"aps":{},"ck":{"ce":2,"p":1,"met":{"sid":"s","dbs":1}}}"#
        )
    }

    @Test("PRUNE-1, NOTIF-7: a pruned payload has p")
    func prunedFlag() {
        var payload = payload(.query, length: 10)
        payload.category = String(repeating: "x", count: 5000)
        var expected = payload
        expected.category = nil
        expected.isPruned = true
        #expect(PayloadPruner.encoded(payload).bytes == expected.encoded())
    }

    @Test(
        "PRUNE-4, PRUNE-7: each step takes one property more, whole, until the rest fits",
        arguments: WireSubscription.Kind.allCases
    )
    func stepByStep(kind: WireSubscription.Kind) {
        let order = PayloadProperty.removalOrder(of: kind)
        // The body outlives all before it, so a growing body asks for more and more.
        var lost: [Set<PayloadProperty>] = []
        for length in stride(from: 0, to: 4200, by: 25) {
            var payload = payload(kind, length: 150)
            payload.alert.body = String(repeating: "b", count: length)
            let bytes = PayloadPruner.encoded(payload).bytes
            #expect(bytes.count <= PayloadPruner.limit)
            let gone = order.filter { !$0.stands(in: bytes, of: kind) }
            // A property goes only when all less important ones are gone.
            #expect(gone == Array(order.prefix(gone.count)))
            lost.append(Set(gone))
        }
        #expect(zip(lost, lost.dropFirst()).allSatisfy { $0.isSubset(of: $1) })
        #expect(lost.first?.isEmpty == true)
        #expect(lost.last?.contains(.alertBody) == true)
    }

    @Test("PRUNE-6: subscription ID, database and kind are never taken away")
    func whatStays() {
        let name = String(repeating: "\u{1}", count: 255)
        for kind in WireSubscription.Kind.allCases {
            var payload = payload(kind, length: 5000)
            payload.subscriptionID = name
            payload.zone = ZoneID(
                zoneName: String(repeating: "\"", count: 255),
                ownerRecordName: "_0123456789abcdef0123456789abcdef"
            )
            let bytes = PayloadPruner.encoded(payload).bytes
            #expect(bytes.count <= PayloadPruner.limit)
            let text = String(decoding: bytes, as: UTF8.self)
            let key = [.query: "qry", .zone: "fet", .database: "met"][kind] ?? ""
            let sid = String(repeating: #"\u0001"#, count: 255)
            #expect(text.contains(#""\#(key)":{"sid":"\#(sid)","dbs":1"#))
        }
    }

    @Test("PRUNE-9: with a body of 3,900 bytes the sound survives, the desired keys do not")
    func longBody() throws {
        let info = Fixture.info {
            $0.alert.body = String(repeating: "x", count: 3900)
            $0.soundName = "default"
            $0.desiredKeys = ["a", "b", "c"]
        }
        let text = Field(.string(String(repeating: "y", count: 100)))
        let payload = try #require(
            Fixture.payload(
                Fixture.subscription(.query, id: "new", type: "FeedItem", info: info),
                .records([Fixture.change(fields: ["a": text, "b": text, "c": text])])
            )
        )
        let pruned = PayloadPruner.encoded(payload)
        #expect(
            pruned.removed == [
                .subscriptionOwner, .containerIdentifier, .recordID, .queryNotificationReason,
                .desiredKeys,
            ]
        )
        #expect(
            String(decoding: pruned.bytes, as: UTF8.self) == """
                {"aps":{"alert":"\(String(repeating: "x", count: 3900))","sound":"default"},\
                "ck":{"ce":2,"nid":"\(Fixture.notificationID)","p":1,\
                "qry":{"sid":"new","dbs":1}}}
                """
        )
    }

    @Test("PRUNE-8: the payload itself stays whole: pruning makes a copy")
    func originalStays() {
        let payload = payload(.query, length: 1000)
        _ = PayloadPruner.encoded(payload)
        #expect(payload == self.payload(.query, length: 1000))
    }
}

extension PayloadProperty {
    /// Whether an encoded payload has the property.
    fileprivate func stands(in bytes: [UInt8], of kind: WireSubscription.Kind) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        let key: String =
            switch self {
            case .category: "category"
            case .mutableContent: "mutable-content"
            case .subtitle: "subtitle"
            case .subtitleLocalizationArgs: "subtitle-loc-args"
            case .subtitleLocalizationKey: "subtitle-loc-key"
            case .title: "title"
            case .titleLocalizationArgs: "title-loc-args"
            case .titleLocalizationKey: "title-loc-key"
            case .subscriptionOwner: "ckuserid"
            case .containerIdentifier: "cid"
            case .recordID: "rid"
            case .recordZoneID: "zid"
            case .queryNotificationReason: "fo"
            case .desiredKeys: "af"
            case .contentAvailable: "content-available"
            case .soundName: "sound"
            case .alertLaunchImage: "launch-image"
            case .alertActionLocalizationKey: "action-loc-key"
            case .alertBody: "body"
            case .alertLocalizationArgs: "loc-args"
            case .alertLocalizationKey: "loc-key"
            case .badge: "badge"
            case .notificationID: "nid"
            }
        return text.contains("\"\(key)\":")
    }
}
