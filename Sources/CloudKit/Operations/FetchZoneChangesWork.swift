// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

/// The work of a ``CKFetchRecordZoneChangesOperation``: page after page, some zones at a
/// time.
struct FetchZoneChangesWork: Sendable {
    /// The most zones of one request: they share its page of records.
    static let zonesPerRequest = 20

    /// The app's callbacks.
    struct Callbacks: @unchecked Sendable {
        // Sendable: called on the operation's callback queue only.
        var records: FetchedRecordBlocks
        var deleted: ((CKRecord.ID, CKRecord.RecordType) -> Void)?
        var tokensUpdated: ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
        var zone: ((CKRecordZone.ID, CKFetchRecordZoneChangesOperation.ZoneResult) -> Void)?
        var oldZone: ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
        var result: ((Result<Void, any Error>) -> Void)?
        var oldCompletion: (((any Error)?) -> Void)?
    }

    /// A zone whose fetch is not finished.
    private struct OpenZone {
        var zoneID: CKRecordZone.ID
        var request: FetchZoneChanges.Zone
    }

    let zoneIDs: [CKRecordZone.ID]
    let configurations: [CKRecordZone.ID: CKFetchRecordZoneChangesConfiguration.Values]
    let fetchesAll: Bool
    let database: DatabaseConnection
    let callbacks: Callbacks

    /// Does the work; returns the callback with the result.
    func perform(_ run: OperationRun) async -> LastCallback {
        var outcomes = ItemOutcomes()
        var seen: Set<CKRecordZone.ID> = []
        var open: [OpenZone] = []
        for zoneID in zoneIDs where seen.insert(zoneID).inserted {
            do {
                open.append(OpenZone(zoneID: zoneID, request: try request(for: zoneID)))
            } catch {
                end(zoneID, .failure(error), run, &outcomes)
            }
        }
        for zones in open.chunked(by: Self.zonesPerRequest) {
            await fetch(Array(zones), run, &outcomes)
        }
        let callbacks = callbacks
        let ended = outcomes
        return LastCallback {
            if let result = callbacks.result {
                result(ended.result)
            } else {
                callbacks.oldCompletion?(ended.completionError)
            }
        }
    }

    private func request(
        for zoneID: CKRecordZone.ID
    ) throws(CKError) -> FetchZoneChanges.Zone {
        let configuration = configurations[zoneID]
        let limit = configuration?.resultsLimit ?? 0
        return FetchZoneChanges.Zone(
            zoneID: database.wire(zoneID),
            syncToken: try configuration?.previousServerChangeToken?.syncToken(),
            options: FetchZoneChanges.Options(
                resultsLimit: limit > 0 ? limit : nil,
                desiredKeys: configuration?.desiredKeys
            )
        )
    }

    /// Fetches until every zone has ended.
    private func fetch(
        _ zones: [OpenZone],
        _ run: OperationRun,
        _ outcomes: inout ItemOutcomes
    ) async {
        var open = zones
        while !open.isEmpty {
            do {
                if let failure = outcomes.failure { throw failure }
                open = try await fetchPage(of: open, run, &outcomes)
            } catch let error as CKError {
                outcomes.fail(error)
                for zone in open { end(zone.zoneID, .failure(error), run, &outcomes) }
                return
            } catch {
                preconditionFailure("Fetching fails with errors of CloudKit only, not \(error).")
            }
            // At most one page's callbacks wait at a time.
            await run.callbacks.drained()
        }
    }

    /// Fetches a page of each zone; returns those that are to be continued.
    private func fetchPage(
        of zones: [OpenZone],
        _ run: OperationRun,
        _ outcomes: inout ItemOutcomes
    ) async throws(CKError) -> [OpenZone] {
        let request = FetchZoneChanges.Request(zones: zones.map(\.request))
        let answer = try await database.send(FetchZoneChanges.self, request, run.options)
        outcomes.report = answer.report
        // All files before the first callback: a token that is told covers only what was
        // handed over, so a cancelled page tells nothing.
        var found: [[Result<CKRecord, CKError>]] = []
        for (zone, result) in zip(zones, answer.value.zones) {
            found.append(try await records(of: result, in: zone.zoneID, answer.report, run))
        }
        var open: [OpenZone] = []
        var hasMoved = false
        for ((zone, result), records) in zip(zip(zones, answer.value.zones), found) {
            switch result {
            case .failed(_, let error):
                hasMoved = true
                end(zone.zoneID, .failure(.server(error, report: answer.report)), run, &outcomes)
            case .changes(let page):
                let next = tell(page, with: records, of: zone, run, &outcomes)
                if let next { open.append(next) }
                // A zone for which the page had no room stays where it is; all of them
                // cannot.
                hasMoved = hasMoved || next == nil || page.syncToken != zone.request.syncToken
            }
        }
        guard hasMoved else { throw .standsStill(answer.report) }
        return open
    }

