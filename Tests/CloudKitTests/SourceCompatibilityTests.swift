// SPDX-License-Identifier: Apache-2.0
import CloudKit
import CoreLocation
import Foundation
import Testing

// Code as Apple's documentation and apps write it. It is compiled, not run: that it
// type-checks in Swift 6 mode, without warnings, is the test.

/// The database's async forms, with the types of their results.
private func asyncForms(_ database: CKDatabase, _ record: CKRecord) async throws {
    let saved: CKRecord = try await database.save(record)
    try await database.save(record)
    let fetched: CKRecord = try await database.record(for: saved.recordID)
    let byID: [CKRecord.ID: Result<CKRecord, any Error>] = try await database.records(
        for: [fetched.recordID], desiredKeys: ["title"])
    let (saveResults, deleteResults) = try await database.modifyRecords(
        saving: [record], deleting: [record.recordID], savePolicy: .changedKeys, atomically: false)
    let _: [CKRecord.ID: Result<CKRecord, any Error>] = saveResults
    let _: [CKRecord.ID: Result<Void, any Error>] = deleteResults
    try await database.deleteRecord(withID: record.recordID)

    let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
    let (matchResults, queryCursor) = try await database.records(matching: query)
    let records: [CKRecord] = matchResults.compactMap { try? $0.1.get() }
    for (recordID, result) in matchResults {
        switch result {
        case .success(let record): _ = record["title"] as? String
        case .failure(let error): print(recordID.recordName, error.localizedDescription)
        }
    }
    if let queryCursor {
        let next = try await database.records(
            continuingMatchFrom: queryCursor, desiredKeys: nil, resultsLimit: 10)
        let _: CKQueryOperation.Cursor? = next.queryCursor
    }
    _ = (byID, records)

    let zone: CKRecordZone = try await database.save(CKRecordZone(zoneName: "Notes"))
    let zones: [CKRecordZone] = try await database.allRecordZones()
    let zoneResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>] =
        try await database.recordZones(for: zones.map(\.zoneID))
    try await database.deleteRecordZone(withID: zone.zoneID)
    let subscription = CKDatabaseSubscription(subscriptionID: "all")
    let savedSubscription: CKSubscription = try await database.save(subscription)
    let all: [CKSubscription] = try await database.allSubscriptions()
    let id: CKSubscription.ID = try await database.deleteSubscription(withID: "all")
    _ = (zoneResults, savedSubscription, all, id)

    let changes = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
    let modified: [CKRecord] = changes.modificationResultsByID.values
        .compactMap { try? $0.get().record }
    let token: CKServerChangeToken = changes.changeToken
    let deleted: [CKRecord.ID] = changes.deletions.map(\.recordID)
    let zonesChanged = try await database.databaseChanges(since: token, resultsLimit: 10)
    _ = (modified, deleted, zonesChanged.modifications.map(\.zoneID), zonesChanged.moreComing)
}

/// What goes with a page of the system for sharing, which code for several systems names.
private func sharingPage(_ container: CKContainer, _ participant: CKShare.Participant) {
    let options: CKAllowedSharingOptions = CKAllowedSharingOptions.standard
    options.allowedParticipantPermissionOptions = [.readOnly, .readWrite]
    options.allowedParticipantAccessOptions = .specifiedRecipientsOnly
    options.allowsParticipantsToInviteOthers = true
    options.allowsAccessRequests = false
    let access: CKSharingParticipantAccessOption = [.any, .anyoneWithLink]
    let permission = CKSharingParticipantPermissionOption(rawValue: 3)
    let others = CKAllowedSharingOptions(
        allowedParticipantPermissionOptions: permission, allowedParticipantAccessOptions: access)
    let observer = CKSystemSharingUIObserver(container: container)
    observer.systemSharingUIDidSaveShareBlock = { recordID, result in
        let share: CKShare? = try? result.get()
        print(recordID.recordName, share?.url as Any)
    }
    observer.systemSharingUIDidStopSharingBlock = { _, result in
        if case .failure(let error) = result { print(error) }
    }
    let date: Date? = participant.dateAddedToShare
    let isRequester: Bool = participant.isApprovedRequester
    _ = (others, date, isRequester)
}

