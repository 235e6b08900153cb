// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

/// Which subscriptions are duplicates of others, by policy.
@Suite struct DuplicateTests {
    private static func query(_ id: String, _ filters: WireFilter...) -> WireSubscription {
        var subscription = WireSubscription(
            subscriptionID: id, kind: .query, recordType: "Note", firesOn: .create
        )
        subscription.filters = filters
        return subscription
    }

    private static let database = WireSubscription(subscriptionID: "d", kind: .database)

    /// The reason a subscription is refused; nil if it is saved.
    private func save(
        _ subscription: WireSubscription, _ policy: DuplicatePolicy = .standard, on bench: Bench,
        updating: Bool = false
    ) async throws -> String? {
        var limits = Limits()
        limits.duplicateSubscriptions = policy
        let call = bench.call(limits: limits)
        let operation: ModifySubscriptions.Operation =
            updating ? .update(subscription) : .create(subscription)
        let response = try await bench.store.write(.everything) {
            try ModifySubscriptions.run(.init(operations: [operation]), for: call, in: $0)
        }
        guard case .failed(_, let error) = response.subscriptions[0] else { return nil }
        #expect(error.ckErrorCode == 15)
        return error.reason
    }

    @Test("SUB-33, SUB-34: another predicate, type, zone or set of events is another trigger")
    func others() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let low = WireFilter(.equals, .field("tide"), .string("low"))
        #expect(try await save(Self.query("0", low), on: bench) == nil)
        var zoned = Self.query("1", low)
        zoned.zoneID = ZoneID(zoneName: "Notes")
        var typed = Self.query("2", low)
        typed.recordType = "Game"
        var superset = Self.query("3", low)
        superset.firesOn = [.create, .delete]
        var once = Self.query("4", low)
        once.firesOnce = true
        let variants = [
            zoned, typed, superset, once, Self.query("5"),
            Self.query("6", WireFilter(.equals, .field("tide"), .string("high"))),
            Self.query("7", WireFilter(.notEquals, .field("tide"), .string("low"))),
            Self.query("8", WireFilter(.beginsWith, .field("tide"), .string("low"))),
            Self.query("9", WireFilter(.equals, .field("ebb"), .string("low"))),
        ]
        for variant in variants {
            #expect(try await save(variant, on: bench) == nil, "\(variant.subscriptionID)")
        }
    }

    @Test("SUB-34: what a predicate matches makes it the same, not how it is written")
    func canonicalPredicates() async throws {
        let low = WireFilter(.equals, .field("tide"), .string("low"))
        let high = WireFilter(.greaterThan, .field("height"), .int64(3))
        let tags = WireFilter(
            .listContainsAny, .field("tags"), .list(.stringList, [.string("a"), .string("b")])
        )
        let one = FieldValue.list(.stringList, [.string("Low")])
        let spellings: [(WireFilter, WireFilter)] = [
            (low, WireFilter(.equals, .field("tide"), .string("LOW"))),
            (low, WireFilter(.in, .field("tide"), one)),
            (high, WireFilter(.greaterThan, .field("height"), .double(3))),
            (
                tags,
                WireFilter(
                    .listContainsAny, .field("tags"),
                    .list(.stringList, [.string("B"), .string("a"), .string("A")])
                )
            ),
            (
                WireFilter(.containsAllTokens, .field("text"), .string("sea the tide")),
                WireFilter(.containsAllTokens, .field("text"), .string("Tide, sea"))
            ),
            (
                WireFilter(.equals, .field("of"), .reference(WireReference(recordName: "r"))),
                WireFilter(
                    .equals, .field("of"),
                    .reference(WireReference(recordName: "r", action: .deleteSelf))
                )
            ),
        ]
        for (first, second) in spellings {
            let bench = try await Bench()
            let other = WireFilter(.notEquals, .field("x"), .int64(0))
            #expect(try await save(Self.query("first", first, other), on: bench) == nil)
            #expect(
                try await save(Self.query("second", other, second, other), on: bench)
                    == "subscription is duplicate of 'first'", "\(second)"
            )
        }
    }

    @Test("SUB-34: lenient refuses nothing")
    func lenient() async throws {
        let bench = try await Bench()
        #expect(try await save(Self.query("first"), .lenient, on: bench) == nil)
        #expect(try await save(Self.query("second"), .lenient, on: bench) == nil)
        // Under the standard policy again, both may still be changed to something else.
        let low = WireFilter(.equals, .field("tide"), .string("low"))
        #expect(try await save(Self.query("second", low), on: bench) == nil)
    }

    @Test("SUB-34: strict keeps one database subscription for each record type")
    func strictDatabase() async throws {
        let bench = try await Bench()
        #expect(try await save(Self.database, .strict, on: bench) == nil)
        var other = Self.database
        other.subscriptionID = "e"
        #expect(try await save(other, .strict, on: bench) == "subscription is duplicate of 'd'")
        other.recordType = "Note"
        #expect(try await save(other, .strict, on: bench) == nil)
    }

    @Test("SUB-31: strict refuses to create what exists with the same content, but updates it")
    func strictIdentity() async throws {
        let bench = try await Bench()
        var subscription = Self.query("s")
        #expect(try await save(subscription, .strict, on: bench) == nil)
        #expect(
            try await save(subscription, .strict, on: bench) == "subscription is duplicate of 's'"
        )
        #expect(try await save(subscription, .strict, on: bench, updating: true) == nil)
        subscription.firesOn = .delete
        #expect(try await save(subscription, .strict, on: bench) == nil)
    }
}
