// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellWire

/// Random legal subscriptions and records, each run with a seed that a failure
/// prints.
@Suite struct PayloadPropertyTests {
    @Test("PRUNE-1, PRUNE-7: no legal input makes more than 4096 bytes", arguments: 1...200)
    func neverTooLong(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (subscription, payload) = try random.payload(seed: seed)
        let kind = subscription.subscription.kind
        let encoded = PayloadPruner.encoded(payload)
        let (bytes, isPruned) = (encoded.bytes, encoded.isPruned)
        #expect(bytes.count <= 4096, "seed \(seed)")
        #expect(isPruned == (payload.encoded().count > 4096), "seed \(seed)")

        let object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        let ck = try #require(object?["ck"] as? [String: Any], "seed \(seed)")
        let key = [.query: "qry", .zone: "fet", .database: "met"][kind] ?? ""
        let part = try #require(ck[key] as? [String: Any], "seed \(seed)")
        #expect(part["sid"] as? String == subscription.subscription.subscriptionID, "seed \(seed)")
        #expect(part["dbs"] as? Int == 1, "seed \(seed)")
        #expect((ck["p"] != nil) == isPruned, "seed \(seed)")
    }

    @Test(
        "PRUNE-4, PRUNE-5, PRUNE-7: no more goes than must, in the order asked for",
        arguments: 1...200
    )
    func noMoreThanNeeded(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (subscription, payload) = try random.payload(seed: seed)
        for order in PruningOrder.allCases {
            let encoded = PayloadPruner.encoded(payload, order: order)
            let full = PayloadProperty.removalOrder(of: subscription.subscription.kind, order)
            // Taken away by hand: all but the last are not enough.
            var rest = payload
            rest.isPruned = true
            for property in encoded.removed {
                #expect(rest.encoded().count > PayloadPruner.limit, "seed \(seed)")
                #expect(property.remove(from: &rest), "seed \(seed)")
            }
            if encoded.isPruned { #expect(rest.encoded() == encoded.bytes, "seed \(seed)") }
            let indices = encoded.removed.compactMap(full.firstIndex(of:))
            #expect(indices.count == encoded.removed.count, "seed \(seed)")
            #expect(indices == indices.sorted(), "seed \(seed)")
            // What was passed over stood for nothing.
            for property in full.prefix((indices.last ?? -1) + 1)
            where !encoded.removed.contains(property) {
                var copy = rest
                #expect(!property.remove(from: &copy), "seed \(seed)")
            }
        }
    }

    @Test("NOTIF-8: the history has a push in full, up to 16 KiB", arguments: 1...200)
    func history(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (subscription, payload) = try random.payload(seed: seed)
        let match = SubscriptionMatch(
            subscription: subscription, entry: Fixture.entry(.zoneCreated), cause: .zone
        )
        let built = BuiltNotification(
            CoalescedMatch(match), payload: payload, notificationID: "n",
            createdAt: Instant(rawValue: 1), pruning: .header
        )
        let size = payload.encoded().count
        let full = built.notification.fullPayload
        #expect((full != nil) == (size > PayloadPruner.limit), "seed \(seed)")
        #expect((full?.count ?? 0) <= PayloadPruner.historyLimit, "seed \(seed)")
        if size <= PayloadPruner.historyLimit {
            #expect((full ?? built.notification.payload) == payload.encoded(), "seed \(seed)")
        }
    }
}

extension SeededGenerator {
    /// Text of control characters, quotes, ASCII, and scalars of every length.
    fileprivate mutating func text(_ lengths: ClosedRange<Int>) -> String {
        let alphabets: [ClosedRange<UInt32>] = [
            0x00...0x1F, 0x22...0x22, 0x5C...0x5C, 0x61...0x7A, 0xE0...0xFF, 0x300...0x36F,
            0x4E00...0x4FFF, 0x1F600...0x1F64F,
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: lengths, using: &self) {
            let range = alphabets[below(alphabets.count)]
            if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &self)) {
                text.append(scalar)
            }
        }
        return String(text)
    }

    /// Mostly short texts, some that alone exceed any payload.
    fileprivate mutating func someText() -> String {
        switch below(8) {
        case 0: text(1000...6000)
        case 1: String(repeating: "a\u{301}\u{302}👩‍👩‍👧‍👦", count: below(400))
        default: text(0...120)
        }
    }

    /// What any legal subscription may report of a change, with a badge or without.
    fileprivate mutating func payload(seed: UInt64) throws -> (StoredSubscription, WirePushPayload)
    {
        let kind = WireSubscription.Kind.allCases[below(3)]
        let zone = ["feed", String(repeating: "\"", count: 255), "z"][below(3)]
        let id = below(4) == 0 ? text(255...255) : text(1...255)
        let subscription = Fixture.subscription(
            kind, id: id, zone: kind == .zone ? zone : nil,
            type: kind == .query ? "FeedItem" : nil, info: info()
        )
        let change = Fixture.change(fields: fields())
        var payload = try #require(
            Fixture.payload(subscription, .records([change]), zone: zone), "seed \(seed)"
        )
        if subscription.countsBadge { payload.badge = below(BadgeCounters.limit) }
        return (subscription, payload)
    }

    fileprivate mutating func names() -> [String] {
        (0..<below(12)).map { _ in ["a", "b", "c", "d", "gone"][below(5)] }
    }

    fileprivate mutating func info() -> WireNotificationInfo? {
        guard below(10) > 0 else { return nil }
        var info = WireNotificationInfo()
        info.alert.body = maybe { $0.someText() }
        info.alert.localizationKey = maybe { $0.someText() }
        info.alert.localizationArgs = maybe { $0.names() }
        info.alert.title = maybe { $0.someText() }
        info.alert.titleLocalizationKey = maybe { $0.someText() }
        info.alert.titleLocalizationArgs = maybe { $0.names() }
        info.alert.subtitle = maybe { $0.someText() }
        info.alert.subtitleLocalizationKey = maybe { $0.someText() }
        info.alert.subtitleLocalizationArgs = maybe { $0.names() }
        info.alert.actionLocalizationKey = maybe { $0.someText() }
        info.alert.launchImage = maybe { $0.someText() }
        info.soundName = maybe { $0.someText() }
        info.category = maybe { $0.someText() }
        info.desiredKeys = maybe { Array($0.names().prefix(3)) }
        info.shouldBadge = Bool.random(using: &self)
        info.shouldSendContentAvailable = Bool.random(using: &self)
        info.shouldSendMutableContent = Bool.random(using: &self)
        return info
    }

    fileprivate mutating func fields() -> [String: Field] {
        var fields: [String: Field] = [:]
        for name in ["a", "b", "c", "d"] {
            fields[name] = maybe { random in
                let values: [FieldValue] = [
                    .string(random.someText()),
                    .int64(Int64.random(in: .min ... .max, using: &random)),
                    .double(Double(random.below(1000)) / 7),
                    .timestamp(Int64.random(in: .min ... .max, using: &random)),
                    .reference(WireReference(recordName: random.text(1...255))),
                    .location(WireLocation(latitude: 1.5, longitude: 2.5)),
                    .bytes([1, 2, 3]),
                ]
                return Field(values[random.below(values.count)])
            }
        }
        return fields
    }
}
