// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellScheduling
import TidebellServer

/// What the server does after saves that move more than they take along themselves.
@Suite("Hierarchies are settled", .hangs) struct HierarchySettlingTests {
    @Test("TOK-25: what a save leaves is taken up when a server starts, and while it runs")
    func service() async throws {
        var limits = Limits()
        limits.movedRecords = 0
        let api = try await TestAPI(limits: limits)
        let shared = try await api.shared(#""publicPermission":"READ_ONLY""#, ofParent: true)
        let guid = String(try #require(shared.firstMatch(of: /"shortGUID":"([^"]+)"/)?.1))
        #expect(try await !isSettled(api))
        let settling = HierarchySettling(
            store: api.cloud.store, time: Time(now: { api.clock.instant }, clock: api.clock),
            logger: api.log.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Its clock stands still: nothing but the signal wakes it.
            group.addTask { try await settling.run() }
            #expect(try await eventually { try await isSettled(api) })
            let moved = try await api.post(
                "private/records/modify",
                """
                {"zoneID":{"zoneName":"Shared"},"operations":[{"operationType":"create",\
                "record":{"recordName":"other","recordType":"Note","fields":{}}},\
                {"operationType":"create","record":{"recordName":"below","recordType":"Note",\
                "fields":{},"parent":{"recordName":"other"}}}]}
                """)
            #expect(moved.status == 200)
            _ = try await api.post(
                "private/records/modify",
                """
                {"zoneID":{"zoneName":"Shared"},"operations":[{"operationType":"forceUpdate",\
                "record":{"recordName":"other","recordType":"Note","fields":{},\
                "parent":{"recordName":"root"}}}]}
                """)
            #expect(
                try await eventually {
                    try await api.cloud.store.read { reader in
                        guard let zone = try reader.share(shortGUID: guid)?.zone else {
                            return false
                        }
                        return try reader.memberships(of: ["below"], in: zone.key).count == 1
                            && !zone.isUnsettled
                    }
                })
            group.cancelAll()
        }
    }

    private func isSettled(_ api: TestAPI) async throws -> Bool {
        try await api.cloud.store.read {
            try $0.unsettledZones(from: ZoneKey(rawValue: 0), limit: 1).isEmpty
        }
    }
}
