// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellWire

/// What one side writes, the other reads: for every endpoint, over random values.
@Suite("Round trips", .tags(.roundTrip))
struct RoundTripTests {
    static let seeds: [UInt64] = [51, 52, 53]

    /// Writes and reads 200 random values and compares them; what is written
    /// must also be JSON to Foundation.
    private func check<Value: Equatable>(
        seed: UInt64,
        _ make: (inout SeededGenerator) -> Value,
        write: (Value, inout JSONWriter) -> Void,
        read: (inout JSONReader) throws -> Value,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<200 {
            let value = make(&random)
            let bytes = JSONWriter.write { write(value, &$0) }
            let comment: Comment = "seed \(seed), round \(round)"
            _ = try JSONTree.readByFoundation(bytes)
            let result = try JSONReader.read(bytes, read)
            #expect(result == value, comment, sourceLocation: sourceLocation)
        }
    }

    @Test("records/modify: request", arguments: seeds)
    func modifyRecordsRequest(seed: UInt64) throws {
        try check(
            seed: seed,
            { random in
                ModifyRecords.Request(
                    zoneID: random.zoneID(),
                    operations: random.list(upTo: 4) { $0.modifyOperation() },
                    atomic: random.maybe { $0.oneIn(2) },
                    desiredKeys: random.maybe { $0.list(upTo: 3) { $0.text() } },
                    numbersAsStrings: random.oneIn(2),
                    clientChangeToken: random.maybe { $0.bytes() }
                )
            },
            write: { $0.write(to: &$1) },
            read: { try ModifyRecords.Request(from: &$0) }
        )
    }

    @Test("records/modify and records/lookup: response", arguments: seeds)
    func recordsResponse(seed: UInt64) throws {
        try check(
            seed: seed,
            { ModifyRecords.Response(records: $0.list(upTo: 4) { $0.recordResult() }) },
            write: { $0.write(to: &$1) },
            read: { try ModifyRecords.Response(from: &$0) }
        )
    }

    @Test("records/lookup: request", arguments: seeds)
    func lookupRecordsRequest(seed: UInt64) throws {
        try check(
            seed: seed,
            { random in
                LookupRecords.Request(
                    zoneID: random.zoneID(),
                    records: random.list(upTo: 4) { random in
                        LookupRecords.Item(
                            recordName: random.text(),
                            desiredKeys: random.maybe { $0.list(upTo: 2) { $0.text() } }
                        )
                    },
                    desiredKeys: random.maybe { $0.list(upTo: 2) { $0.text() } },
                    numbersAsStrings: random.oneIn(2)
                )
            },
            write: { $0.write(to: &$1) },
            read: { try LookupRecords.Request(from: &$0) }
        )
    }

    @Test("records/query: request", arguments: seeds)
    func queryRecordsRequest(seed: UInt64) throws {
        try check(
            seed: seed,
            { random in
                QueryRecords.Request(
                    query: random.query(),
                    zoneID: random.maybe { $0.zoneID() },
                    zoneWide: random.oneIn(2),
                    resultsLimit: random.maybe { $0.below(500) },
                    continuationMarker: random.maybe { $0.name() },
                    desiredKeys: random.maybe { $0.list(upTo: 2) { $0.text() } },
                    numbersAsStrings: random.oneIn(2)
                )
            },
            write: { $0.write(to: &$1) },
            read: { try QueryRecords.Request(from: &$0) }
        )
    }

    @Test("records/query: response", arguments: seeds)
    func queryRecordsResponse(seed: UInt64) throws {
        try check(
            seed: seed,
            { random in
                QueryRecords.Response(
                    records: random.list(upTo: 4) { $0.recordResult() },
                    continuationMarker: random.maybe { $0.name() },
                    syncToken: random.maybe { $0.name() }
                )
            },
            write: { $0.write(to: &$1) },
            read: { try QueryRecords.Response(from: &$0) }
        )
    }

    @Test("records/changes: request and response", arguments: seeds)
    func recordChanges(seed: UInt64) throws {
        try check(
            seed: seed,
            { random in
                FetchRecordChanges.Request(
                    zoneID: random.zoneID(), syncToken: random.maybe { $0.name() },
                    options: random.zoneOptions()
                )
            },
            write: { $0.write(to: &$1) },
            read: { try FetchRecordChanges.Request(from: &$0) }
        )
        try check(
            seed: seed,
            { random in
                FetchRecordChanges.Response(
                    records: random.list(upTo: 3) { $0.recordResult() },
                    syncToken: random.text(), moreComing: random.oneIn(2),
                    reverse: random.oneIn(2), clientChangeToken: random.maybe { $0.bytes() }
                )
            },
            write: { $0.write(to: &$1) },
            read: { try FetchRecordChanges.Response(from: &$0) }
        )
    }

