// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellWire

@Suite(.hangs) struct CollapseTests {
    /// A visual info whose notifications collapse by their record's thread.
    private static let byThread: WireNotificationInfo = {
        var info = WireNotificationInfo.visual()
        info.collapseIDKey = "thread"
        return info
    }()

    @Test("NINFO-15, PUSH-2: equal IDs replace one another in a batch, over batches, and waiting")
    func replaced() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem", info: Self.byThread)
            let stream = world.streams.open(device: phone, after: .start)

            try await world.post("a", in: "1", of: anna)
            try await world.post("b", in: "2", of: anna)
            try await world.post("c", in: "1", of: anna)
            #expect(try await world.pipeline.drain() == 2)
            try await world.post("d", in: "2", of: anna)
            #expect(try await world.pipeline.drain() == 1)

            let log = try await world.log(of: anna)
            #expect(try log.map { try DeliveredPayload($0.payload).record } == ["c", "d"])
            #expect(log.map(\.collapseID) == [.chosen("1"), .chosen("2")])
            #expect(try await stream.delivered(2).map(\.record) == ["c", "d"])
        }
    }

    @Test("PUSH-2: an ID counts within one subscription, user and origin")
    func positions() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let ben = try await world.person("ben")
            try await world.subscribe(
                anna, .query, id: "1", type: "FeedItem", info: Self.byThread)
            try await world.subscribe(
                anna, .query, id: "2", type: "FeedItem", info: Self.byThread)
            try await world.subscribe(ben, .query, type: "FeedItem", info: Self.byThread)
            for origin in ["laptop", "phone", "laptop"] {
                try await world.post("a", in: "1", of: anna, origin: origin)
                try await world.post("b", in: "1", of: ben, origin: origin)
                _ = try await world.pipeline.drain()
            }
            let annas = try await world.log(of: anna)
            #expect(
                Set(annas.map { [$0.subscriptionID, $0.originClient ?? ""] })
                    == [["1", "laptop"], ["1", "phone"], ["2", "laptop"], ["2", "phone"]]
            )
            #expect(annas.count == 4)
            #expect(try await world.log(of: ben).count == 2)
        }
    }

    @Test("NINFO-15: silent pushes of a query subscription collapse where the app asks for it")
    func silent() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            var info = WireNotificationInfo()
            info.collapseIDKey = "everything"
            try await world.subscribe(anna, .query, type: "FeedItem", info: info)
            for name in ["a", "b", "c"] {
                try await world.post(name, in: "1", of: anna)
                _ = try await world.pipeline.drain()
            }
            let log = try await world.log(of: anna)
            #expect(try log.map { try DeliveredPayload($0.payload).record } == ["c"])
            #expect(log.map(\.pushType) == [.background])
            #expect(log.map(\.collapseID) == [.chosen("everything")])
        }
    }
}

extension World {
    /// Commits the creation of a record that belongs to a thread.
    fileprivate func post(
        _ name: String, in thread: String, of person: Person, origin: String? = nil
    ) async throws {
        let fields = ["thread": Field(.string(thread))]
        try await change(
            person,
            .records([
                RecordChange(
                    recordName: name, recordType: "FeedItem", event: .created,
                    fields: RecordFields(fields)
                )
            ]),
            origin: origin
        )
    }
}
