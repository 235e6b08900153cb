// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellSQLite
import TidebellWire
import Logging

/// Damaged bytes in the outbox hold up nothing else.
@Suite(.hangs, .onSQLite) struct DamageTests {
    private func file(of world: World) -> URL {
        world.folder.appending(path: SQLiteFactory.fileName)
    }

    /// Closes a world, changes bytes of its file, and opens it again.
    private func reopen(
        _ world: World, _ configure: (inout PushConfiguration) -> Void = { _ in },
        changing change: (inout Data) throws -> Void
    ) async throws -> World {
        try await world.store.close()
        let file = file(of: world)
        var bytes = try Data(contentsOf: file)
        try change(&bytes)
        try bytes.write(to: file)
        return try World(on: world.folder, configure)
    }

    /// Breaks the chain of pages that a long text of `x` stands on.
    private func breakPages(in bytes: inout Data) throws {
        // The pages that a long value goes on in begin with the number of the next.
        let page = try #require(
            stride(from: 4096, to: bytes.count, by: 4096).first { start in
                bytes[start + 4..<start + 4096].allSatisfy { $0 == UInt8(ascii: "x") }
            })
        bytes.replaceSubrange(page..<page + 4, with: [0x7F, 0xFF, 0xFF, 0xFF])
    }

    /// Makes every occurrence of a text in the file unreadable.
    private func spoil(_ text: String, in bytes: inout Data) throws {
        var count = 0
        while let range = bytes.range(of: Data(text.utf8)) {
            bytes.replaceSubrange(range, with: Data(repeating: 0xA5, count: range.count))
            count += 1
        }
        #expect(count > 0, "'\(text)' stands in the file")
    }

    private func delivered(to person: Person, in world: World) async throws -> [String] {
        try await world.log(of: person).map { try DeliveredPayload($0.payload).description }
    }

    /// A database with a change between two others, and another database with one.
    private func prepare(_ world: World, filler: String? = nil) async throws -> [Person] {
        let anna = try await world.person("anna")
        let ben = try await world.person("ben")
        try await world.subscribe(anna, .zone, id: "others", zone: "other")
        try await world.subscribe(anna, .query, id: "items", type: "FeedItem")
        try await world.subscribe(ben, .query, id: "items", type: "FeedItem")
        try await world.create(["first"], of: anna)
        var damaged = RecordChange(
            recordName: "damaged-one", recordType: "FeedItem", event: .created)
        if let filler { damaged.fields = RecordFields(["text": Field(.string(filler))]) }
        try await world.change(anna, zone: "other", .records([damaged]), origin: nil)
        try await world.create(["last"], of: anna)
        try await world.create(["bens"], of: ben)
        return [anna, ben]
    }

    @Test("A change whose text is damaged holds up nobody, and is notified as far as it is known")
    func unreadableText() async throws {
        let old = try World()
        defer { try? FileManager.default.removeItem(at: old.folder) }
        let people = try await prepare(old)
        let world = try await reopen(old) { try spoil(#""damaged-one""#, in: &$0) }
        #expect(try await world.pipeline.drain() > 0)
        #expect(try await delivered(to: people[1], in: world) == ["qry items feed bens"])
        // That something changed in the zone is true, whatever it was.
        let annas = try await delivered(to: people[0], in: world)
        #expect(
            annas.filter { $0.hasPrefix("qry") } == ["qry items feed first", "qry items feed last"])
        #expect(annas.filter { !$0.hasPrefix("qry") } == ["fet others other"])
        #expect(world.tally.values["tidebell.push.changes.damaged"] == 1)
        // Once, with its location.
        _ = try await world.pipeline.drain()
        try await world.create(["more"], of: people[0])
        _ = try await world.pipeline.drain()
        let logged = world.log.entries.filter { $0.level == .error }
        #expect(
            logged.map(\.message) == [
                "a change in the outbox is damaged; it is set aside, and devices get a push to fetch"
            ])
        #expect(try await delivered(to: people[0], in: world).last == "qry items feed more")
        try await world.store.close()
        // It is kept, and a check names it.
        let found = try StoreCheck.run(at: file(of: world).path())
        #expect(found.problems.count == 1)
        #expect(
            found.problems[0].description.contains(
                "other: a pending change is damaged (entry 2)"))
    }

    @Test("A change on a page that cannot be read holds up nobody either")
    func unreadablePage() async throws {
        let old = try World()
        defer { try? FileManager.default.removeItem(at: old.folder) }
        let people = try await prepare(old, filler: String(repeating: "x", count: 20_000))
        let world = try await reopen(old) { try breakPages(in: &$0) }
        #expect(try await world.pipeline.drain() > 0)
        #expect(try await delivered(to: people[1], in: world) == ["qry items feed bens"])
        let annas = try await delivered(to: people[0], in: world)
        #expect(
            annas.filter { $0.hasPrefix("qry") } == ["qry items feed first", "qry items feed last"])
        #expect(world.tally.values["tidebell.push.changes.damaged"] == 1)
        try await world.store.close()
    }

    @Test("A change that cannot be read, with more subscribers than a pass takes, is notified once")
    func unreadablePageForMany() async throws {
        let old = try World()
        defer { try? FileManager.default.removeItem(at: old.folder) }
        let people = try await prepare(old, filler: String(repeating: "x", count: 20_000))
        for id in ["others2", "others3"] {
            try await old.subscribe(people[0], .zone, id: id, zone: "other")
        }
        let world = try await reopen(old, { $0.notificationsPerPass = 1 }) {
            try breakPages(in: &$0)
        }
        _ = try await world.pipeline.drain()
        #expect(
            try await delivered(to: people[0], in: world) == [
                "qry items feed first", "fet others other", "fet others2 other",
                "fet others3 other", "qry items feed last",
            ])
        #expect(try await delivered(to: people[1], in: world) == ["qry items feed bens"])
        #expect(world.tally.values["tidebell.push.changes.damaged"] == 1)
        try await world.store.close()
    }

    @Test(
        "A damaged subscription fires no more, and its ID is known; its zone goes, also from a lost page",
        arguments: [false, true])
    func damagedOnZone(isOnBrokenPage: Bool) async throws {
        let old = try World()
        defer { try? FileManager.default.removeItem(at: old.folder) }
        let anna = try await old.person("anna")
        let text = isOnBrokenPage ? String(repeating: "x", count: 20_000) : "damaged-text"
        try await old.subscribe(
            anna, .query, id: "broken", zone: "feed", type: "FeedItem", info: .visual(text))
        try await old.subscribe(anna, .query, id: "whole", zone: "feed", type: "FeedItem")
        let world = try await reopen(old) { bytes in
            if isOnBrokenPage {
                try breakPages(in: &bytes)
            } else {
                try spoil(#""damaged-text""#, in: &bytes)
            }
        }
        try await world.create(["a"], of: anna)
        #expect(try await world.pipeline.drain() == 1)
        for ids in [nil, ["broken", "whole"]] as [Set<ExactText>?] {
            let listed = try await world.store.read {
                try $0.subscriptions(ids, of: anna.user.id, in: anna.database)
            }
            #expect(listed.map(\.subscription.subscriptionID) == ["whole"])
        }
        let known = try await world.store.read {
            try $0.subscriptionIDs(of: anna.user.id, in: anna.database)
        }
        #expect(known == ["broken", "whole"])
        let ended = try await world.store.write(.everything) {
            try $0.removeSubscriptions(onZone: "feed", in: anna.database)
        }
        #expect(ended.map(\.subscription.subscriptionID) == ["whole"])
        let left = try await world.store.read {
            try $0.subscriptionSummaries(of: anna.user.id, in: anna.database)
        }
        #expect(left.map(\.id) == [])
        try await world.store.close()
    }

    @Test("The end of a zone that cannot be read is notified to those who watch the database")
    func unreadableEnd() async throws {
        let old = try World()
        defer { try? FileManager.default.removeItem(at: old.folder) }
        let anna = try await old.person("anna")
        try await old.subscribe(anna, .database, id: "all")
        let ended = StoredSubscription(
            database: anna.database, user: anna.user.id,
            subscription: WireSubscription(subscriptionID: "damaged-end", kind: .zone))
        try await old.change(
            anna, zone: "gone", .zoneDeleted(.deleted, subscriptions: [ended]), origin: nil)
        let world = try await reopen(old) { try spoil(#""damaged-end""#, in: &$0) }
        _ = try await world.pipeline.drain()
        #expect(try await delivered(to: anna, in: world).contains { $0.hasSuffix("all gone") })
        #expect(world.tally.values["tidebell.push.changes.damaged"] == 1)
        try await world.store.close()
    }

    @Test("A damaged subscription fires no more, holds up nobody, and an explanation names it")
    func unreadableSubscription() async throws {
        let old = try World()
        defer { try? FileManager.default.removeItem(at: old.folder) }
        let anna = try await old.person("anna")
        try await old.subscribe(
            anna, .query, id: "broken", type: "FeedItem", info: .visual("damaged-text"))
        try await old.subscribe(anna, .query, id: "whole", type: "FeedItem")
        let world = try await reopen(old) { try spoil(#""damaged-text""#, in: &$0) }
        for name in ["a", "b"] {
            try await world.create([name], of: anna)
            #expect(try await world.pipeline.drain() == 1)
        }
        #expect(
            try await delivered(to: anna, in: world) == ["qry whole feed a", "qry whole feed b"])
        let explained = try await world.explained().changes.first?.subscriptions ?? []
        #expect(
            explained.map { "\($0.subscriptionID): \($0.rule.clause)" } == [
                "whole: the record was created and matches",
                "broken: it is damaged on the server's disk and fires no more until it is saved anew",
            ])
        #expect(world.tally.values["tidebell.push.subscriptions.damaged"] == 2)
        let logged = world.log.entries.filter { $0.level == .error }
        #expect(logged.map(\.message) == ["a subscription is damaged and does not fire any more"])
        try await world.store.close()
        let found = try StoreCheck.run(at: file(of: world).path())
        #expect(found.problems.map(\.problem) == ["the subscription is damaged (broken)"])
    }
}
