// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The requests of a sync engine, in one operation group; they fail with `CKError`s only.
struct SyncRequests: Sendable {
    typealias Batch = CKSyncEngine.RecordZoneChangeBatch

    /// The zones of one page.
    struct DatabasePage: Sendable {
        var modifications: [CKDatabase.DatabaseChange.Modification]
        var deletions: [CKDatabase.DatabaseChange.Deletion]
        var token: CKServerChangeToken
        var moreComing: Bool
    }

    /// The records of one page.
    struct ZonePage: Sendable {
        var modifications: [CKDatabase.RecordZoneChange.Modification]
        var deletions: [CKDatabase.RecordZoneChange.Deletion]
        /// The records that could not be read.
        var failures: [CKRecord.ID: CKError]
        var token: CKServerChangeToken
        var moreComing: Bool
        /// Whether it is the first one of a zone that is fetched without a token.
        var isFromStart: Bool
    }

    /// What became of a batch of records.
    struct BatchOutcome: Sendable {
        var saves: [CKRecord.ID: Result<Void, CKError>] = [:]
        var deletions: [CKRecord.ID: Result<Void, CKError>] = [:]
        /// Why no request could be sent, or no further one.
        var failure: CKError?

        /// The records of which something is known that halving cannot change.
        var doneRecordIDs: Set<CKRecord.ID> {
            let all = saves.merging(deletions) { save, _ in save }
            return Set(all.filter { $0.value.code != failure?.code }.keys)
        }

        /// Notes that a batch was not sent.
        mutating func fail(_ batch: Batch, with error: CKError) {
            for record in batch.recordsToSave { saves[record.recordID] = .failure(error) }
            for recordID in batch.recordIDsToDelete { deletions[recordID] = .failure(error) }
        }
    }

    private let database: CKDatabase
    /// Whom the requests are for: the user whose changes the engine holds.
    private let account: AccountPin?

    /// Creates the requests of a database in a group.
    init(_ database: CKDatabase, for account: AccountPin?, group: CKOperationGroup) {
        self.database = database.configuredWith(group: group) { $0 }
        self.account = account
    }

    /// Fetches a page of zones.
    func databaseChanges(since token: CKServerChangeToken?) async throws(CKError) -> DatabasePage {
        let page = try await Self.failing {
            try await AccountPin.$current.withValue(account) {
                try await database.databaseChanges(since: token)
            }
        }
        return DatabasePage(
            modifications: page.modifications,
            deletions: page.deletions,
            token: page.changeToken,
            moreComing: page.moreComing
        )
    }

    /// Fetches a zone's records to the end, page by page: `handle` is waited for behind each, in the task of
    /// the caller, while the next one is on its way.
    func zoneChanges(
        in zoneID: CKRecordZone.ID,
        since token: CKServerChangeToken?,
        _ handle: (ZonePage) async -> Void
    ) async throws(CKError) {
        let pages = Handover<ZonePage>()
        async let end: Void = fetch(zoneID, since: token, handingOver: pages)
        while let page = await pages.next() { await handle(page) }
        do {
            try await end
        } catch {
            throw .of(error)
        }
    }

