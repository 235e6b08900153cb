// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
@testable import TidebellPush
import TidebellWire

@Suite("What is kept of notified changes", .hangs)
struct PassExplanationTests {
    @Test("Where nothing is kept, nothing is written")
    func off() async throws {
        try await World.run { configuration in
            configuration.keepsExplanations = false
        } _: { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .database)
            try await world.create(["a"], of: anna)
            let change = try #require(try await world.pending().first)
            #expect(try await world.pipeline.drain() == 1)
            try await world.store.read { reader throws in
                #expect(try reader.keptChanges(KeptChangeQuery(), limit: 9).isEmpty)
                #expect(try reader.notifiedMatches(of: change, to: nil, limit: 9).isEmpty)
                #expect(try reader.oldestKeptChange() == nil)
            }
        }
    }

    @Test("Large fields are not kept; names, types and what was sent are")
    func shortened() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, type: "FeedItem")
            func save(_ name: String, bytes: Int) async throws {
                let text = String(repeating: "x", count: bytes)
                let change = RecordChange(
                    recordName: name, recordType: "FeedItem", event: .created,
                    fields: RecordFields(["text": Field(.string(text))])
                )
                try await world.change(anna, .records([change]), origin: nil)
            }
            try await save("large", bytes: PassExplanation.keptFieldBytes)
            try await save("small", bytes: PassExplanation.keptFieldBytes - 100)
            #expect(try await world.pipeline.drain() == 2)
            let kept = try await world.store.read {
                try $0.keptChanges(KeptChangeQuery(), limit: 9)
            }
            let sizes = kept.map { change -> [String: Int?] in
                guard case .records(let changes) = change.entry.event else { return [:] }
                return Dictionary(
                    uniqueKeysWithValues: changes.map { ($0.recordName, $0.fields?.json.count) }
                )
            }
            #expect(sizes.count == 2)
            #expect(sizes.first?["small"]??.description != nil)
            #expect(sizes.last == ["large": nil])
            #expect(try await world.explained { $0.recordName = "large" }.changes.count == 1)
        }
    }

    @Test("PUSH-2: every match is explained, the merged ones with the notification they went into")
    func matches() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .zone, id: "zone", zone: "feed")
            try await world.subscribe(anna, .query, id: "query", type: "FeedItem")
            try await world.create(["a"], of: anna)
            try await world.create(["b"], of: anna)
            let changes = try await world.pending()
            _ = try await world.pipeline.drain()
            let log = try await world.log(of: anna)
            let delivered = try await world.store.read { reader in
                try changes.flatMap { try reader.notifiedMatches(of: $0, to: nil, limit: 9) }
            }
            let accounts = Set(
                delivered.map { match in
                    let number = changes.firstIndex(of: match.change).map { $0 + 1 } ?? 0
                    return "\(number) \(match.subscriptionID) \(match.recordName ?? "") "
                        + "\(match.isMerged)"
                })
            #expect(
                accounts == ["1 zone  true", "1 query a false", "2 zone  false", "2 query b false"]
            )
            for match in delivered {
                let notification = try #require(log.first { $0.sequence == match.sequence })
                #expect(match.notificationID == notification.notificationID)
                #expect(match.subscriptionID == notification.subscriptionID)
                #expect(match.payloadSize == notification.payload.count)
            }
        }
    }
}

extension World {
    /// The changes that wait, oldest first.
    fileprivate func pending() async throws -> [OutboxEntryID] {
        try await store.read { try $0.outboxes(limit: 9).flatMap(\.entries).map(\.id) }
    }
}
