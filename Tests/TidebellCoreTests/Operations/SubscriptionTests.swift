// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

struct SubscriptionTests {
    private static func subscription(
        _ kind: WireSubscription.Kind, id: String = "s"
    ) -> WireSubscription {
        switch kind {
        case .query:
            WireSubscription(
                subscriptionID: id, kind: .query, recordType: "Note", firesOn: .create
            )
        case .zone:
            WireSubscription(
                subscriptionID: id, kind: .zone, zoneID: ZoneID(zoneName: "Notes")
            )
        case .database: WireSubscription(subscriptionID: id, kind: .database)
        }
    }

    @Test(
        "SUB-2 to SUB-5, T-6: the nine cells of kind and database",
        arguments: WireSubscription.Kind.allCases, DatabaseScope.allCases
    )
    func legality(kind: WireSubscription.Kind, scope: DatabaseScope) async throws {
        let legal: [WireSubscription.Kind: Set<DatabaseScope>] = [
            .query: [.public, .private], .zone: [.private], .database: [.private, .shared],
        ]
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let result = try await bench.subscribe(
            Self.subscription(kind), bench.call(scope: scope)
        )
        if legal[kind]?.contains(scope) == true {
            guard case .subscription(let saved) = result else {
                Issue.record("\(result)")
                return
            }
            #expect(saved.kind == kind)
        } else {
            #expect(
                result
                    == .failed(
                        subscriptionID: "s",
                        WireError(
                            .badRequest,
                            "a \(kind) subscription cannot be saved in the \(scope) database"
                        )
                    )
            )
        }
    }

    @Test("SUB-6: a zone subscription needs a zone that exists and tracks changes")
    func zonesOfZoneSubscriptions() async throws {
        let bench = try await Bench()
        var subscription = Self.subscription(.zone)
        #expect(
            try await bench.subscribe(subscription)
                == .failed(
                    subscriptionID: "s",
                    WireError(.zoneNotFound, "Zone 'Notes' does not exist")
                )
        )
        subscription.zoneID = ZoneID(zoneName: "_defaultZone")
        #expect(
            try await bench.subscribe(subscription)
                == .failed(
                    subscriptionID: "s",
                    WireError(
                        .badRequest, "a zone subscription cannot watch the default zone"
                    )
                )
        )
    }

    @Test("SUB-30, SUB-31: the same ID again is an update")
    func savingAgainUpdates() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        var subscription = Self.subscription(.zone)
        try await bench.subscribe(subscription)
        subscription.recordType = "Note"
        try await bench.subscribe(subscription)
        let call = bench.call()
        let all = try await bench.store.read { try ListSubscriptions.run(for: call, in: $0) }
        subscription.zoneID = ZoneID(
            zoneName: "Notes", ownerRecordName: bench.anna.recordName
        )
        #expect(all.subscriptions == [.subscription(subscription)])
    }

    @Test("SUB-32 to SUB-34, T-11: another ID with the same trigger names the first")
    func duplicates() async throws {
        let bench = try await Bench()
        try await bench.subscribe(Self.subscription(.query, id: "first"))
        let twin = try await bench.subscribe(Self.subscription(.query, id: "second"))
        guard case .failed("second", let error) = twin else {
            Issue.record("\(twin)")
            return
        }
        #expect(error.reason == "subscription is duplicate of 'first'")
        #expect(error.ckErrorCode == 15)
        var superset = Self.subscription(.query, id: "third")
        superset.firesOn = [.create, .delete]
        #expect(try await bench.subscribe(superset) == .subscription(superset))
        for id in ["d1", "d2"] {
            let database = Self.subscription(.database, id: id)
            #expect(try await bench.subscribe(database) == .subscription(database))
        }
    }

    @Test("SUB-10, SUB-29: subscriptions are per user and database")
    func identity() async throws {
        let bench = try await Bench()
        let query = Self.subscription(.query)
        for call in [
            bench.call(scope: .public), bench.call(bench.otto, scope: .public), bench.call(),
        ] {
            #expect(try await bench.subscribe(query, call) == .subscription(query))
        }
    }

    @Test("SUB-37: deleting a subscription that does not exist is an error")
    func deletingMissing() async throws {
        let bench = try await Bench()
        let call = bench.call()
        let response = try await bench.store.write(.everything) {
            try ModifySubscriptions.run(
                .init(operations: [.delete(subscriptionID: "s")]), for: call, in: $0
            )
        }
        #expect(
            response.subscriptions == [
                .failed(
                    subscriptionID: "s",
                    WireError(.notFound, "subscription 's' does not exist")
                )
            ]
        )
    }

    @Test("SUB-45: the number of subscriptions is bounded, updates always pass")
    func limit() async throws {
        let bench = try await Bench()
        var limits = Limits()
        limits.subscriptionsPerUser = 1
        let first = Self.subscription(.database, id: "d1")
        try await bench.subscribe(first, bench.call(limits: limits))
        #expect(
            try await bench.subscribe(first, bench.call(limits: limits)) == .subscription(first)
        )
        let second = try await bench.subscribe(
            Self.subscription(.database, id: "d2"), bench.call(limits: limits)
        )
        guard case .failed(_, let error) = second else {
            Issue.record("\(second)")
            return
        }
        #expect(error.ckErrorCode == 27)
    }

    @Test("SUB-65: a zone takes its subscriptions along, and the outbox keeps them to be notified")
    func zoneDeletionEndsSubscriptions() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.subscribe(Self.subscription(.zone, id: "zone"))
        try await bench.subscribe(Self.subscription(.database, id: "all"))
        try await bench.deleteZone("Notes")
        let call = bench.call()
        let left = try await bench.store.read { try ListSubscriptions.run(for: call, in: $0) }
        #expect(left.subscriptions == [.subscription(Self.subscription(.database, id: "all"))])
        guard case .zoneDeleted(.deleted, let ended)? = try await bench.outbox().last?.event
        else {
            Issue.record("no outbox entry")
            return
        }
        #expect(ended.map(\.subscription.subscriptionID) == ["zone"])
    }

    @Test("SUB-18, SUB-25, NINFO-16: what a query subscription cannot be")
    func badQuerySubscriptions() async throws {
        let bench = try await Bench()
        func reason(_ change: (inout WireSubscription) -> Void) async throws -> String {
            var subscription = Self.subscription(.query)
            change(&subscription)
            guard case .failed(_, let error) = try await bench.subscribe(subscription) else {
                return "saved"
            }
            return error.reason
        }
        #expect(
            try await reason { $0.firesOn = [] }
                == "a query subscription needs at least one of create, update and delete in firesOn"
        )
        #expect(
            try await reason { $0.recordType = nil } == "a query subscription needs a record type"
        )
        #expect(
            try await reason { $0.recordType = "Users" }
                == "records of the system type 'Users' cannot be queried"
        )
        #expect(
            try await reason { subscription in
                subscription.notificationInfo = WireNotificationInfo()
                subscription.notificationInfo?.desiredKeys = ["a", "b", "c", "d"]
            } == "additionalFields names 4 fields; at most 3 fit a push"
        )
    }

    @Test("SUB-7: a change nobody can be notified of writes no outbox entry")
    func quietDatabases() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "a"))
        #expect(try await bench.outbox() == [])
        try await bench.subscribe(Self.subscription(.database))
        try await bench.modify(.save(.create, "x"), zone: "_defaultZone")
        #expect(try await bench.outbox() == [])
        try await bench.modify(.save(.create, "b", title: "t"))
        let entries = try await bench.outbox()
        #expect(entries.map(\.zoneName) == ["Notes"])
        #expect(
            entries.map(\.event) == [
                .records([RecordChange(recordName: "b", recordType: "Note", event: .created)])
            ]
        )
        #expect(entries.map(\.originClient) == ["phone"])
    }
}