/// One-time URLs and access requests, with the types written out.
private func shareAccess(_ container: CKContainer, _ share: CKShare, _ url: URL) async throws {
    let anyone: CKShare.Participant = CKShare.Participant.oneTimeURLParticipant()
    share.addParticipant(anyone)
    let oneTimeURL: URL? = share.oneTimeURL(for: anyone.participantID)
    share.allowsAccessRequests.toggle()
    let requesters: [CKShare.AccessRequester] = share.requesters
    let lookups: [CKUserIdentity.LookupInfo] = requesters.map(\.participantLookupInfo)
    let people: [CKUserIdentity] = requesters.map(\.userIdentity)
    share.denyRequesters(requesters)
    share.blockRequesters(requesters)
    let blocked: [CKShare.BlockedIdentity] = share.blockedIdentities
    share.unblockIdentities(blocked)
    let results: [URL: Result<Void, any Error>] = try await container.requestShareAccess(for: [url])
    let operation = CKShareRequestAccessOperation(shareURLs: [url])
    operation.perShareAccessRequestResultBlock = { (url: URL, result: Result<Void, any Error>) in
        if case .failure(let error as CKError) = result,
            error.code == .participantAlreadyInvited
        {
            print(url)
        }
    }
    operation.shareAccessRequestResultBlock = { (result: Result<Void, any Error>) in
        print(result)
    }
    operation.shareURLs = nil
    container.add(operation)
    let sendable: [any Sendable] = [requesters, blocked]
    _ = (oneTimeURL, lookups, people, results, sendable)
}

/// Values of fields used as the objects they are on Apple's systems, as in "Providing User
/// Access to CloudKit Data".
private func report(_ record: CKRecord, _ other: CKRecord) -> [String] {
    record.allKeys().filter { key in
        let value = record[key]
        return !(value?.isEqual(other[key]) ?? false)
    }.map { key in
        let value = record[key]
        return key + " = " + (value?.description ?? "")
            + (record.object(forKey: key)?.description ?? "")
    }
}

/// The forms with completion handlers, whose types are written out.
private func handlerForms(_ database: CKDatabase, _ query: CKQuery) {
    database.fetch(withRecordID: CKRecord.ID(recordName: "a")) {
        (record: CKRecord?, error: (any Error)?) in
        if let ckError = error as? CKError, ckError.code == .unknownItem { print(ckError) }
        _ = record
    }
    database.fetch(withQuery: query, inZoneWith: .default, desiredKeys: ["a"], resultsLimit: 5) {
        (
            result: Result<
                (
                    matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
                    queryCursor: CKQueryOperation.Cursor?
                ), any Error
            >
        ) in
        guard case .success(let page) = result, let cursor = page.queryCursor else { return }
        database.fetch(withCursor: cursor) { result in
            _ = try? result.get().matchResults.map(\.0)
        }
    }
    database.modifyRecords(saving: [], deleting: []) { result in
        _ = try? result.get().saveResults
    }
    database.fetchRecordZoneChanges(inZoneWith: .default, since: nil) { result in
        _ = try? result.get().changeToken
    }
    CKContainer.default().accountStatus { (status: CKAccountStatus, error: (any Error)?) in
        switch status {
        case .available, .noAccount, .restricted, .couldNotDetermine: break
        case .temporarilyUnavailable: break
        @unknown default: break
        }
        _ = error
    }
}

/// An object without protection, as callbacks of operations may use it: they are not
/// Sendable.
private final class Collector {
    var records: [CKRecord] = []
    var errors: [any Error] = []
    var cursor: CKQueryOperation.Cursor?
}

