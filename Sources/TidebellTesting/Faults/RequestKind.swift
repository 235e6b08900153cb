// SPDX-License-Identifier: Apache-2.0
public import CloudKit
import TidebellWire

/// The requests of a device that a ``Fault`` affects: requests of one kind, and optionally only for
/// one zone or one record.
///
/// ```swift
/// phone.inject(.zoneBusy(retryAfter: .seconds(3)), into: .modifyRecords.in(zoneID), times: 2)
/// ```
///
/// An operation may send several requests: `CKModifyRecordsOperation` one for each zone.
public struct RequestKind: Sendable, Hashable, CustomStringConvertible {
    /// A device's requests as a transport sees them.
    enum Endpoint: Sendable, Hashable {
        /// By the action in the path.
        case action(String)
        case upload, download
    }

    /// The name, as it is written in a test.
    let name: String
    /// Nil for all.
    let endpoints: Set<Endpoint>?
    var zone: CKRecordZone.ID?
    var record: CKRecord.ID?

    private init(_ name: String, _ endpoints: Set<Endpoint>?) {
        self.name = name
        self.endpoints = endpoints
    }

    private init(_ name: String, _ types: any WireEndpoint.Type...) {
        self.init(name, Set(types.map { .action($0.route.path.action) }))
    }

    /// Every request to a database or for a file, but not the requests that keep a device connected
    /// for pushes.
    public static let any = RequestKind("any", nil)
    /// Saves and deletions of records: `CKModifyRecordsOperation`, `save(_:)`, `CKSyncEngine`'s sends.
    public static let modifyRecords = RequestKind("modifyRecords", ModifyRecords.self)
    /// Look-ups of records: `CKFetchRecordsOperation`, `record(for:)`.
    public static let fetchRecords = RequestKind("fetchRecords", LookupRecords.self)
    /// Queries: `CKQueryOperation`, `records(matching:)`.
    public static let query = RequestKind("query", QueryRecords.self)
    /// Changes of zones: `CKFetchRecordZoneChangesOperation`, `recordZoneChanges(inZoneWith:since:)`.
    public static let fetchZoneChanges = RequestKind("fetchZoneChanges", FetchZoneChanges.self)
    /// Changes of a database: `CKFetchDatabaseChangesOperation`, `databaseChanges(since:)`.
    public static let fetchDatabaseChanges = RequestKind(
        "fetchDatabaseChanges", FetchDatabaseChanges.self)
    /// Saves and deletions of zones: `CKModifyRecordZonesOperation`.
    public static let modifyZones = RequestKind("modifyZones", ModifyZones.self)
    /// Look-ups of zones: `CKFetchRecordZonesOperation`, `allRecordZones()`.
    public static let fetchZones = RequestKind("fetchZones", ListZones.self, LookupZones.self)
    /// Saves and deletions of subscriptions: `CKModifySubscriptionsOperation`.
    public static let modifySubscriptions = RequestKind(
        "modifySubscriptions", ModifySubscriptions.self)
    /// Look-ups of subscriptions: `CKFetchSubscriptionsOperation`, `allSubscriptions()`.
    public static let fetchSubscriptions = RequestKind(
        "fetchSubscriptions", ListSubscriptions.self, LookupSubscriptions.self)
    /// Requests for the user's identity: `accountStatus()`, `userRecordID()`.
    public static let fetchUser = RequestKind("fetchUser", FetchCaller.self)
    /// Uploads of the files of assets.
    public static let uploadAssets = RequestKind("uploadAssets", [.upload])
    /// Downloads of the files of assets.
    public static let downloadAssets = RequestKind("downloadAssets", [.download])

    /// Returns the requests of this kind for a zone.
    public func `in`(_ zoneID: CKRecordZone.ID) -> RequestKind {
        var kind = self
        kind.zone = zoneID
        return kind
    }

    /// Returns the requests of this kind for a record: saving, deleting and fetching it.
    public func of(_ recordID: CKRecord.ID) -> RequestKind {
        var kind = self
        kind.record = recordID
        return kind
    }

    /// The kind as Swift code.
    public var description: String {
        name + (zone.map { ".in(\($0.zoneName))" } ?? "")
            + (record.map { ".of(\($0.recordName))" } ?? "")
    }

