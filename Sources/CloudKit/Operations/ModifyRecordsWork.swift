// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

/// The work of a ``CKModifyRecordsOperation``: one request for each zone.
struct ModifyRecordsWork: Sendable {
    /// What to do with one record.
    enum Item: Sendable {
        case save(CKRecord, sending: SentRecord)
        case delete(CKRecord.ID)

        var recordID: CKRecord.ID {
            switch self {
            case .save(let record, _): record.recordID
            case .delete(let recordID): recordID
            }
        }
    }

    /// An item with the operation that does it, or what is wrong with it (SAVE-17).
    struct PlannedItem: Sendable {
        var item: Item
        var operation: Result<ModifyRecords.Operation, CKError>
        /// The assets whose values the operation waits for.
        var assets: [AssetSlot] = []
    }

    /// The app's callbacks.
    struct Callbacks: @unchecked Sendable {
        // Sendable: called on the operation's callback queue only.
        var progress: ((CKRecord, Double) -> Void)?
        var save: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
        var oldSave: ((CKRecord, (any Error)?) -> Void)?
        var delete: ((CKRecord.ID, Result<Void, any Error>) -> Void)?
        var result: ((Result<Void, any Error>) -> Void)?
        var oldCompletion: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?
    }

    private let items: [PlannedItem]
    private let isAtomic: Bool
    private let clientChangeToken: [UInt8]?
    let database: DatabaseConnection
    let callbacks: Callbacks

    /// Plans the work: takes the records' fields as they are now.
    init(
        saving records: [CKRecord],
        deleting recordIDs: [CKRecord.ID],
        policy: CKModifyRecordsOperation.RecordSavePolicy,
        isAtomic: Bool,
        clientChangeToken: [UInt8]?,
        in database: DatabaseConnection,
        callbacks: Callbacks
    ) {
        var seen: Set<CKRecord.ID> = []
        let saves = records.map { record in
            PlannedItem(
                saving: record,
                policy,
                isRepeated: !seen.insert(record.recordID).inserted,
                in: database
            )
        }
        let deletions = recordIDs.map { recordID in
            PlannedItem(deleting: recordID, isRepeated: !seen.insert(recordID).inserted)
        }
        items = saves + deletions
        self.isAtomic = isAtomic
        self.clientChangeToken = clientChangeToken
        self.database = database
        self.callbacks = callbacks
    }

    /// Does the work; returns the callback with the result.
    func perform(_ run: OperationRun) async -> LastCallback {
        var ledger = Ledger()
        if let error = OperationLimit.check(items.count) { ledger.outcomes.fail(error) }
        let zones = items.grouped(by: { $0.item.recordID.zoneID })
        for (number, (zoneID, items)) in zones.enumerated() {
            if let failure = ledger.outcomes.failure {
                items.forEach { tell($0.item, .failure(failure), run) }
                continue
            }
            await modify(items, of: ZonePlace(id: zoneID, number: number + 1), run, &ledger)
            // At most one zone's callbacks wait at a time.
            await run.callbacks.drained()
        }
        let callbacks = callbacks
        let ended = ledger
        return LastCallback {
            if let result = callbacks.result {
                result(ended.outcomes.result)
            } else {
                callbacks.oldCompletion?(
                    ended.saved,
                    ended.deleted,
                    ended.outcomes.completionError
                )
            }
        }
    }

    /// What was done so far.
    private struct Ledger {
        var outcomes = ItemOutcomes()
        var saved: [CKRecord] = []
        var deleted: [CKRecord.ID] = []
    }

    /// A zone with its number among those of the work.
    private struct ZonePlace {
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
        of zone: ZonePlace,
        _ run: OperationRun,
        _ ledger: inout Ledger
    ) async {
        let wireZone = database.wire(zone.id)
        let isAllOrNothing = isAtomic && !wireZone.isDefault
        var items = items
        for attempt in 1... {
            let name = zone.requestName(attempt: attempt)
            if let sent = namesSent(as: name, run) {
                items = items.map { $0.asSentBefore(among: sent) }
            } else if !isAllOrNothing || items.allSatisfy({ $0.problem == nil }) {
                items = await uploadAssets(of: items, in: wireZone, attempt: attempt, run)
            }
            let problems = items.compactMap(\.problem)
            if let failure = problems.first(where: \.code.concernsWholeOperation) {
                ledger.outcomes.fail(failure)
                for item in items { settle(item.item, .failure(failure), run, &ledger) }
                return
            }
            let toSend = settleProblems(
                of: items, in: zone.id, isAllOrNothing: isAllOrNothing, run, &ledger
            )
            guard let answer = await send(toSend, in: wireZone, as: name, run, &ledger)
            else { return }
            if attempt > 1 {
                items = []
            } else if let sent = namesSent(as: zone.requestName(attempt: 2), run) {
                // Whether a file is still there says nothing of what was sent.
                items = toSend.filter { sent.contains($0.item.recordID.recordName) }
            } else {
                items = itemsToRepeat(toSend, answer.value.records, isAllOrNothing: isAllOrNothing)
            }
            let repeated = Set(items.map(\.item.recordID))
            for (item, result) in zip(toSend, answer.value.records)
            where !repeated.contains(item.item.recordID) {
                settle(item.item, outcome(of: item.item, result, answer.report), run, &ledger)
            }
            guard !items.isEmpty else { return }
        }
    }

