// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// The work of a ``CKFetchRecordZoneChangesOperation``: page after page, some zones at a
/// time.
struct FetchZoneChangesWork: OperationWork {
    /// The most zones of one request: they share its page of records.
    static let zonesPerRequest = 20

    /// What a zone's fetch ends with.
    typealias ZoneEnd = (
        serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool
    )

    /// The app's callbacks.
    struct Callbacks: @unchecked Sendable {
        // Sendable: called on the operation's callback queue only.
        var record: ItemCallback<CKRecord.ID, CKRecord>
        var deleted: ((CKRecord.ID, CKRecord.RecordType) -> Void)?
        var tokensUpdated: ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
        var zone: ItemCallback<CKRecordZone.ID, ZoneEnd>
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
    let completion: Completion<Void>

    func perform(_ ledger: inout OperationLedger) async throws(CKError) {
        var open: [OpenZone] = []
        for zoneID in zoneIDs.uniqued() {
            do throws(CKError) {
                open.append(OpenZone(zoneID: zoneID, request: try request(for: zoneID)))
            } catch {
                ledger.settle(zoneID, .failure(error), callbacks.zone)
            }
        }
        for zones in open.chunked(by: Self.zonesPerRequest) {
            await fetch(Array(zones), &ledger)
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
    private func fetch(_ zones: [OpenZone], _ ledger: inout OperationLedger) async {
        var open = zones
        while !open.isEmpty {
            do throws(CKError) {
                if let failure = ledger.failure { throw failure }
                open = try await fetchPage(of: open, &ledger)
            } catch {
                ledger.fail(error)
                for zone in open { ledger.settle(zone.zoneID, .failure(error), callbacks.zone) }
                return
            }
            // At most one page's callbacks wait at a time.
            await ledger.run.callbacks.drained()
        }
    }

    /// Fetches a page of each zone; returns those that are to be continued.
    private func fetchPage(
        of zones: [OpenZone],
        _ ledger: inout OperationLedger
    ) async throws(CKError) -> [OpenZone] {
        let request = FetchZoneChanges.Request(zones: zones.map(\.request))
        let answer = try await database.send(FetchZoneChanges.self, request, ledger.options)
        ledger.report = answer.report
        // All files before the first callback: a token that is reported covers only what was
        // handed over, so a cancelled page reports nothing.
        var found: [[Result<CKRecord, CKError>]] = []
        for (zone, result) in zip(zones, answer.value.zones) {
            found.append(
                try await records(of: result, in: zone.zoneID, answer.report, ledger.options))
        }
        var open: [OpenZone] = []
        var hasMoved = false
        for ((zone, result), records) in zip(zip(zones, answer.value.zones), found) {
            switch result {
            case .failed(_, let error):
                hasMoved = true
                let error = CKError.server(
                    error, report: answer.report, of: .zone(zone.zoneID)
                )
                ledger.settle(zone.zoneID, .failure(error), callbacks.zone)
            case .changes(let page):
                let next = reportPage(page, with: records, of: zone, &ledger)
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
    private func reportPage(
        _ page: FetchZoneChanges.Page,
        with records: [Result<CKRecord, CKError>],
        of zone: OpenZone,
        _ ledger: inout OperationLedger
    ) -> OpenZone? {
        reportRecords(page.records, with: records, of: zone.zoneID, &ledger)
        let token = CKServerChangeToken(syncToken: page.syncToken)
        let clientData = page.clientChangeToken.map { Data($0) }
        guard fetchesAll, page.moreComing else {
            let end: ZoneEnd = (token, clientData, page.moreComing)
            ledger.settle(zone.zoneID, .success(end), callbacks.zone)
            return nil
        }
        let hasNews = page.syncToken != zone.request.syncToken
        if hasNews {
            ledger.run.callbacks.enqueue {
                callbacks.tokensUpdated?(zone.zoneID, token, clientData)
            }
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
        _ options: RequestOptions
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
                    try CKRecord.received(wire, recordID: recordID, in: database)
                }
            }
        }
        return try await database.withAssets(found, options)
    }

    /// Reports records and deletions in their order.
    private func reportRecords(
        _ results: [RecordResult],
        with records: [Result<CKRecord, CKError>],
        of zoneID: CKRecordZone.ID,
        _ ledger: inout OperationLedger
    ) {
        var records = records.makeIterator()
        func reportRecord(_ recordName: String) {
            guard let record = records.next() else { return }
            let recordID = CKRecord.ID(unchecked: recordName, zoneID: zoneID)
            ledger.settle(recordID, record, callbacks.record)
        }
        for result in results {
            switch result {
            case .deleted(let tombstone):
                let recordID = CKRecord.ID(unchecked: tombstone.recordName, zoneID: zoneID)
                ledger.run.callbacks.enqueue {
                    callbacks.deleted?(recordID, tombstone.recordType ?? "")
                }
            case .record(let wire): reportRecord(wire.recordName)
            case .failed(let name, _): reportRecord(name)
            }
        }
    }
}
