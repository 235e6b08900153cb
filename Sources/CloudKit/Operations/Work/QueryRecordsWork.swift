// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// The work of a ``CKQueryOperation``: one page of results.
struct QueryRecordsWork: OperationWork {
    /// Which results to fetch.
    enum Search: Sendable {
        /// The first ones of a query; no zone is every zone.
        case first(CKQuery, CKRecordZone.ID?)
        /// Those from a cursor on.
        case rest(CKQueryCursor)
    }

    /// Nil when the app set neither a query nor a cursor.
    let search: Search?
    let resultsLimit: Int?
    let desiredKeys: [CKRecord.FieldKey]?
    let database: DatabaseConnection
    let record: ItemCallback<CKRecord.ID, CKRecord>
    let completion: Completion<CKQueryCursor?>

    /// Fetches and reports a page; returns where the next one begins.
    func perform(_ ledger: inout OperationLedger) async throws(CKError) -> CKQueryCursor? {
        var request = try await request(ledger.options)
        request.resultsLimit = resultsLimit.map { min($0, WireProtocol.pageLimit) }
        request.desiredKeys = desiredKeys
        let answer = try await database.send(QueryRecords.self, request, ledger.options)
        ledger.report = answer.report
        let found = answer.value.records.compactMap { result in
            read(result, of: request.zoneID, answer.report)
        }
        let records = try await database.withAssets(found.map(\.record), ledger.options)
        for ((recordID, _), outcome) in zip(found, records) {
            ledger.settle(recordID, outcome, record)
        }
        return answer.value.continuationMarker.map { marker in
            request.continuationMarker = marker
            return CKQueryCursor(request)
        }
    }

    // MARK: - The request

    private func request(
        _ options: RequestOptions
    ) async throws(CKError) -> QueryRecords.Request {
        switch search {
        case .rest(let cursor): return try cursor.request()
        case .first(let query, let zoneID):
            return try await database.request(for: query, in: zoneID, options)
        case nil:
            throw .local(
                .invalidArguments,
                "The query operation has neither a query nor a cursor: set one of them."
            )
        }
    }

    // MARK: - The answer

    /// The record of an answer, or why there is none; nil for one that is gone.
    private func read(
        _ result: RecordResult,
        of zone: ZoneID?,
        _ report: CKError.ServerReport
    ) -> (recordID: CKRecord.ID, record: Result<CKRecord, CKError>)? {
        let zoneID = zone.map { $0.asSent }
        switch result {
        case .record(let wire):
            database.learn(from: wire.zoneID)
            let recordID = CKRecord.ID(
                unchecked: wire.recordName, zoneID: zoneID ?? database.zoneID(wire.zoneID))
            let record = Result { () throws(CKError) in
                try CKRecord.received(wire, recordID: recordID, in: database)
            }
            return (recordID, record)
        case .failed(let name, let error):
            let recordID = CKRecord.ID(unchecked: name, zoneID: zoneID ?? .default)
            return (recordID, .failure(.server(error, report: report)))
        case .deleted:
            // It went while the server searched, and matches no more.
            return nil
        }
    }
}

extension ZoneID {
    /// The zone's ID as the app spelled it in the request.
    fileprivate var asSent: CKRecordZone.ID {
        CKRecordZone.ID(
            unchecked: zoneName,
            ownerName: ownerRecordName ?? CKCurrentUserDefaultName
        )
    }
}

extension DatabaseConnection {
    /// Returns the request of a query; no zone is every zone.
    func request(
        for query: CKQuery,
        in zoneID: CKRecordZone.ID?,
        _ options: RequestOptions
    ) async throws(CKError) -> QueryRecords.Request {
        if query.predicate.namesCurrentUser {
            _ = try await container.fetchUserRecordName(options)
        }
        guard zoneID != nil || scope != .shared else {
            throw .local(
                .invalidArguments,
                "A query of type '\(query.recordType)' in a shared database needs a zone: set "
                    + "the operation's zoneID, and run one operation for each zone."
            )
        }
        // The public database has one zone.
        let zone = scope == .public ? zoneID ?? .default : zoneID
        return QueryRecords.Request(
            query: try WireQuery(query, in: FilterContext(database: self, zoneID: zone)),
            zoneID: zone.map(wire),
            zoneWide: zone == nil
        )
    }
}

extension CKDatabase {
    /// Returns the body of `records/query` that a query makes here, for the test kit.
    package func body(of query: CKQuery, in zoneID: CKRecordZone.ID?) async throws -> [UInt8] {
        let request = try await connection.request(for: query, in: zoneID, RequestOptions())
        return JSONWriter.write { request.write(to: &$0) }
    }
}
