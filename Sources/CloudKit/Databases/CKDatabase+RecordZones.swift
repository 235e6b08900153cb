// SPDX-License-Identifier: Apache-2.0
import Foundation

// Record zones. Forms for several items report each item's result by its ID and fail as
// a whole only when the request does (OP-13).
extension CKDatabase {
    /// Fetches all zones, including the default zone (ZONE-7).
    @preconcurrency
    public func fetchAllRecordZones(
        completionHandler: @escaping @Sendable ([CKRecordZone]?, (any Error)?) -> Void
    ) {
        let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        operation.collectAll { result in result.hand(to: completionHandler) }
        run(operation)
    }

    /// Returns all zones, including the default zone (ZONE-7).
    public func allRecordZones() async throws -> [CKRecordZone] {
        let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        return try await value(of: operation) { operation.collectAll($0) }
    }

    /// Fetches a zone.
    @preconcurrency
    public func fetch(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        fetch(withRecordZoneIDs: [zoneID]) { results in
            results.hand(zoneID, to: completionHandler)
        }
    }

    /// Returns a zone; fails with `zoneNotFound` when it does not exist.
    public func recordZone(for zoneID: CKRecordZone.ID) async throws -> CKRecordZone {
        try await recordZones(for: [zoneID]).only(zoneID)
    }

    /// Fetches zones.
    @preconcurrency
    public func fetch(
        withRecordZoneIDs zoneIDs: [CKRecordZone.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKRecordZone.ID: Result<CKRecordZone, any Error>], any Error>
            ) -> Void
    ) {
        let operation = CKFetchRecordZonesOperation(recordZoneIDs: zoneIDs)
        operation.collect(completionHandler)
        run(operation)
    }

    /// Returns zones by their IDs.
    public func recordZones(
        for ids: [CKRecordZone.ID]
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
        let operation = CKFetchRecordZonesOperation(recordZoneIDs: ids)
        return try await value(of: operation) { operation.collect($0) }
    }

    /// Saves a zone.
    @preconcurrency
    public func save(
        _ zone: CKRecordZone,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        modifyRecordZones(saving: [zone], deleting: []) { results in
            results.map(\.saveResults).hand(zone.zoneID, to: completionHandler)
        }
    }

    /// Saves a zone; a zone that exists already is not changed (ZONE-5).
    @discardableResult
    public func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
        try await modifyRecordZones(saving: [zone], deleting: []).saveResults.only(zone.zoneID)
    }

    /// Deletes a zone with its records; succeeds when it does not exist (ZONE-6).
    @preconcurrency
    public func delete(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone.ID?, (any Error)?) -> Void
    ) {
        modifyRecordZones(saving: [], deleting: [zoneID]) { results in
            results.map { $0.deleteResults.mapValues(\.missingZoneCountsAsDeleted) }
                .handID(zoneID, to: completionHandler)
        }
    }

    /// Deletes a zone with its records; succeeds when it does not exist (ZONE-6).
    // NB: `modifyRecordZones(saving:deleting:)` and the operation report `zoneNotFound` for
    // such a zone, as Apple's do. Apps written for Apple's framework call this form before
    // the zone was ever saved and expect it not to throw.
    @discardableResult
    public func deleteRecordZone(withID zoneID: CKRecordZone.ID) async throws -> CKRecordZone.ID {
        let results = try await modifyRecordZones(saving: [], deleting: [zoneID]).deleteResults
        try results.mapValues(\.missingZoneCountsAsDeleted).only(zoneID)
        return zoneID
    }

    /// Saves and deletes zones.
    @preconcurrency
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone],
        deleting recordZoneIDsToDelete: [CKRecordZone.ID],
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
                        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
                    ), any Error
                >
            ) -> Void
    ) {
        let operation = CKModifyRecordZonesOperation(
            recordZonesToSave: recordZonesToSave,
            recordZoneIDsToDelete: recordZoneIDsToDelete
        )
        operation.collect(completionHandler)
        run(operation)
    }

    /// Saves and deletes zones.
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone],
        deleting recordZoneIDsToDelete: [CKRecordZone.ID]
    ) async throws -> (
        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
    ) {
        let operation = CKModifyRecordZonesOperation(
            recordZonesToSave: recordZonesToSave,
            recordZoneIDsToDelete: recordZoneIDsToDelete
        )
        return try await value(of: operation) { operation.collect($0) }
    }
}

extension Result where Success == Void, Failure == any Error {
    /// The result of deleting a zone, for whom its absence is what counts.
    fileprivate var missingZoneCountsAsDeleted: Self {
        flatMapError { error in
            (error as? CKError)?.code == .zoneNotFound ? .success(()) : .failure(error)
        }
    }
}

extension CKFetchRecordZonesOperation {
    /// Sets the callbacks to hand over all results at once.
    fileprivate func collect(_ done: @escaping ResultHandler<ItemResults<CKRecordZone>>) {
        var results: ItemResults<CKRecordZone> = [:]
        perRecordZoneResultBlock = { results[$0] = $1 }
        fetchRecordZonesResultBlock = { result in done(result.map { results }) }
    }

    /// Sets the callbacks to hand over all zones, in the server's order.
    fileprivate func collectAll(_ done: @escaping ResultHandler<[CKRecordZone]>) {
        var results: [Result<CKRecordZone, any Error>] = []
        perRecordZoneResultBlock = { results.append($1) }
        fetchRecordZonesResultBlock = { result in
            done(result.flatMap { results.allOrError() })
        }
    }
}

extension CKModifyRecordZonesOperation {
    /// Sets the callbacks to hand over all results at once.
    fileprivate func collect(_ done: @escaping ResultHandler<ModifyResults<CKRecordZone>>) {
        var saved: ItemResults<CKRecordZone> = [:]
        var deleted: [CKRecordZone.ID: Result<Void, any Error>] = [:]
        perRecordZoneSaveBlock = { saved[$0] = $1 }
        perRecordZoneDeleteBlock = { deleted[$0] = $1 }
        modifyRecordZonesResultBlock = { result in
            done(result.map { (saveResults: saved, deleteResults: deleted) })
        }
    }
}