/// Operations with their callbacks.
private func operations(_ database: CKDatabase, _ query: CKQuery, into collector: Collector) {
    let search = CKQueryOperation(query: query)
    search.zoneID = CKRecordZone.default().zoneID
    search.resultsLimit = CKQueryOperation.maximumResults
    search.desiredKeys = ["title"]
    search.qualityOfService = .userInitiated
    search.recordMatchedBlock = { (recordID: CKRecord.ID, result: Result<CKRecord, any Error>) in
        if case .success(let record) = result { collector.records.append(record) }
        _ = recordID
    }
    search.queryResultBlock = { (result: Result<CKQueryOperation.Cursor?, any Error>) in
        switch result {
        case .success(let cursor): collector.cursor = cursor
        case .failure(let error): collector.errors.append(error)
        }
    }
    database.add(search)

    let modify = CKModifyRecordsOperation(recordsToSave: [], recordIDsToDelete: nil)
    modify.savePolicy = .ifServerRecordUnchanged
    modify.isAtomic = true
    modify.perRecordProgressBlock = { (record: CKRecord, progress: Double) in
        _ = (record, progress)
    }
    modify.perRecordSaveBlock = { _, result in
        if case .failure(let error) = result { collector.errors.append(error) }
    }
    modify.modifyRecordsResultBlock = { (result: Result<Void, any Error>) in _ = result }
    modify.addDependency(search)
    CKContainer.default().privateCloudDatabase.add(modify)

    let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
        previousServerChangeToken: nil, resultsLimit: 10, desiredKeys: nil)
    let changes = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [.default], configurationsByRecordZoneID: [.default: configuration])
    changes.recordWasChangedBlock = { _, result in
        if let record = try? result.get() { collector.records.append(record) }
    }
    changes.recordWithIDWasDeletedBlock = { (id: CKRecord.ID, type: CKRecord.RecordType) in
        _ = (id, type)
    }
    changes.recordZoneFetchResultBlock = { _, result in
        if case .success((let token, let data, let more)) = result { _ = (token, data, more) }
    }
    changes.fetchRecordZoneChangesResultBlock = { _ in }
    let group = CKOperationGroup()
    group.expectedReceiveSize = .kilobytes
    changes.group = group
    changes.configuration.timeoutIntervalForRequest = 10
    database.add(changes)
}

/// The callbacks Apple deprecated, which most apps still use.
@available(*, deprecated)
private func oldCallbacks(_ database: CKDatabase, _ query: CKQuery) async throws {
    let search = CKQueryOperation(query: query)
    search.recordFetchedBlock = { record in _ = record }
    search.queryCompletionBlock = { cursor, error in _ = (cursor, error) }
    database.perform(query, inZoneWith: nil) { records, error in
        _ = (records ?? [], error)
    }
    let performed: [CKRecord] = try await database.perform(query, inZoneWith: nil)
    let matching: [CKRecord] = try await database.records(matching: query, inZoneWith: nil)
    _ = (performed, matching)
    let old = CKFetchRecordChangesOperation(recordZoneID: .default, previousServerChangeToken: nil)
    old.fetchRecordChangesCompletionBlock = { token, data, error in _ = (token, data, error) }
    let modify = CKModifyRecordsOperation()
    modify.modifyRecordsCompletionBlock = { saved, deleted, error in _ = (saved, deleted, error) }
}

/// Records, their values and predicates of them.
private func values(_ asset: CKAsset, _ parent: CKRecord) {
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(zoneID: .default))
    record["title"] = "A"
    record["count"] = 1
    record["tags"] = ["a", "b"]
    record["file"] = asset
    record["parentNote"] = CKRecord.Reference(record: parent, action: .deleteSelf)
    record.encryptedValues["secret"] = "s"
    record.setParent(parent)
    record.setValue("B", forKey: "title")
    record["number"] = NSNumber(value: 3) as any CKRecordValue
    let title: String? = record["title"]
    let count = record["count"] as? Int ?? 0
    for key in record.allKeys() where record.changedKeys().contains(key) { _ = record[key] }
    _ = (title, count, record.creationDate, record.recordChangeTag)

    let predicates = [
        NSPredicate(format: "title == %@", "A"),
        NSPredicate(format: "%K == %d AND done == %@", "count", 1, NSNumber(value: true)),
        NSPredicate(format: "parentNote == %@", parent.recordID),
        NSPredicate(format: "creationDate > %@", Date() as any CVarArg),
        NSPredicate(format: "creationDate > %@", NSDate()),
        NSPredicate(format: "ANY tags IN %@", ["a", "b"]),
        NSPredicate(
            format: "distanceToLocation:fromLocation:(place, %@) < %f",
            CLLocation(latitude: 1, longitude: 2), 1000.0),
    ]
    _ = NSCompoundPredicate(andPredicateWithSubpredicates: predicates)
    let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "TRUEPREDICATE"))
    query.sortDescriptors = [NSSortDescriptor(key: "modificationDate", ascending: false)]
}