    /// Sends items; nil when there are none, or no answer, which is settled then.
    private func send(
        _ items: [PlannedItem],
        in zone: ZoneID,
        as name: String,
        _ run: OperationRun,
        _ ledger: inout Ledger
    ) async -> WebServicesAnswer<ModifyRecords.Response>? {
        guard !items.isEmpty else { return nil }
        do {
            let answer = try await database.send(
                ModifyRecords.self, request(for: items, in: zone), run.options, named: name
            )
            ledger.outcomes.report = answer.report
            return answer
        } catch {
            // The app may split what is too large (LIMIT-2). Of a request that was refused
            // nothing was done; an answer that is too long has the same code.
            if error.code.concernsWholeOperation || error.code == .limitExceeded {
                ledger.outcomes.fail(error)
            }
            for item in items { settle(item.item, .failure(error), run, &ledger) }
            return nil
        }
    }

    /// Settles the items that cannot be sent; returns the others.
    private func settleProblems(
        of items: [PlannedItem],
        in zoneID: CKRecordZone.ID,
        isAllOrNothing: Bool,
        _ run: OperationRun,
        _ ledger: inout Ledger
    ) -> [PlannedItem] {
        let isHalted = isAllOrNothing && items.contains { $0.problem != nil }
        var toSend: [PlannedItem] = []
        for item in items {
            if let problem = item.problem {
                settle(item.item, .failure(problem), run, &ledger)
            } else if isHalted {
                settle(item.item, .failure(.batchFailed(in: zoneID)), run, &ledger)
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
        of item: Item,
        _ result: RecordResult,
        _ report: CKError.ServerReport
    ) -> Result<Void, CKError> {
        switch (item, result) {
        case (.save(let record, let sent), .record(let wire)):
            record.wasSaved(as: wire, sending: sent, in: database)
            return .success(())
        case (.delete, .deleted), (.delete, .record): return .success(())
        case (.save(let record, _), .failed(_, let error)):
            return .failure(conflictOrOther(error, saving: record, report))
        case (.delete, .failed(_, let error)): return .failure(.server(error, report: report))
        case (.save(let record, _), .deleted):
            return .failure(
                .server(
                    .internalError,
                    "The server says record '\(record.recordID.recordName)' is deleted, "
                        + "but it was to be saved.",
                    report: report
                )
            )
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
            return .server(error, report: report)
        }
        var records: [String: Any] = [CKRecordChangedErrorClientRecordKey: record]
        records[CKRecordChangedErrorAncestorRecordKey] = record.ancestor
        // A server record that cannot be read is left out: the conflict counts.
        records[CKRecordChangedErrorServerRecordKey] = error.detail?.serverRecord.flatMap {
            try? CKRecord($0, recordID: record.recordID, in: database)
        }
        return .server(error, report: report, userInfo: records)
    }

    private func settle(
        _ item: Item,
        _ outcome: Result<Void, CKError>,
        _ run: OperationRun,
        _ ledger: inout Ledger
    ) {
        switch (item, outcome) {
        case (_, .failure(let error)): ledger.outcomes.fail(item.recordID, error)
        case (.save(let record, _), .success): ledger.saved.append(record)
        case (.delete(let recordID), .success): ledger.deleted.append(recordID)
        }
        tell(item, outcome, run)
    }

    private func tell(_ item: Item, _ outcome: Result<Void, CKError>, _ run: OperationRun) {
        let callbacks = callbacks
        run.callbacks.enqueue {
            switch (item, outcome) {
            case (.save(let record, _), .success):
                callbacks.progress?(record, 1)
                callbacks.tellSaved(record, nil)
            case (.save(let record, _), .failure(let error)): callbacks.tellSaved(record, error)
            case (.delete(let recordID), .success): callbacks.delete?(recordID, .success(()))
            case (.delete(let recordID), .failure(let error)):
                callbacks.delete?(recordID, .failure(error))
            }
        }
    }
}

extension ModifyRecordsWork.Callbacks {
    fileprivate func tellSaved(_ record: CKRecord, _ error: CKError?) {
        if let save {
            save(record.recordID, error.map { .failure($0) } ?? .success(record))
        } else {
            oldSave?(record, error)
        }
    }
}
