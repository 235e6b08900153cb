// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellTestStores
import TidebellWire

/// A pass whose steps are committed one by one, as on a store of many parts.
@Suite(.hangs) struct StepTests {
    @Test(
        "PUSH-14: a pass may end between any two of its steps: each is notified once")
    func ended() async throws {
        var expected: Outcome?
        var step = -1
        var isWhole = false
        while !isWhole {
            try await World.run(takesStepsApart: true) { world in
                let apart = try #require(world.apart)
                let (anna, ben) = (try await world.person("anna"), try await world.person("ben"))
                for person in [anna, ben] {
                    var info = WireNotificationInfo.visual()
                    info.shouldBadge = true
                    try await world.subscribe(person, .query, type: "FeedItem", info: info)
                    try await world.create(["a", "b"], of: person)
                }
                try await world.subscribe(
                    ben, .query, id: "once", type: "FeedItem", firesOnce: true)
                if step >= 0 { apart.stop(before: step) }
                _ = try? await world.pipeline.drain()
                isWhole = step >= 0 && apart.isStopAhead
                // A database over which a pass failed is tried again later.
                world.clock.advance(by: .seconds(3600))
                _ = try await world.pipeline.drain()
                let found = Outcome(
                    anna: try await world.delivered(anna), ben: try await world.delivered(ben),
                    badges: try await world.store.read { reader in
                        let badges = try reader.badges(of: [anna.user.id, ben.user.id])
                        return [badges[anna.user.id], badges[ben.user.id]]
                    },
                    pending: try await world.store.read { try $0.queuedDatabases(limit: 9).count },
                    explained: try await world.explained()
                )
                if let expected {
                    #expect(found == expected, "ended before step \(step)")
                } else {
                    #expect(found.badges == [2, 2] && found.pending == 0)
                    expected = found
                }
            }
            step += 1
        }
        // What is found out, two logs, two databases; and once more what is found out.
        #expect(step > 5)
    }
}

private struct Outcome: Equatable {
    var anna: [String]
    var ben: [String]
    var badges: [Int?]
    var pending: Int
    var explained: Int
}

extension World {
    /// What is in a person's log: subscription, record and badge of each notification.
    fileprivate func delivered(_ person: Person) async throws -> [String] {
        let log = try await log(of: person)
        #expect(Set(log.map(\.notificationID)).count == log.count)
        return try log.map { notification in
            let object =
                try JSONSerialization.jsonObject(with: Data(notification.payload))
                as? [String: Any]
            let badge = (object?["aps"] as? [String: Any])?["badge"] as? Int
            return "\(try DeliveredPayload(notification.payload)) \(badge.map(String.init) ?? "-")"
        }
    }

    /// How many matches are explained.
    fileprivate func explained() async throws -> Int {
        try await store.read { reader in
            try reader.keptChanges(KeptChangeQuery(), limit: 100)
                .flatMap { try reader.notifiedMatches(of: $0.entry.id, to: nil, limit: 100) }.count
        }
    }
}
