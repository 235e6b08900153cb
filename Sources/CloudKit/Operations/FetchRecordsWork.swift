// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

/// The work of a ``CKFetchRecordsOperation``: for each zone, requests of a page each.
struct FetchRecordsWork: Sendable {
    /// What to fetch.
    enum Subject: Sendable {
        case records([CKRecord.ID])
        case currentUser
    }

    /// The app's callbacks.
    struct Callbacks: @unchecked Sendable {
        // Sendable: called on the operation's callback queue only.
        var progress: ((CKRecord.ID, Double) -> Void)?
        var record: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
        var oldRecord: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
        var result: ((Result<Void, any Error>) -> Void)?
        var oldCompletion: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?
    }

    let subject: Subject
    let desiredKeys: [CKRecord.FieldKey]?
    let database: DatabaseConnection
    let callbacks: Callbacks

    /// Does the work; returns the callback with the result.
    func perform(_ run: OperationRun) async -> LastCallback {
        var ledger = Ledger()
        do {
            let recordIDs = try await recordIDs(run)
            if let error = OperationLimit.check(recordIDs.count) { ledger.outcomes.fail(error) }
            for (zoneID, recordIDs) in recordIDs.grouped(by: \.zoneID) {
                for page in recordIDs.chunked(by: WireProtocol.pageLimit) {
                    await fetch(page, of: zoneID, run, &ledger)
                    // At most one page's callbacks wait at a time.
                    await run.callbacks.drained()
                }
            }
        } catch {
            ledger.outcomes.fail(error)
        }
        let callbacks = callbacks
        let ended = ledger
        return LastCallback {
            if let result = callbacks.result {
                result(ended.outcomes.result)
            } else {
                callbacks.oldCompletion?(ended.records, ended.outcomes.completionError)
            }
        }
    }

    /// What was fetched so far.
    private struct Ledger {
        var outcomes = ItemOutcomes()
        var records: [CKRecord.ID: CKRecord] = [:]
    }

    /// The IDs asked for, each once.
    private func recordIDs(_ run: OperationRun) async throws(CKError) -> [CKRecord.ID] {
        switch subject {
        case .records(let recordIDs):
            var seen: Set<CKRecord.ID> = []
            return recordIDs.filter { seen.insert($0).inserted }
        case .currentUser:
            let name = try await database.container.fetchUserRecordName(run.options)
            return [CKRecord.ID(unchecked: name, zoneID: .default)]
        }
    }

    private func fetch(
        _ recordIDs: ArraySlice<CKRecord.ID>,
        of zoneID: CKRecordZone.ID,
        _ run: OperationRun,
        _ ledger: inout Ledger
    ) async {
        if let failure = ledger.outcomes.failure {
            recordIDs.forEach { tell($0, .failure(failure), run) }
            return
        }
        let page = recordIDs
        let recordIDs = Array(page)
        do {
            var records = try await load(recordIDs, of: zoneID, run, &ledger)
            // The answer may have been kept for longer than its download URLs are good.
            let refused = records.indices.filter { records[$0].lacksFile }
            if run.options.journal != nil, !refused.isEmpty {
                let again = try await load(
                    refused.map { recordIDs[$0] }, of: zoneID, run.withoutJournal, &ledger
                )
                for (place, record) in zip(refused, again) { records[place] = record }
            }
            for (recordID, record) in zip(recordIDs, records) {
                settle(recordID, record, run, &ledger)
            }
        } catch {
            // The records of a page together can be more than one answer holds (LIMIT-20).
            if error.code == .limitExceeded, page.count > 1 {
                let middle = page.startIndex + page.count / 2
                await fetch(page[..<middle], of: zoneID, run, &ledger)
                return await fetch(page[middle...], of: zoneID, run, &ledger)
            }
            if error.code.concernsWholeOperation { ledger.outcomes.fail(error) }
            for recordID in recordIDs { settle(recordID, .failure(error), run, &ledger) }
        }
    }

    /// Asks for records and downloads their files.
    private func load(
        _ recordIDs: [CKRecord.ID],
        of zoneID: CKRecordZone.ID,
        _ run: OperationRun,
        _ ledger: inout Ledger
    ) async throws(CKError) -> [Result<CKRecord, CKError>] {
        let request = LookupRecords.Request(
            zoneID: database.wire(zoneID),
            records: recordIDs.map { LookupRecords.Item(recordName: $0.recordName) },
            desiredKeys: desiredKeys
        )
        let answer = try await database.send(LookupRecords.self, request, run.options)
        ledger.outcomes.report = answer.report
        let records = zip(recordIDs, answer.value.records).map { recordID, result in
            record(recordID, result, answer.report)
        }
        let callbacks = callbacks
        return try await database.withAssets(records, run.options) { place, share in
            run.callbacks.enqueue { callbacks.progress?(recordIDs[place], share) }
        }
    }

    private func record(
        _ recordID: CKRecord.ID,
        _ result: RecordResult,
        _ report: CKError.ServerReport
    ) -> Result<CKRecord, CKError> {
        switch result {
        case .record(let wire) where wire.recordName != recordID.recordName:
            return .failure(
                .server(
                    .internalError,
                    "The server was asked for record '\(recordID.recordName)' and answered with "
                        + "record '\(wire.recordName)'.",
                    report: report
                )
            )
        case .record(let wire):
            return Result { () throws(CKError) in
                try CKRecord(wire, recordID: recordID, in: database)
            }
        case .failed(_, let error): return .failure(.server(error, report: report))
        case .deleted:
            return .failure(
                .server(
                    .unknownItem,
                    "Record '\(recordID.recordName)' was deleted.",
                    report: report
                )
            )
        }
    }

    private func settle(
        _ recordID: CKRecord.ID,
        _ outcome: Result<CKRecord, CKError>,
        _ run: OperationRun,
        _ ledger: inout Ledger
    ) {
        switch outcome {
        case .success(let record): ledger.records[recordID] = record
        case .failure(let error): ledger.outcomes.fail(recordID, error)
        }
        tell(recordID, outcome, run)
    }

    private func tell(
        _ recordID: CKRecord.ID,
        _ outcome: Result<CKRecord, CKError>,
        _ run: OperationRun
    ) {
        let callbacks = callbacks
        run.callbacks.enqueue {
            if case .success = outcome { callbacks.progress?(recordID, 1) }
            if let record = callbacks.record {
                record(recordID, outcome.mapError { $0 })
            } else {
                switch outcome {
                case .success(let record): callbacks.oldRecord?(record, recordID, nil)
                case .failure(let error): callbacks.oldRecord?(nil, recordID, error)
                }
            }
        }
    }
}

extension Result where Success == CKRecord, Failure == CKError {
    /// Whether the record is there, but not its file.
    fileprivate var lacksFile: Bool {
        if case .failure(let error) = self { error.code == .assetNotAvailable } else { false }
    }
}
