// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// The work of a ``CKFetchRecordsOperation``: for each zone, requests of a page each.
struct FetchRecordsWork: OperationWork {
    /// What to fetch.
    enum Subject: Sendable {
        case records([CKRecord.ID])
        case currentUser
    }

    let subject: Subject
    let desiredKeys: [CKRecord.FieldKey]?
    let database: DatabaseConnection
    let callbacks: FetchCallbacks<CKRecord>

    var completion: Completion<Void> { callbacks.completion }

    func perform(_ ledger: inout OperationLedger) async throws(CKError) {
        let recordIDs = try await recordIDs(ledger.options)
        if let error = OperationLimit.check(recordIDs.count) { ledger.fail(error) }
        for (zoneID, recordIDs) in recordIDs.grouped(by: \.zoneID) {
            for page in recordIDs.chunked(by: WireProtocol.pageLimit) {
                await fetch(page, of: zoneID, &ledger)
                // At most one page's callbacks wait at a time.
                await ledger.run.callbacks.drained()
            }
        }
    }

    /// The IDs asked for, each once.
    private func recordIDs(_ options: RequestOptions) async throws(CKError) -> [CKRecord.ID] {
        switch subject {
        case .records(let recordIDs): return recordIDs.uniqued()
        case .currentUser:
            let name = try await database.container.fetchUserRecordName(options)
            return [CKRecord.ID(unchecked: name, zoneID: .default)]
        }
    }

    private func fetch(
        _ page: ArraySlice<CKRecord.ID>,
        of zoneID: CKRecordZone.ID,
        _ ledger: inout OperationLedger
    ) async {
        let recordIDs = Array(page)
        do throws(CKError) {
            if let failure = ledger.failure { throw failure }
            var records = try await load(recordIDs, of: zoneID, ledger.options, &ledger)
            // The answer may have been kept for longer than its download URLs are good.
            let refused = records.indices.filter { records[$0].lacksFile }
            if ledger.options.journal != nil, !refused.isEmpty {
                let again = try await load(
                    refused.map { recordIDs[$0] }, of: zoneID, ledger.options.withoutJournal,
                    &ledger
                )
                for (index, record) in zip(refused, again) { records[index] = record }
            }
            for (recordID, record) in zip(recordIDs, records) {
                ledger.settle(recordID, record, callbacks.item)
            }
        } catch {
            // The records of a page together can be more than one answer holds (LIMIT-20).
            if ledger.failure == nil, error.code == .limitExceeded, page.count > 1 {
                let middle = page.startIndex + page.count / 2
                await fetch(page[..<middle], of: zoneID, &ledger)
                return await fetch(page[middle...], of: zoneID, &ledger)
            }
            if error.code.concernsWholeOperation { ledger.fail(error) }
            for recordID in recordIDs { ledger.settle(recordID, .failure(error), callbacks.item) }
        }
    }

    /// Asks for records and downloads their files.
    private func load(
        _ recordIDs: [CKRecord.ID],
        of zoneID: CKRecordZone.ID,
        _ options: RequestOptions,
        _ ledger: inout OperationLedger
    ) async throws(CKError) -> [Result<CKRecord, CKError>] {
        let request = LookupRecords.Request(
            zoneID: database.wire(zoneID),
            records: recordIDs.map { LookupRecords.Item(recordName: $0.recordName) },
            desiredKeys: desiredKeys
        )
        let answer = try await database.send(LookupRecords.self, request, options)
        ledger.report = answer.report
        let records = zip(recordIDs, answer.value.records).map { recordID, result in
            record(recordID, result, answer.report)
        }
        let queue = ledger.run.callbacks
        return try await database.withAssets(records, options) { index, share in
            queue.enqueue { callbacks.progress?(recordIDs[index], share) }
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
                try CKRecord.received(wire, recordID: recordID, in: database)
            }
        case .failed(_, let error):
            return .failure(.server(error, report: report, of: .record(recordID)))
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
}

extension Result where Success == CKRecord, Failure == CKError {
    /// Whether the record is there, but not its file.
    fileprivate var lacksFile: Bool {
        if case .failure(let error) = self { error.code == .assetNotAvailable } else { false }
    }
}