    /// Whether a request is one of these.
    func matches(_ request: SeenRequest) -> Bool {
        if let endpoints {
            guard endpoints.contains(request.endpoint) else { return false }
        } else {
            guard request.isAboutData else { return false }
        }
        if let zone, !request.zones.contains(where: { $0.isNamed(by: zone) }) { return false }
        guard let record else { return true }
        return request.records.contains(record.recordName)
            && request.zones.contains { $0.isNamed(by: record.zoneID) }
    }
}

/// A request of a device, as far as faults look at it.
struct SeenRequest: Sendable {
    /// What a request says it wants.
    enum Body: Sendable {
        case modifyRecords(ModifyRecords.Request)
        case lookupRecords(LookupRecords.Request)
        case zoneChanges(FetchZoneChanges.Request)
        case databaseChanges(FetchDatabaseChanges.Request)
        case query(QueryRecords.Request)
        case modifyZones(ModifyZones.Request)
        case lookupZones(LookupZones.Request)
        case modifySubscriptions(ModifySubscriptions.Request)
        /// One that faults do not look into.
        case other
    }

    let endpoint: RequestKind.Endpoint
    /// Whether it goes to a database, or is a file.
    let isAboutData: Bool
    let body: Body

    /// Looks at a request that is answered at once.
    init(_ request: TransportRequest) {
        let path = request.path.prefix { $0 != "?" }
        // /database/1/{container}/{environment}/{database}/{action}
        let parts = path.split(separator: "/")
        isAboutData = parts.first == "database"
        let action = parts.dropFirst(isAboutData ? 5 : 4).joined(separator: "/")
        endpoint = .action(action)
        body = isAboutData ? Self.body(of: action, request.body ?? []) : .other
    }

    /// Looks at a file.
    init(file: RequestKind.Endpoint) {
        endpoint = file
        isAboutData = true
        body = .other
    }

    private static func body(of action: String, _ bytes: [UInt8]) -> Body {
        // What cannot be read is the server's to refuse.
        func read<Value: WireBody>(_: Value.Type) -> Value? {
            try? JSONReader.read(bytes) { try Value(from: &$0) }
        }
        switch action {
        case ModifyRecords.route.path.action:
            return read(ModifyRecords.Request.self).map(Body.modifyRecords) ?? .other
        case LookupRecords.route.path.action:
            return read(LookupRecords.Request.self).map(Body.lookupRecords) ?? .other
        case FetchZoneChanges.route.path.action:
            return read(FetchZoneChanges.Request.self).map(Body.zoneChanges) ?? .other
        case FetchDatabaseChanges.route.path.action:
            return read(FetchDatabaseChanges.Request.self).map(Body.databaseChanges) ?? .other
        case QueryRecords.route.path.action:
            return read(QueryRecords.Request.self).map(Body.query) ?? .other
        case ModifyZones.route.path.action:
            return read(ModifyZones.Request.self).map(Body.modifyZones) ?? .other
        case LookupZones.route.path.action:
            return read(LookupZones.Request.self).map(Body.lookupZones) ?? .other
        case ModifySubscriptions.route.path.action:
            return read(ModifySubscriptions.Request.self).map(Body.modifySubscriptions) ?? .other
        default: return .other
        }
    }

    /// The zones it names.
    var zones: [ZoneID] {
        switch body {
        case .modifyRecords(let request): [request.zoneID]
        case .lookupRecords(let request): [request.zoneID]
        case .zoneChanges(let request): request.zones.map(\.zoneID)
        case .query(let request): request.zoneID.map { [$0] } ?? []
        case .modifyZones(let request): request.operations.map(\.zoneID)
        case .lookupZones(let request): request.zones
        case .modifySubscriptions(let request):
            request.operations.compactMap { operation in
                switch operation {
                case .create(let subscription), .update(let subscription): subscription.zoneID
                case .delete: nil
                }
            }
        case .databaseChanges, .other: []
        }
    }

    /// The names of the records it names.
    var records: [String] {
        switch body {
        case .modifyRecords(let request): request.operations.compactMap(\.recordName)
        case .lookupRecords(let request): request.records.map(\.recordName)
        default: []
        }
    }
}

extension ZoneID {
    /// Whether an ID of the app names this zone; one without an owner names that of any.
    func isNamed(by zoneID: CKRecordZone.ID) -> Bool {
        guard zoneName == zoneID.zoneName else { return false }
        guard zoneID.ownerName != CKCurrentUserDefaultName, let ownerRecordName else { return true }
        return ownerRecordName == zoneID.ownerName
    }
}
