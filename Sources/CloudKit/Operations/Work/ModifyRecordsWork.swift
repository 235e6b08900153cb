// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// The work of a ``CKModifyRecordsOperation``: one request for each zone.
struct ModifyRecordsWork: OperationWork {
    /// A change with the operation that does it, or what is wrong with it (SAVE-17).
    struct PlannedItem: Sendable {
        var change: Change<CKRecord>
        /// What of a record to save is sent; nil for one to delete.
        var sent: SentRecord?
        var operation: Result<ModifyRecords.Operation, CKError>
        /// The assets whose values the operation waits for.
        var assets: [AssetSlot] = []

        /// The record to save or to delete.
        var recordID: CKRecord.ID { change.itemID }
    }

    private let items: [PlannedItem]
    private let isAtomic: Bool
    private let clientChangeToken: [UInt8]?
    private let isOfSyncEngine: Bool
    let database: DatabaseConnection
    let callbacks: ModifyCallbacks<CKRecord>

    var completion: Completion<Void> { callbacks.completion }

    /// Plans the work: takes the records' fields as they are now.
    init(
        saving records: [CKRecord],
        deleting recordIDs: [CKRecord.ID],
        policy: CKModifyRecordsOperation.RecordSavePolicy,
        isAtomic: Bool,
        clientChangeToken: [UInt8]?,
        isOfSyncEngine: Bool = false,
        in database: DatabaseConnection,
        callbacks: ModifyCallbacks<CKRecord>
    ) {
        var seen: Set<CKRecord.ID> = []
        let saved = Set(records.map(\.recordID))
        let saves = records.map { record in
            PlannedItem(
                saving: record,
                policy,
                isRepeated: !seen.insert(record.recordID).inserted,
                besides: saved,
                in: database
            )
        }
        let deletions = recordIDs.map { recordID in
            PlannedItem(deleting: recordID, isRepeated: !seen.insert(recordID).inserted)
        }
        items = saves + deletions
        self.isAtomic = isAtomic
        self.clientChangeToken = clientChangeToken
        self.isOfSyncEngine = isOfSyncEngine
        self.database = database
        self.callbacks = callbacks
    }

    func perform(_ ledger: inout OperationLedger) async {
        if let error = OperationLimit.check(items.count) { ledger.fail(error) }
        let zones = items.grouped(by: { $0.recordID.zoneID })
        for (number, (zoneID, items)) in zones.enumerated() {
            if let failure = ledger.failure {
                settle(items, .failure(failure), &ledger)
                continue
            }
            await modify(items, of: NumberedZone(id: zoneID, number: number + 1), &ledger)
            // At most one zone's callbacks wait at a time.
            await ledger.run.callbacks.drained()
        }
    }

    /// A zone with its number among those of the work.
    private struct NumberedZone {
        var id: CKRecordZone.ID
        /// Counted from 1.
        var number: Int

        /// The name of a request, which does not depend on what other zones or attempts
        /// sent.
        func requestName(attempt: Int) -> String {
            "\(ModifyRecords.route.path.action)/\(number)/\(attempt)"
        }
    }

    private func modify(
        _ items: [PlannedItem],
        of zone: NumberedZone,
        _ ledger: inout OperationLedger
    ) async {
        let wireZone = database.wire(zone.id)
        let isAllOrNothing = isAtomic && !wireZone.isDefault
        var items = items
        for attempt in 1... {
            let name = zone.requestName(attempt: attempt)
            if let sent = namesSent(as: name, ledger.options) {
                items = items.map { $0.asSentBefore(among: sent) }
            } else if !isAllOrNothing || items.allSatisfy({ $0.problem == nil }) {
                items = await uploadAssets(of: items, in: wireZone, attempt: attempt, ledger.run)
            }
            let problems = items.compactMap(\.problem)
            if let failure = problems.first(where: \.code.concernsWholeOperation) {
                ledger.fail(failure)
                return settle(items, .failure(failure), &ledger)
            }
            let toSend = settleProblems(
                of: items, in: zone.id, isAllOrNothing: isAllOrNothing, &ledger
            )
            guard let answer = await send(toSend, in: wireZone, as: name, &ledger)
            else { return }
            if attempt > 1 {
                items = []
            } else if let sent = namesSent(
                as: zone.requestName(attempt: 2), ledger.options
            ) {
                // Whether a file is still there shows nothing of what was sent.
                items = toSend.filter { sent.contains($0.recordID.recordName) }
            } else {
                items = itemsToRepeat(toSend, answer.value.records, isAllOrNothing: isAllOrNothing)
            }
            let repeated = Set(items.map(\.recordID))
            for (item, result) in zip(toSend, answer.value.records)
            where !repeated.contains(item.recordID) {
                settle([item], outcome(of: item, result, answer.report), &ledger)
            }
            noteSharing(toSend, answer.value.records)
            guard !items.isEmpty else { return }
        }
    }

