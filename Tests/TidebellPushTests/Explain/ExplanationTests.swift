// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellWire

@Suite("Explanation of what was notified", .hangs)
struct ExplanationTests {
    @Test("SUB-46, SUB-53: a notified change with its rule, notification, devices and attempts")
    func whole() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            for client in ["laptop", "phone", "tablet", "watch"] {
                _ = try await world.device(client, of: anna)
            }
            try await world.subscribe(anna, .zone, id: "feed-changes", zone: "feed")
            try await world.create(["a"], of: anna, origin: "laptop")
            _ = try await world.pipeline.drain()
            try await world.deliver(to: anna, on: "phone", "sent", after: 2)
            try await world.deliver(to: anna, on: "phone", "acknowledged", after: 9)
            try await world.deliver(to: anna, on: "tablet", "200", by: .apns, after: 1_541)
            try await world.deliver(to: anna, on: nil, "503", by: .webhook, after: 180_000)
            try await world.deliver(to: anna, on: "old", "410", by: .apns, after: 8_000_000)
            let change = try #require(try await world.explained().changes.first).id.position
            #expect(
                try await world.text() == """
                    iCloud.org.example.feed · development

                    record a (FeedItem) created in zone feed, private database of anna
                    2026-01-01 12:00:00.000Z by device laptop of anna, change \(change.rawValue)
                      ✓ feed-changes (zone feed): every change of a record in the zone fires it \
                    (SUB-53)
                          → ID, background, priority 5, N bytes
                            laptop  made the change and is not notified (SUB-46)
                            phone   stream +2 ms sent, stream +9 ms acknowledged
                            tablet  apns +1.5 s 200
                            watch   has not acknowledged it; the log keeps it for when it \
                    connects (PUSH-13)
                            webhook +3 min 503
                            old  apns +2 h 410
                    """
            )
        }
    }

    @Test("Control characters from apps and other servers do not reach the terminal")
    func controlCharacters() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .zone, id: "a\u{1B}[2Jb\n\u{202E}", zone: "feed")
            try await world.create(["a"], of: anna)
            _ = try await world.pipeline.drain()
            try await world.deliver(to: anna, on: nil, "\u{9B}1m\r", after: 1)
            let lines = try await world.lines()
            #expect(lines.first?.hasPrefix("  ✓ a\u{FFFD}[2Jb\u{FFFD}\u{FFFD} (zone feed)") == true)
            #expect(lines.last == "        stream +1 ms \u{FFFD}1m\u{FFFD}")
        }
    }

    @Test(
        "A subscription that Apple refuses, and this server does not, is explained with a warning")
    func refusedByApple() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            var keyed = WireNotificationInfo()
            keyed.desiredKeys = ["title"]
            try await world.subscribe(anna, .database, id: "all", info: nil)
            try await world.subscribe(anna, .zone, id: "feed", zone: "other", info: keyed)
            try await world.create(["a"], of: anna)
            let explained = try await world.explained().changes.first?.subscriptions
            #expect(
                explained?.map(\.warning) == [
                    "Apple's servers refuse it: the subscription has no notificationInfo; set one, "
                        + "with shouldSendContentAvailable for a push that shows nothing "
                        + "(SUB-68: Apple's header demands it before a save)",
                    "Apple's servers refuse it: cannot add additionalFields to this subscription "
                        + "type; only query subscriptions have desiredKeys "
                        + "(malhal.com, CKRecordZoneSubscription Notes)",
                ])
            let lines = try await world.lines()
            #expect(lines.filter { $0.hasPrefix("      ! Apple's servers refuse it: ") }.count == 2)
        }
    }

    @Test(
        "NINFO-16, NINFO-20: a desired key that no push carries is explained with a warning",
        arguments: [
            (Field(.string("x")), nil),
            (Field(.list(.stringList, [.string("x")])), "of type STRING_LIST"),
            (Field(.string("x"), isEncrypted: true), "encrypted"),
        ] as [(Field, String?)])
    func leftOut(field: Field, why: String?) async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            var info = WireNotificationInfo()
            info.desiredKeys = ["tags"]
            try await world.subscribe(anna, .query, type: "FeedItem", info: info)
            let change = RecordChange(
                recordName: "a", recordType: "FeedItem", event: .created,
                fields: RecordFields(["tags": field]))
            try await world.change(anna, .records([change]), origin: nil)
            let explained = try await world.explained().changes.first?.subscriptions
            let warning = why.map {
                "no push carries the desired key 'tags', which is \($0) in the record 'a' "
                    + "(NINFO-16, NINFO-20)"
            }
            #expect(explained?.map(\.warning) == [warning])
            let other = try await world.explained { $0.recordName = "b" }
            #expect(other.changes == [])
        }
    }

    @Test("SUB-46, SUB-48: where only the origin is registered, nobody is notified")
    func onlyOrigin() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            _ = try await world.device("laptop", of: anna)
            try await world.subscribe(anna, .database, id: "all")
            try await world.create(["a"], of: anna, origin: "laptop")
            _ = try await world.pipeline.drain()
            #expect(
                try await world.lines() == [
                    "  ✓ all (database): every change in a custom zone fires it (SUB-54)",
                    "      → ID, background, priority 5, N bytes",
                    "        laptop  made the change and is not notified (SUB-46)",
                    "        no other device is registered, so no device is notified (SUB-48)",
                ]
            )
        }
    }

    @Test(
        "PUSH-2: what was merged in a batch, and what was replaced in the log, is reported as such")
    func replaced() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .zone, id: "all", zone: "feed")
            try await world.create(["a"], of: anna)
            try await world.create(["b"], of: anna)
            _ = try await world.pipeline.drain()
            let merged = try await world.lines { $0.recordName = "a" }
            #expect(
                merged.dropFirst(2).first
                    == "        it also reports a later change that came with this one (PUSH-2)"
            )
            try await world.create(["c"], of: anna)
            _ = try await world.pipeline.drain()
            let newest = try #require(try await world.log(of: anna).last).notificationID
            let explained = try await world.explained()
            let notifications = explained.changes.flatMap(\.subscriptions).map(\.outcome)
            #expect(
                notifications.map { outcome -> [String?] in
                    guard case .notified(let notified) = outcome else { return [] }
                    return notified.map(\.replacedBy)
                } == [[nil], [newest], [newest]]
            )
            let delivered = try await world.explained { $0.notificationID = newest }
            #expect(try await world.numbers(of: delivered) == [3])
        }
    }

    @Test("PUSH-2: a notification of several changes explains all of them")
    func byNotification() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .zone, id: "zone", zone: "feed")
            try await world.subscribe(anna, .database, id: "database")
            try await world.create(["a"], of: anna)
            try await world.create(["b"], of: anna)
            _ = try await world.pipeline.drain()
            let log = try await world.log(of: anna)
            let id = try #require(log.first { $0.subscriptionID == "zone" }).notificationID
            let explained = try await world.explained { $0.notificationID = id }
            #expect(try await world.numbers(of: explained) == [2, 1])
            #expect(
                explained.changes.map { $0.subscriptions.map(\.subscriptionID) } == [
                    ["zone"], ["zone"],
                ])
        }
    }

    @Test("PRUNE-1, PRUNE-4: what did not fit the payload is named")
    func pruned() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            var info = WireNotificationInfo.visual(String(repeating: "x", count: 4_000))
            info.soundName = "ping"
            try await world.subscribe(anna, .query, id: "q", type: "FeedItem", info: info)
            try await world.create(["a"], of: anna)
            _ = try await world.pipeline.drain()
            let line = try #require(try await world.lines().dropFirst().first)
            #expect(
                line.hasPrefix(
                    "      → ID for a, alert, priority 10, N bytes, without subscriptionOwner, "
                )
            )
            #expect(line.hasSuffix(" for its size (PRUNE-4)"))
        }
    }

    @Test("SUB-19: the one push of a firesOnce subscription, which is gone since")
    func firesOnce() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            _ = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, id: "once", type: "FeedItem", firesOnce: true)
            try await world.create(["a", "b"], of: anna, origin: "laptop")
            _ = try await world.pipeline.drain()
            let lines = try await world.lines { $0.subscriptionID = "once" }
            #expect(lines[0] == "  ✓ once: it fired once, and was deleted with that (SUB-19)")
            #expect(lines[1].hasSuffix("the only one it sends (SUB-19)"))
        }
    }

    @Test("SUB-20: a firesOnce subscription waits where only the origin could be notified")
    func firesOnceWaits() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            _ = try await world.device("laptop", of: anna)
            try await world.subscribe(anna, .query, id: "once", type: "FeedItem", firesOnce: true)
            try await world.create(["a"], of: anna, origin: "laptop")
            _ = try await world.pipeline.drain()
            #expect(
                try await world.lines() == [
                    "  ✗ once (query FeedItem once): it fires once, and no device but the one that "
                        + "made the change is registered, so its one push waits for another change "
                        + "(SUB-20)"
                ]
            )
        }
    }

    @Test("SUB-30: a subscription saved or changed after its change was notified")
    func savedLater() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .zone, id: "old", zone: "feed")
            try await world.create(["a"], of: anna)
            _ = try await world.pipeline.drain()
            try await world.subscribe(anna, .zone, id: "old", zone: "other")
            try await world.subscribe(anna, .database, id: "new")
            let lines = try await world.lines()
            #expect(
                lines.filter { !$0.hasPrefix("      ") } == [
                    "  ✓ old (zone other): it fired, and was saved anew with another trigger since "
                        + "(SUB-30)",
                    "  ✗ new (database): it fires on such changes, but was saved or changed after "
                        + "this one was notified (SUB-40)",
                ]
            )
        }
    }

    @Test("PUSH-14: a change that the pipeline has not come to is reported as pending")
    func waiting() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .zone, id: "all", zone: "feed")
            try await world.create(["a"], of: anna)
            #expect(
                try await world.lines() == [
                    "  … not notified yet: the push pipeline is late, stopped or failing",
                    "  … all (zone feed): every change of a record in the zone fires it (SUB-53)",
                ]
            )
        }
    }

    @Test("SUB-51: what was sent to a user whose account was removed since")
    func removedUser() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            _ = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .zone, id: "all", zone: "feed")
            try await world.create(["a"], of: anna, origin: "phone")
            _ = try await world.pipeline.drain()
            try await world.store.write(.everything) {
                try $0.removeAccount(anna.user.account, at: Instant(rawValue: 0))
            }
            let text = try await world.text()
            #expect(text.contains("private database of a removed user\n"))
            #expect(
                text.hasSuffix("no other device is registered, so no device is notified (SUB-48)"))
        }
    }

    @Test("SUB-65: the subscriptions that ended with their zone")
    func zoneEnd() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .zone, id: "ended", zone: "feed")
            let ended = try await world.store.write(.everything) {
                try $0.removeSubscriptions(onZone: "feed", in: anna.database)
            }
            try await world.change(
                anna, .zoneDeleted(.deleted, subscriptions: ended), origin: nil
            )
            _ = try await world.pipeline.drain()
            let text = try await world.text()
            #expect(text.contains("zone feed deleted (deleted), private database of anna\n"))
            #expect(text.contains("ended (zone feed): the end of its zone is the last it reports"))
        }
    }

    @Test("SUB-10: in the public database everyone's subscriptions, or one user's")
    func publicDatabase() async throws {
        try await World.run { world in
            let (anna, ben) = (try await world.person("anna"), try await world.person("ben"))
            let key = DatabaseKey(container: World.container, scope: .public, owner: nil)
            let database = try await world.store.write(.everything) { try $0.makeDatabase(key).id }
            for var person in [anna, ben] {
                person.database = database
                try await world.subscribe(person, .query, id: "q", type: "FeedItem")
            }
            var everyone = anna
            everyone.database = database
            try await world.create(["a"], of: everyone)
            _ = try await world.pipeline.drain()
            func titles(_ user: String?) async throws -> [String] {
                try await world.lines { $0.userName = user }.filter { $0.contains("✓") }
            }
            let reason = "(query FeedItem): the record was created and matches (SUB-23)"
            #expect(try await titles(nil) == ["  ✓ q of anna \(reason)", "  ✓ q of ben \(reason)"])
            #expect(try await titles("ben") == ["  ✓ q of ben \(reason)"])
        }
    }
}