/// Errors in the ways apps look at them.
private func errors(_ work: () throws -> Void) {
    do {
        try work()
    } catch CKError.networkFailure, CKError.networkUnavailable {
    } catch let error as CKError where error.code == .serverRecordChanged {
        _ = (error.serverRecord, error.clientRecord, error.ancestorRecord)
    } catch let error as CKError {
        _ = (error.retryAfterSeconds, error.partialErrorsByItemID?.keys.count)
        switch error.code {
        case .partialFailure, .quotaExceeded: break
        case .zoneNotFound, .userDeletedZone, .changeTokenExpired: break
        default: break
        }
    } catch {
        _ = (error as NSError).domain == CKErrorDomain
    }
}

/// A delegate as Apple's sample has it.
private final class SyncDelegate: CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update): _ = try? JSONEncoder().encode(update.stateSerialization)
        case .accountChange(let change):
            switch change.changeType {
            case .signIn(let user), .signOut(let user): _ = user
            case .switchAccounts(let old, let new): _ = (old, new)
            @unknown default: break
            }
        case .fetchedRecordZoneChanges(let changes):
            for modification in changes.modifications { _ = modification.record }
        case .sentRecordZoneChanges(let sent):
            for failure in sent.failedRecordSaves where failure.error.code == .unknownItem {
                syncEngine.state.add(
                    pendingRecordZoneChanges: [.saveRecord(failure.record.recordID)])
            }
        case .fetchedDatabaseChanges, .sentDatabaseChanges: break
        case .willFetchChanges, .willFetchRecordZoneChanges, .didFetchRecordZoneChanges,
            .didFetchChanges, .willSendChanges, .didSendChanges:
            break
        @unknown default: break
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let scope = context.options.scope
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
            CKRecord(recordType: "Note", recordID: recordID)
        }
    }
}

/// Takes what a task may take along.
private func sendable<Value: Sendable>(_ value: Value) {}

private func sendability(
    _ cursor: CKQueryOperation.Cursor, _ query: CKQuery, _ database: CKDatabase
) {
    let work: @Sendable () async throws -> Int = {
        _ = cursor
        return try await database.records(matching: query).matchResults.count
    }
    sendable(cursor)
    sendable(query)
    sendable(CKRecord(recordType: "Note"))
    sendable(CKQueryOperation(query: query))
    sendable(CKError(.internalError))
    _ = work
}

@Suite struct SourceCompatibilityTests {
    @Test("The value of a field has a description and can be compared")
    func valuesAreObjects() {
        let (record, other) = (CKRecord(recordType: "Note"), CKRecord(recordType: "Note"))
        (record["text"], record["count"]) = ("milk", 2)
        (other["text"], other["count"]) = ("milk", 3)
        #expect(report(record, other) == ["count = 22"])
    }

    @Test("Code as Apple's documentation shows it compiles in Swift 6 mode")
    func compiles() {
        let forms: [Any] = [
            asyncForms as (CKDatabase, CKRecord) async throws -> Void,
            handlerForms as (CKDatabase, CKQuery) -> Void, values as (CKAsset, CKRecord) -> Void,
            errors as (() throws -> Void) -> Void,
        ]
        #expect(forms.count == 4)
    }
}