    /// Has sync engines notice what was done to shares beside them (SHARE-26); which of the records
    /// that were deleted are shares, nobody says.
    private func noteSharing(_ items: [PlannedItem], _ results: [RecordResult]) {
        guard !isOfSyncEngine else { return }
        var changesSharing = false
        var zoneIDs: Set<CKRecordZone.ID> = []
        for (item, result) in zip(items, results) {
            switch (item.change, result) {
            case (_, .failed): break
            case (.save(let record), _):
                guard record is CKShare else { break }
                changesSharing = true
                // In other databases the list of changed zones has it by now.
                if database.scope == .shared { zoneIDs.insert(item.recordID.zoneID) }
            case (.delete, _): changesSharing = true
            }
        }
        guard changesSharing else { return }
        LivingSyncEngines.noteSharingChange(in: database, zoneIDs: zoneIDs)
    }

    /// Sends items; nil when there are none, or no answer, which is settled then.
    private func send(
        _ items: [PlannedItem],
        in zone: ZoneID,
        as name: String,
        _ ledger: inout OperationLedger
    ) async -> WebServicesAnswer<ModifyRecords.Response>? {
        guard !items.isEmpty else { return nil }
        do throws(CKError) {
            let answer = try await database.send(
                ModifyRecords.self, request(for: items, in: zone), ledger.options, named: name
            )
            ledger.report = answer.report
            return answer
        } catch {
            if error.code.concernsWholeRequest { ledger.fail(error) }
            settle(items, .failure(error), &ledger)
            return nil
        }
    }

    /// Settles the items that cannot be sent; returns the others.
    private func settleProblems(
        of items: [PlannedItem],
        in zoneID: CKRecordZone.ID,
        isAllOrNothing: Bool,
        _ ledger: inout OperationLedger
    ) -> [PlannedItem] {
        let isHalted = isAllOrNothing && items.contains { $0.problem != nil }
        var toSend: [PlannedItem] = []
        for item in items {
            if let problem = item.problem {
                settle([item], .failure(problem), &ledger)
            } else if isHalted {
                settle([item], .failure(.batchFailed(in: zoneID)), &ledger)
            } else {
                toSend.append(item)
            }
        }
        return toSend
    }

    private func request(for items: [PlannedItem], in zone: ZoneID) -> ModifyRecords.Request {
        ModifyRecords.Request(
            zoneID: zone,
            operations: items.compactMap { try? $0.operation.get() },  // problems are out
            atomic: zone.isDefault ? nil : isAtomic,
            // The fields were sent from here; only tag and dates are news.
            desiredKeys: [],
            clientChangeToken: clientChangeToken
        )
    }

    private func outcome(
        of item: PlannedItem,
        _ result: RecordResult,
        _ report: CKError.ServerReport
    ) -> Result<Void, CKError> {
        switch (item.change, result) {
        case (.save(let record), .record(let wire)):
            if let sent = item.sent { record.wasSaved(as: wire, sending: sent, in: database) }
            return .success(())
        case (.save(let record), .failed(_, let error)):
            return .failure(conflictOrOther(error, saving: record, report))
        case (.save(let record), .deleted):
            return .failure(.notSaved("record '\(record.recordID.recordName)'", report))
        case (.delete, .failed(_, let error)):
            return .failure(.server(error, report: report, of: .record(item.recordID)))
        case (.delete, _): return .success(())
        }
    }

    /// Adds the records of both sides to the error of a conflict (SAVE-6), whatever its code
    /// (SAVE-8).
    private func conflictOrOther(
        _ error: WireError,
        saving record: CKRecord,
        _ report: CKError.ServerReport
    ) -> CKError {
        let isConflict = error.ckErrorCode == CKError.Code.serverRecordChanged.rawValue
        guard isConflict || error.detail?.serverRecord != nil else {
            return .server(error, report: report, of: .record(record.recordID))
        }
        var records: [String: Any] = [CKRecordChangedErrorClientRecordKey: record]
        records[CKRecordChangedErrorAncestorRecordKey] = record.ancestor
        // A server record that cannot be read is left out: the conflict counts.
        records[CKRecordChangedErrorServerRecordKey] = error.detail?.serverRecord.flatMap {
            try? CKRecord.received($0, recordID: record.recordID, in: database)
        }
        return .server(
            error, report: report, of: .record(record.recordID), userInfo: records
        )
    }

    private func settle(
        _ items: [PlannedItem],
        _ outcome: Result<Void, CKError>,
        _ ledger: inout OperationLedger
    ) {
        for item in items { ledger.settle(item.change, outcome, callbacks) }
    }
}
