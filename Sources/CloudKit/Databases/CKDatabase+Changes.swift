// SPDX-License-Identifier: Apache-2.0
import Foundation

// What changed since a token. Each call is one request, and returns whether more is coming
// (TOK-27).
extension CKDatabase {
    /// Fetches which custom zones changed since a token; with nil, all zones.
    @preconcurrency
    public func fetchDatabaseChanges(
        since changeToken: CKServerChangeToken?,
        resultsLimit: Int? = nil,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        modifications: [CKDatabase.DatabaseChange.Modification],
                        deletions: [CKDatabase.DatabaseChange.Deletion],
                        changeToken: CKServerChangeToken, moreComing: Bool
                    ), any Error
                >
            ) -> Void
    ) {
        let operation = CKFetchDatabaseChangesOperation(since: changeToken, resultsLimit)
        operation.collect(completionHandler)
        run(operation)
    }

    /// Returns which custom zones changed since a token; with nil, all zones (TOK-6).
    public func databaseChanges(
        since changeToken: CKServerChangeToken?,
        resultsLimit: Int? = nil
    ) async throws -> (
        modifications: [CKDatabase.DatabaseChange.Modification],
        deletions: [CKDatabase.DatabaseChange.Deletion],
        changeToken: CKServerChangeToken, moreComing: Bool
    ) {
        let operation = CKFetchDatabaseChangesOperation(since: changeToken, resultsLimit)
        return try await value(of: operation) { operation.collect($0) }
    }

    /// Fetches which records of a custom zone changed since a token; with nil, all records.
    @preconcurrency
    public func fetchRecordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID,
        since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int? = nil,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        modificationResultsByID: [CKRecord.ID: Result<
                            CKDatabase.RecordZoneChange.Modification, any Error
                        >],
                        deletions: [CKDatabase.RecordZoneChange.Deletion],
                        changeToken: CKServerChangeToken, moreComing: Bool
                    ), any Error
                >
            ) -> Void
    ) {
        let operation = CKFetchRecordZoneChangesOperation(
            zoneID,
            since: changeToken,
            desiredKeys,
            resultsLimit
        )
        operation.collect(completionHandler)
        run(operation)
    }

    /// Returns which records of a custom zone changed since a token; with nil, all records (TOK-6).
    ///
    /// Fails with the zone's error, such as `zoneNotFound` or `changeTokenExpired`.
    public func recordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID,
        since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int? = nil
    ) async throws -> (
        modificationResultsByID: [CKRecord.ID: Result<
            CKDatabase.RecordZoneChange.Modification, any Error
        >],
        deletions: [CKDatabase.RecordZoneChange.Deletion],
        changeToken: CKServerChangeToken, moreComing: Bool
    ) {
        let operation = CKFetchRecordZoneChangesOperation(
            zoneID,
            since: changeToken,
            desiredKeys,
            resultsLimit
        )
        return try await value(of: operation) { operation.collect($0) }
    }
}

extension CKFetchDatabaseChangesOperation {
    fileprivate convenience init(since token: CKServerChangeToken?, _ resultsLimit: Int?) {
        self.init(previousServerChangeToken: token)
        self.resultsLimit = resultsLimit ?? 0
        fetchAllChanges = false
    }

    /// Sets the callbacks to hand over all changes at once.
    fileprivate func collect(
        _ done:
            @escaping ResultHandler<
                (
                    modifications: [CKDatabase.DatabaseChange.Modification],
                    deletions: [CKDatabase.DatabaseChange.Deletion],
                    changeToken: CKServerChangeToken, moreComing: Bool
                )
            >
    ) {
        typealias Change = CKDatabase.DatabaseChange
        var modifications: [Change.Modification] = []
        var deletions: [Change.Deletion] = []
        recordZoneWithIDChangedBlock = { modifications.append(Change.Modification(zoneID: $0)) }
        recordZoneWithIDWasDeletedBlock = {
            deletions.append(Change.Deletion(zoneID: $0, reason: .deleted))
        }
        recordZoneWithIDWasPurgedBlock = {
            deletions.append(Change.Deletion(zoneID: $0, reason: .purged))
        }
        recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = {
            deletions.append(Change.Deletion(zoneID: $0, reason: .encryptedDataReset))
        }
        fetchDatabaseChangesResultBlock = { result in
            done(
                result.map { end in
                    (
                        modifications: modifications, deletions: deletions,
                        changeToken: end.serverChangeToken, moreComing: end.moreComing
                    )
                }
            )
        }
    }
}

extension CKFetchRecordZoneChangesOperation {
    fileprivate convenience init(
        _ zoneID: CKRecordZone.ID,
        since token: CKServerChangeToken?,
        _ desiredKeys: [CKRecord.FieldKey]?,
        _ resultsLimit: Int?
    ) {
        let configuration = ZoneConfiguration(
            previousServerChangeToken: token,
            resultsLimit: resultsLimit,
            desiredKeys: desiredKeys
        )
        self.init(recordZoneIDs: [zoneID], configurationsByRecordZoneID: [zoneID: configuration])
        fetchAllChanges = false
    }

    /// Sets the callbacks to hand over all changes of the one zone at once.
    fileprivate func collect(
        _ done:
            @escaping ResultHandler<
                (
                    modificationResultsByID: [CKRecord.ID: Result<
                        CKDatabase.RecordZoneChange.Modification, any Error
                    >],
                    deletions: [CKDatabase.RecordZoneChange.Deletion],
                    changeToken: CKServerChangeToken, moreComing: Bool
                )
            >
    ) {
        typealias Change = CKDatabase.RecordZoneChange
        var modifications: [CKRecord.ID: Result<Change.Modification, any Error>] = [:]
        var deletions: [Change.Deletion] = []
        var end: ZoneResult?
        recordWasChangedBlock = { recordID, result in
            modifications[recordID] = result.map { Change.Modification(record: $0) }
        }
        recordWithIDWasDeletedBlock = { recordID, recordType in
            deletions.append(Change.Deletion(recordID: recordID, recordType: recordType))
        }
        recordZoneFetchResultBlock = { end = $1 }
        fetchRecordZoneChangesResultBlock = { result in
            let missing = CKError.local(.internalError, "The operation had no result.")
            done(
                result.flatMap { end ?? .failure(missing) }.map { end in
                    (
                        modificationResultsByID: modifications, deletions: deletions,
                        changeToken: end.serverChangeToken, moreComing: end.moreComing
                    )
                }
            )
        }
    }
}
