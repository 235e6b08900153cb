// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Fields that private records alone have")
struct PrivateFieldTests {
    private static let name = Bench.container.container
    private static let number = FieldValue.int64(5)
    private static let text = FieldValue.string("five")
    private static let double = FieldValue.double(5.5)

    private let bench: Bench

    init() async throws {
        bench = try await Bench()
    }

    private var anna: Call { bench.call(bench.anna) }
    private var otto: Call { bench.call(bench.otto) }

    private func call(_ user: StoredUser, _ scope: DatabaseScope) -> Call {
        bench.call(user, scope: scope)
    }

    /// Saves a record with one value for `total`; returns what is wrong with it.
    @discardableResult
    private func save(
        _ value: FieldValue, as name: String = "a", isEncrypted: Bool = false, _ call: Call
    ) async throws -> String? {
        let fields = ["total": Field?.some(Field(value, isEncrypted: isEncrypted))]
        let operation = ModifyRecords.Operation(
            .forceUpdate, recordName: name, recordType: "Invoice", fields: FieldChanges(fields))
        return try await bench.modify(operation, zone: "_defaultZone", call: call)[0].error?.reason
    }

    /// The names of the records with a value for `total`.
    private func found(_ value: FieldValue, _ call: Call) async throws -> [String] {
        let query = WireQuery(
            recordType: "Invoice", filters: [WireFilter(.equals, .field("total"), value)])
        return try await bench.query(query, zone: "_defaultZone", call: call).names
    }

    @Test("ENV-1: a field of one user's private records takes its name away from nobody")
    func perUser() async throws {
        #expect(try await save(Self.number, otto) == nil)
        #expect(try await save(Self.text, anna) == nil)
        // Each of them keeps the type of their first value.
        #expect(
            try await save(Self.text, as: "b", otto)?.hasPrefix(
                "Invalid value, expected type INT64") == true)
        #expect(
            try await save(Self.number, as: "b", anna)?.hasPrefix(
                "Invalid value, expected type STRING") == true)
        #expect(try await save(.int64(6), otto) == nil)
        #expect(try await save(.string("six"), anna) == nil)
        // And asks for it as that.
        #expect(try await found(.int64(6), otto) == ["a"])
        #expect(try await found(.string("six"), anna) == ["a"])
        let query = WireQuery(
            recordType: "Invoice", filters: [WireFilter(.equals, .field("total"), Self.number)])
        let error = try await bench.error(of: query, zone: "_defaultZone", call: anna)
        #expect(error?.reason.contains("expected type STRING") == true)
    }

    @Test("ENV-1: who has a field as another user's private records have it keeps it so, too")
    func sameType() async throws {
        try await save(Self.number, otto)
        #expect(try await save(Self.number, anna) == nil)
        #expect(try await save(Self.text, as: "b", anna) != nil)
        #expect(try await save(Self.text, as: "b", otto) != nil)
    }

    @Test("REC-11, ENV-1: also where one of them encrypts it")
    func encrypted() async throws {
        #expect(try await save(Self.text, isEncrypted: true, otto) == nil)
        #expect(try await save(Self.text, anna) == nil)
        #expect(
            try await save(Self.text, as: "b", otto)?.contains("plain data in encrypted") == true)
        #expect(
            try await save(Self.text, as: "b", isEncrypted: true, anna)?
                .contains("encrypted data in non encrypted") == true)
    }

    @Test("ENV-1: records of one request agree on a field, too")
    func oneRequest() async throws {
        try await save(Self.number, otto)
        let operations = [Self.text, Self.double, .string("six")].enumerated().map { index, value in
            ModifyRecords.Operation(
                .create, recordName: "r\(index)", recordType: "Invoice",
                fields: FieldChanges(["total": .some(Field(value))]))
        }
        let request = ModifyRecords.Request(
            zoneID: ZoneID(zoneName: "_defaultZone"), operations: operations)
        let call = anna
        let response = try await bench.store.write(.everything) {
            try ModifyRecords.run(request, for: call, in: $0)
        }
        #expect(response.records.map { $0.error == nil } == [true, false, true])
    }

    @Test("ENV-1: what is in the public database binds everybody, but who had it privately before")
    func publicDatabase() async throws {
        try await save(Self.number, otto)
        #expect(try await save(Self.text, call(bench.anna, .public)) == nil)
        #expect(try await save(Self.number, as: "b", call(bench.otto, .public)) != nil)
        // Otto's private records go on as they were; Anna's begin as the public ones are.
        #expect(try await save(.int64(6), otto) == nil)
        #expect(try await found(.int64(6), otto) == ["a"])
        #expect(try await save(Self.number, anna) != nil)
        #expect(try await save(Self.text, anna) == nil)
        #expect(try await found(Self.text, call(bench.otto, .public)) == ["a"])
    }

    @Test("ENV-1: a public value of the same type binds everybody from then on")
    func publicOfTheSameType() async throws {
        try await save(Self.number, otto)
        try await save(Self.number, call(bench.anna, .public))
        #expect(try await save(Self.text, anna) != nil)
    }

    @Test("ENV-2, ENV-3: deployments and checks say which private records production would refuse")
    func warnings() async throws {
        try await save(Self.number, otto)
        try await save(Self.text, anna)
        let schemas = Schemas(store: bench.store)
        let words = "the field Invoice.total as STRING, which it is in private records of one user"
        #expect(
            try await schemas.diff(Self.name).warnings == [
                "could not be saved in production: \(words)"
            ])
        let deployment = try await schemas.deploy(Self.name, by: "anna", at: Instant(rawValue: 1))
        #expect(deployment.plan.differing == [words])
        #expect(try await schemas.check(Self.name).map(\.description) == [words])
    }

    @Test("ENV-1: an import says what a field is, for everybody")
    func imported() async throws {
        try await save(Self.number, otto)
        try await save(Self.text, anna)
        let schemas = Schemas(store: bench.store)
        _ = try await schemas.import(
            "DEFINE SCHEMA RECORD TYPE Invoice (total DOUBLE QUERYABLE);", into: Self.name)
        #expect(try await save(Self.double, as: "b", otto) == nil)
        #expect(try await save(Self.double, as: "b", anna) == nil)
        #expect(try await save(Self.text, as: "c", anna) != nil)
        #expect(try await schemas.diff(Self.name).differing == [])
    }

    @Test("ENV-1: subscriptions ask for a field as its owner has it")
    func subscriptions() async throws {
        try await save(Self.number, otto)
        try await save(Self.text, anna)
        func error(_ value: FieldValue, _ call: Call) async throws -> String? {
            var subscription = WireSubscription(
                subscriptionID: "s", kind: .query, recordType: "Invoice", firesOn: [.create],
                notificationInfo: WireNotificationInfo())
            subscription.filters = [WireFilter(.equals, .field("total"), value)]
            return try await bench.subscribe(subscription, call).error?.reason
        }
        #expect(try await error(Self.text, anna) == nil)
        #expect(try await error(Self.number, otto) == nil)
        #expect(try await error(Self.text, otto)?.contains("expected type INT64") == true)
    }

    @Test("ENV-1: as strict as Apple, the first value binds everybody")
    func strict() async throws {
        var limits = Limits()
        limits.strictness = .apple
        try await save(Self.number, otto)
        let reason = try await save(Self.text, bench.call(bench.anna, limits: limits))
        #expect(
            reason
                == "Invalid value, expected type INT64. (field 'total' of record type 'Invoice', given "
                + "as STRING); another user's private record has fixed it; a deployment can give "
                + "production one type only (ENV-1)")
    }
}