    @Test("zones/changes: request and response", arguments: seeds)
    func changedZones(seed: UInt64) throws {
        try check(
            seed: seed,
            { random in
                FetchChangedZones.Request(
                    metaSyncToken: random.maybe { $0.name() },
                    resultsLimit: random.maybe { $0.below(500) }
                )
            },
            write: { $0.write(to: &$1) },
            read: { try FetchChangedZones.Request(from: &$0) }
        )
        try check(
            seed: seed,
            { random in
                FetchChangedZones.Response(
                    zones: random.list(upTo: 4) { $0.zoneResult() },
                    metaSyncToken: random.text(), moreComing: random.oneIn(2)
                )
            },
            write: { $0.write(to: &$1) },
            read: { try FetchChangedZones.Response(from: &$0) }
        )
    }

    @Test("changes/database: request", arguments: seeds)
    func databaseChangesRequest(seed: UInt64) throws {
        try check(
            seed: seed,
            { random in
                FetchDatabaseChanges.Request(
                    syncToken: random.maybe { $0.name() },
                    resultsLimit: random.maybe { $0.below(1_000) }
                )
            },
            write: { $0.write(to: &$1) },
            read: { try FetchDatabaseChanges.Request(from: &$0) }
        )
    }

    @Test("changes/database: response, which never carries atomic", arguments: seeds)
    func databaseChangesResponse(seed: UInt64) throws {
        try check(
            seed: seed,
            { random in
                let zones = random.list(upTo: 4) { $0.zoneResult() }.map(\.withoutAtomic)
                return FetchDatabaseChanges.Response(
                    zones: zones,
                    syncToken: random.text(),
                    moreComing: random.oneIn(2)
                )
            },
            write: { $0.write(to: &$1) },
            read: { try FetchDatabaseChanges.Response(from: &$0) }
        )
    }

    @Test("changes/zone: request", arguments: seeds)
    func zoneChangesRequest(seed: UInt64) throws {
        try check(
            seed: seed,
            { random in
                FetchZoneChanges.Request(
                    zones: random.list(upTo: 3) { random in
                        FetchZoneChanges.Zone(
                            zoneID: random.zoneID(),
                            syncToken: random.maybe { $0.name() },
                            options: random.zoneOptions()
                        )
                    },
                    options: random.zoneOptions()
                )
            },
            write: { $0.write(to: &$1) },
            read: { try FetchZoneChanges.Request(from: &$0) }
        )
    }

    @Test("changes/zone: response", arguments: seeds)
    func zoneChangesResponse(seed: UInt64) throws {
        try check(
            seed: seed,
            { random in
                FetchZoneChanges.Response(zones: random.list(upTo: 3) { $0.zoneAnswer() })
            },
            write: { $0.write(to: &$1) },
            read: { try FetchZoneChanges.Response(from: &$0) }
        )
    }

    @Test("zones/list, lookup and modify: response", arguments: seeds)
    func zonesResponse(seed: UInt64) throws {
        try check(
            seed: seed,
            { ZonesResponse(zones: $0.list(upTo: 4) { $0.zoneResult() }) },
            write: { $0.write(to: &$1) },
            read: { try ZonesResponse(from: &$0) }
        )
    }

    @Test("zones/lookup: request", arguments: seeds)
    func lookupZonesRequest(seed: UInt64) throws {
        try check(
            seed: seed,
            { LookupZones.Request(zones: $0.list(upTo: 4) { $0.zoneID() }) },
            write: { $0.write(to: &$1) },
            read: { try LookupZones.Request(from: &$0) }
        )
    }

    @Test("zones/modify: request", arguments: seeds)
    func modifyZonesRequest(seed: UInt64) throws {
        try check(
            seed: seed,
            { random in
                ModifyZones.Request(
                    operations: random.list(upTo: 4) { random in
                        random.oneIn(2) ? .create(random.zoneID()) : .delete(random.zoneID())
                    }
                )
            },
            write: { $0.write(to: &$1) },
            read: { try ModifyZones.Request(from: &$0) }
        )
    }

    @Test("subscriptions/list, lookup and modify: response", arguments: seeds)
    func subscriptionsResponse(seed: UInt64) throws {
        try check(
            seed: seed,
            { SubscriptionsResponse(subscriptions: $0.list(upTo: 4) { $0.subscriptionResult() }) },
            write: { $0.write(to: &$1) },
            read: { try SubscriptionsResponse(from: &$0) }
        )
    }