    private func fetch(
        _ zoneID: CKRecordZone.ID,
        since token: CKServerChangeToken?,
        handingOver pages: Handover<ZonePage>
    ) async throws {
        defer { pages.end() }
        let records = Locked(ZoneRecords())
        let end = Locked<Result<Void, any Error>>(.failure(CKError(.internalError)))
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID],
            configurationsByRecordZoneID: [
                zoneID: CKFetchRecordZoneChangesOperation.ZoneConfiguration(
                    previousServerChangeToken: token
                )
            ]
        )
        operation.account = account
        operation.recordWasChangedBlock = { recordID, result in
            records.withLock { $0.add(recordID, result) }
        }
        operation.recordWithIDWasDeletedBlock = { recordID, recordType in
            records.withLock {
                $0.deletions.append(.init(recordID: recordID, recordType: recordType))
            }
        }
        operation.pageEnded = { page in
            let collected = records.withLock { records in
                defer { records = ZoneRecords() }
                return records
            }
            await pages.give(
                ZonePage(
                    modifications: collected.modifications,
                    deletions: collected.deletions,
                    failures: collected.failures,
                    token: page.serverChangeToken,
                    moreComing: page.moreComing,
                    isFromStart: page.isFromStart
                )
            )
        }
        operation.recordZoneFetchResultBlock = { _, result in
            end.current = result.map { _ in }
        }
        try await database.value(of: operation) { done in
            operation.fetchRecordZoneChangesResultBlock = { result in
                done(result.flatMap { end.current })
            }
        }
    }

    /// Saves and deletes zones; one that does not exist counts as deleted.
    func modifyZones(
        saving zones: [CKRecordZone],
        deleting zoneIDs: [CKRecordZone.ID]
    ) async throws(CKError) -> (
        saves: [CKRecordZone.ID: Result<CKRecordZone, CKError>],
        deletions: [CKRecordZone.ID: Result<Void, CKError>]
    ) {
        let results = try await Self.failing {
            try await AccountPin.$current.withValue(account) {
                try await database.modifyRecordZones(saving: zones, deleting: zoneIDs)
            }
        }
        return (
            results.saveResults.mapValues { $0.mapError(CKError.of) },
            results.deleteResults.mapValues { result in
                result.mapError(CKError.of).flatMapError { error in
                    error.code.meansZoneIsGone ? .success(()) : .failure(error)
                }
            }
        )
    }

    /// Saves and deletes records; what is too much for one request is sent in parts, as far
    /// as it may be (LIMIT-20).
    func modifyRecords(_ batch: Batch) async -> BatchOutcome {
        var outcome = await send(batch)
        guard outcome.failure?.code == .limitExceeded else { return outcome }
        // Requests are made by zone: some may have been done.
        let undone = batch.without(outcome.doneRecordIDs)
        // One that is too large alone is at fault itself, and so is what the app wants to be
        // sent together; what is behind it can be sent.
        outcome.failure = nil
        for part in undone.parts {
            if let failure = outcome.failure {
                // The others cannot be sent either.
                outcome.fail(part, with: failure)
            } else {
                let sent = await modifyRecords(part)
                outcome.saves.merge(sent.saves) { $1 }
                outcome.deletions.merge(sent.deletions) { $1 }
                outcome.failure = sent.failure
            }
        }
        return outcome
    }

    private func send(_ batch: Batch) async -> BatchOutcome {
        let outcome = Locked(BatchOutcome())
        let operation = CKModifyRecordsOperation(
            recordsToSave: batch.recordsToSave,
            recordIDsToDelete: batch.recordIDsToDelete
        )
        operation.account = account
        operation.isOfSyncEngine = true
        operation.isAtomic = batch.atomicByZone
        operation.perRecordSaveBlock = { recordID, result in
            outcome.withLock { $0.saves[recordID] = result.map { _ in }.mapError(CKError.of) }
        }
        operation.perRecordDeleteBlock = { recordID, result in
            outcome.withLock { $0.deletions[recordID] = result.mapError(CKError.of) }
        }
        do {
            try await Self.failing {
                try await database.value(of: operation) { done in
                    operation.modifyRecordsResultBlock = { done($0) }
                }
            }
        } catch {
            outcome.withLock { $0.failure = error }
        }
        return outcome.current
    }

    /// Calls `body`, whose errors are `CKError`s.
    static func failing<Value>(
        _ body: () async throws -> Value
    ) async throws(CKError) -> Value {
        do {
            return try await body()
        } catch {
            throw .of(error)
        }
    }

    /// The records of a page while they come.
    private struct ZoneRecords: Sendable {
        var modifications: [CKDatabase.RecordZoneChange.Modification] = []
        var deletions: [CKDatabase.RecordZoneChange.Deletion] = []
        var failures: [CKRecord.ID: CKError] = [:]

        mutating func add(_ recordID: CKRecord.ID, _ result: Result<CKRecord, any Error>) {
            switch result {
            case .success(let record): modifications.append(.init(record: record))
            case .failure(let error): failures[recordID] = .of(error)
            }
        }
    }
}

extension Result<Void, CKError> {
    /// Why an item failed; nil when it did not.
    fileprivate var code: CKError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}

extension CKError {
    /// Returns an error of an operation, which is always of this type (OP-12).
    static func of(_ error: any Error) -> CKError {
        error as? CKError ?? .local(.internalError, "The operation failed: \(error)")
    }
}