    /// Reports a page; returns how the zone goes on, nil when it has ended.
    private func tell(
        _ page: FetchZoneChanges.Page,
        with records: [Result<CKRecord, CKError>],
        of zone: OpenZone,
        _ run: OperationRun,
        _ outcomes: inout ItemOutcomes
    ) -> OpenZone? {
        tell(page.records, with: records, of: zone.zoneID, run, &outcomes)
        let token = CKServerChangeToken(syncToken: page.syncToken)
        let clientData = page.clientChangeToken.map { Data($0) }
        guard fetchesAll, page.moreComing else {
            end(zone.zoneID, .success((token, clientData, page.moreComing)), run, &outcomes)
            return nil
        }
        let hasNews = page.syncToken != zone.request.syncToken
        if hasNews {
            let callbacks = callbacks
            run.callbacks.enqueue { callbacks.tokensUpdated?(zone.zoneID, token, clientData) }
        }
        var next = zone
        next.request.syncToken = page.syncToken
        return next
    }

    /// The records of a zone's page that are there, with their files, in order.
    private func records(
        of answer: FetchZoneChanges.ZoneAnswer,
        in zoneID: CKRecordZone.ID,
        _ report: CKError.ServerReport,
        _ run: OperationRun
    ) async throws(CKError) -> [Result<CKRecord, CKError>] {
        guard case .changes(let page) = answer else { return [] }
        database.learn(from: page.zoneID)
        let found: [Result<CKRecord, CKError>] = page.records.compactMap { result in
            switch result {
            case .deleted: return nil
            case .failed(_, let error): return .failure(.server(error, report: report))
            case .record(let wire):
                let recordID = CKRecord.ID(unchecked: wire.recordName, zoneID: zoneID)
                return Result { () throws(CKError) in
                    try CKRecord(wire, recordID: recordID, in: database)
                }
            }
        }
        return try await database.withAssets(found, run.options)
    }

    /// Reports records and deletions in their order.
    private func tell(
        _ results: [RecordResult],
        with records: [Result<CKRecord, CKError>],
        of zoneID: CKRecordZone.ID,
        _ run: OperationRun,
        _ outcomes: inout ItemOutcomes
    ) {
        var records = records.makeIterator()
        let callbacks = callbacks
        func tell(_ recordName: String) {
            guard let record = records.next() else { return }
            let recordID = CKRecord.ID(unchecked: recordName, zoneID: zoneID)
            callbacks.records.tell(recordID, record, run, &outcomes)
        }
        for result in results {
            switch result {
            case .deleted(let tombstone):
                let recordID = CKRecord.ID(unchecked: tombstone.recordName, zoneID: zoneID)
                run.callbacks.enqueue { callbacks.deleted?(recordID, tombstone.recordType ?? "") }
            case .record(let wire): tell(wire.recordName)
            case .failed(let name, _): tell(name)
            }
        }
    }

    private func end(
        _ zoneID: CKRecordZone.ID,
        _ outcome: Result<(CKServerChangeToken, Data?, Bool), CKError>,
        _ run: OperationRun,
        _ outcomes: inout ItemOutcomes
    ) {
        if case .failure(let error) = outcome { outcomes.fail(zoneID, error) }
        let callbacks = callbacks
        run.callbacks.enqueue {
            switch outcome {
            case .success((let token, let clientData, let moreComing)):
                if let zone = callbacks.zone {
                    zone(
                        zoneID,
                        .success(
                            (
                                serverChangeToken: token, clientChangeTokenData: clientData,
                                moreComing: moreComing
                            )
                        )
                    )
                } else {
                    callbacks.oldZone?(zoneID, token, clientData, moreComing, nil)
                }
            case .failure(let error):
                if let zone = callbacks.zone {
                    zone(zoneID, .failure(error))
                } else {
                    callbacks.oldZone?(zoneID, nil, nil, false, error)
                }
            }
        }
    }
}
