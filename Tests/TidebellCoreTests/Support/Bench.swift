// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellCore
import TidebellScheduling
import TidebellTestStores
import TidebellWire

/// Two users and their databases on a real store, driven rule by rule.
final class Bench: Sendable {
    static let container = ContainerKey(
        container: "iCloud.org.tidebell.tests", environment: .development
    )

    let store: any OpenedStore
    let anna: StoredUser
    let otto: StoredUser
    let folder: URL
    private let time = Mutex(Int64(1_000_000))

    init() async throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-core-\(UUID())")
        store = try TestStores.open(in: folder)
        (anna, otto) = try await store.write(.everything) { transaction in
            func user(_ name: String, _ digit: Character) throws -> StoredUser {
                let account = try transaction.createAccount(named: name, at: Instant(rawValue: 1))
                return try transaction.makeUser(
                    of: account, in: Self.container,
                    recordName: "_" + String(repeating: digit, count: 32), at: Instant(rawValue: 0)
                )
            }
            return (try user("anna", "a"), try user("otto", "0"))
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// A call, a second after the one before.
    func call(
        _ user: StoredUser? = nil, scope: DatabaseScope = .private, client: String? = "phone",
        extensions: Bool = true, limits: Limits = Limits(), container: ContainerKey = container
    ) -> Call {
        let now = time.withLock { time in
            time += 1000
            return time
        }
        return Call(
            container: container, scope: scope, user: user ?? anna, clientID: client,
            makeDeviceID: { "device of \(client ?? "nobody")" },
            usesExtensions: extensions, now: Instant(rawValue: now),
            storeIdentity: store.identity, storeIncarnation: store.incarnation, limits: limits,
            uuids: CallUUIDs(after: Randomness.system.makeUUID())
        )
    }

    @discardableResult
    func makeZone(_ name: String, _ call: Call? = nil) async throws -> ZonesResponse {
        let call = call ?? self.call()
        return try await store.write(try .database(of: call)) {
            try ModifyZones.run(
                .init(operations: [.create(ZoneID(zoneName: name))]), for: call, in: $0
            )
        }
    }

    @discardableResult
    func deleteZone(_ name: String, _ call: Call? = nil) async throws -> ZonesResponse {
        let call = call ?? self.call()
        return try await store.write(try .database(of: call)) {
            try ModifyZones.run(
                .init(operations: [.delete(ZoneID(zoneName: name))]), for: call, in: $0
            )
        }
    }

    @discardableResult
    func modify(
        _ operations: ModifyRecords.Operation..., zone: String = "Notes", atomic: Bool? = nil,
        call: Call? = nil
    ) async throws -> [RecordResult] {
        let call = call ?? self.call()
        let request = ModifyRecords.Request(
            zoneID: ZoneID(zoneName: zone), operations: operations, atomic: atomic
        )
        return try await store.save(request, for: call).records
    }

    func lookup(
        _ names: String..., zone: String = "Notes", call: Call? = nil
    ) async throws -> [RecordResult] {
        let call = call ?? self.call()
        let request = LookupRecords.Request(
            zoneID: ZoneID(zoneName: zone), records: names.map { .init(recordName: $0) }
        )
        return try await store.read { try LookupRecords.run(request, for: call, in: $0) }.records
    }

    func changes(
        zone: String = "Notes", since token: String? = nil,
        options: FetchZoneChanges.Options = .init(), call: Call? = nil
    ) async throws -> FetchZoneChanges.ZoneAnswer {
        let call = call ?? self.call()
        let request = FetchZoneChanges.Request(
            zones: [.init(zoneID: ZoneID(zoneName: zone), syncToken: token, options: options)]
        )
        let response = try await store.read {
            try FetchZoneChanges.run(request, for: call, in: $0)
        }
        return response.zones[0]
    }

    func databaseChanges(
        since token: String? = nil, limit: Int? = nil, call: Call? = nil
    ) async throws -> FetchDatabaseChanges.Response {
        let call = call ?? self.call()
        let request = FetchDatabaseChanges.Request(syncToken: token, resultsLimit: limit)
        return try await store.read { try FetchDatabaseChanges.run(request, for: call, in: $0) }
    }

    @discardableResult
    func subscribe(
        _ subscription: WireSubscription, _ call: Call? = nil
    ) async throws -> SubscriptionResult {
        let call = call ?? self.call()
        let request = ModifySubscriptions.Request(operations: [.create(subscription)])
        return try await store.write(try .database(of: call)) {
            try ModifySubscriptions.run(request, for: call, in: $0)
        }.subscriptions[0]
    }

    func outbox() async throws -> [OutboxEntry] {
        try await store.read { try $0.outboxes(limit: 1000).flatMap(\.entries) }
    }
}

extension Store {
    /// Saves and deletes records as a call does: the schema grows in a step of its own.
    func save(
        _ request: ModifyRecords.Request, for call: Call, in scope: StoreScope? = nil,
        returnsSyncToken: Bool = false
    ) async throws -> ModifyRecords.Response {
        let scope = try scope ?? StoreScope.database(of: call)
        return try await writeInSteps(for: nil) { steps in
            try steps.write(scope) {
                try ModifyRecords.attempt(
                    request, for: call, in: $0, returnsSyncToken: returnsSyncToken)
            } first: {
                try $0.run(as: steps)
            }.response
        }
    }
}

extension ModifyRecords.Operation {
    /// A record of type Note with a title.
    static func save(
        _ type: ModifyRecords.OperationType, _ name: String, title: String? = nil,
        tag: String? = nil, parent: String?? = nil, fields: [String: Field?] = [:]
    ) -> ModifyRecords.Operation {
        var fields = fields
        if let title { fields["title"] = .some(Field(.string(title))) }
        return ModifyRecords.Operation(
            type, recordName: name, recordType: "Note", recordChangeTag: tag,
            fields: FieldChanges(fields), parent: parent
        )
    }

    static func forceDelete(_ name: String) -> ModifyRecords.Operation {
        ModifyRecords.Operation(.forceDelete, recordName: name)
    }
}

extension RecordResult {
    /// The record, if it is one.
    var record: WireRecord? {
        if case .record(let record) = self { record } else { nil }
    }

    /// The error, if it is one.
    var error: WireError? {
        if case .failed(_, let error) = self { error } else { nil }
    }

    /// A line with all that matters: whole values compare at a glance.
    var summary: String {
        switch self {
        case .record(let record):
            let title = (try? record.fields.decoded())?["title"]
            if case .string(let text)? = title?.value { return "\(record.recordName)=\(text)" }
            return record.recordName
        case .deleted(let tombstone):
            return "deleted \(tombstone.recordName) \(tombstone.recordType ?? "-")"
        case .failed(let name, let error): return "\(name) \(error.code.rawValue)"
        }
    }
}

extension FetchZoneChanges.ZoneAnswer {
    /// The page, if it is one.
    var page: FetchZoneChanges.Page? {
        if case .changes(let page) = self { page } else { nil }
    }

    /// The error, if it is one.
    var error: WireError? {
        if case .failed(_, let error) = self { error } else { nil }
    }
}

extension SubscriptionResult {
    /// The error, if it is one.
    var error: WireError? {
        if case .failed(_, let error) = self { error } else { nil }
    }
}