    @Test("subscriptions/lookup: request", arguments: seeds)
    func lookupSubscriptionsRequest(seed: UInt64) throws {
        try check(
            seed: seed,
            { LookupSubscriptions.Request(subscriptionIDs: $0.list(upTo: 4) { $0.text() }) },
            write: { $0.write(to: &$1) },
            read: { try LookupSubscriptions.Request(from: &$0) }
        )
    }

    @Test("subscriptions/modify: request", arguments: seeds)
    func modifySubscriptionsRequest(seed: UInt64) throws {
        try check(
            seed: seed,
            { random in
                ModifySubscriptions.Request(
                    operations: random.list(upTo: 4) { random in
                        switch random.below(3) {
                        case 0: .create(random.subscription())
                        case 1: .update(random.subscription())
                        default: .delete(subscriptionID: random.text())
                        }
                    }
                )
            },
            write: { $0.write(to: &$1) },
            read: { try ModifySubscriptions.Request(from: &$0) }
        )
    }

    @Test("tokens/create and tokens/register: request", arguments: seeds)
    func tokenRequest(seed: UInt64) throws {
        try check(
            seed: seed,
            { random in
                TokenRequest(
                    apnsEnvironment: random.pick(CloudEnvironment.allCases),
                    apnsToken: random.maybe { $0.text() },
                    clientId: random.maybe { $0.text() },
                    topic: random.maybe { $0.text() }
                )
            },
            write: { $0.write(to: &$1) },
            read: { try TokenRequest(from: &$0) }
        )
    }

    @Test("users/caller: response", arguments: seeds)
    func callerResponse(seed: UInt64) throws {
        try check(
            seed: seed,
            { CallerResponse(userRecordName: $0.text()) },
            write: { $0.write(to: &$1) },
            read: { try CallerResponse(from: &$0) }
        )
    }

    @Test("a request-level error", arguments: seeds)
    func requestError(seed: UInt64) throws {
        try check(
            seed: seed,
            { $0.error(isItem: false) },
            write: { $0.write(to: &$1) },
            read: { try WireError(from: &$0) }
        )
    }
}

extension Tag {
    @Tag static var roundTrip: Self
}

extension ZoneResult {
    /// The same without what `changes/database` leaves out.
    fileprivate var withoutAtomic: ZoneResult {
        guard case .zone(var zone) = self else { return self }
        zone.isAtomic = false
        return .zone(zone)
    }
}

extension SeededGenerator {
    fileprivate mutating func modifyOperation() -> ModifyRecords.Operation {
        let type = pick(ModifyRecords.OperationType.allCases)
        let changes = list(upTo: 4) { random in
            (random.text(), random.oneIn(4) ? nil : random.field())
        }
        return ModifyRecords.Operation(
            type,
            recordName: maybe { $0.text() },
            recordType: maybe { $0.text() },
            recordChangeTag: maybe { $0.text() },
            fields: type.deletes
                ? FieldChanges() : FieldChanges(Dictionary(changes) { $1 }),
            parent: maybe { random -> String? in random.maybe { $0.text() } },
            desiredKeys: maybe { $0.list(upTo: 2) { $0.text() } }
        )
    }

    fileprivate mutating func query() -> WireQuery {
        WireQuery(
            recordType: text(),
            filters: list(upTo: 3) { random in
                let type = random.pick([FieldType.string, .int64, .location, .reference, .bytes])
                return WireFilter(
                    random.pick([.equals, .lessThan, .near]), random.subject(),
                    random.scalar(type), distance: random.maybe { Double($0.below(9)) }
                )
            },
            sorts: list(upTo: 3) { random in
                WireSort(
                    random.subject(), ascending: random.oneIn(2),
                    relativeLocation: random.maybe { $0.location() }
                )
            }
        )
    }

    private mutating func subject() -> WireFilter.Subject {
        oneIn(2) ? .system(pick(WireFilter.SystemField.allCases)) : .field(name())
    }

    fileprivate mutating func zoneOptions() -> FetchZoneChanges.Options {
        FetchZoneChanges.Options(
            resultsLimit: maybe { $0.below(500) },
            desiredKeys: maybe { $0.list(upTo: 2) { $0.text() } },
            desiredRecordTypes: maybe { $0.list(upTo: 2) { $0.text() } },
            reverse: maybe { $0.oneIn(2) },
            numbersAsStrings: maybe { $0.oneIn(2) }
        )
    }

    fileprivate mutating func zoneAnswer() -> FetchZoneChanges.ZoneAnswer {
        if oneIn(3) { return .failed(zoneID(), error()) }
        return .changes(
            FetchZoneChanges.Page(
                zoneID: zoneID(),
                syncToken: text(),
                moreComing: oneIn(2),
                records: list(upTo: 3) { $0.recordResult() },
                clientChangeToken: maybe { $0.bytes() }
            )
        )
    }
}
