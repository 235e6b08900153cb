// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// The work of a ``CKFetchRecordZoneChangesOperation``: page after page, some zones at a
/// time.
struct FetchZoneChangesWork: OperationWork {
    /// The most zones of one request: they share its page of records.
    static let zonesPerRequest = 20
    /// How long a page that was fetched ahead may wait for the app, in seconds: the links to its files are good
    /// for some hours.
    static let longestAhead: TimeInterval = 1800

    /// What a zone's fetch ends with.
    typealias ZoneEnd = (
        serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool
    )

    /// Where a zone's part of a page ends.
    struct PageEnd: Sendable {
        var serverChangeToken: CKServerChangeToken
        var moreComing: Bool
        /// Whether the zone was fetched without a token.
        var isFromStart: Bool
    }

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
    /// Waited for behind the callbacks of a page, before the next one is handed over.
    var pageEnded: (@Sendable (PageEnd) async -> Void)?
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
        guard ledger.failure == nil else { return end(zones, &ledger) }
        let options = ledger.options
        var open = zones
        var answered = await send(open, options)
        while !open.isEmpty {
            do throws(CKError) {
                let page = try answered.get()
                // It came while the app had the one before.
                try database.container.checkIsWanted(options)
                guard now.timeIntervalSince(page.date) <= Self.longestAhead else {
                    answered = await send(open, options)
                    continue
                }
                answered = try await report(page, of: open, options, &ledger)
                open = page.open
            } catch {
                ledger.fail(error)
                return end(open, &ledger)
            }
        }
    }

    private var now: Date { database.container.session.date() }

    /// Ends zones for the reason of the whole operation.
    private func end(_ zones: [OpenZone], _ ledger: inout OperationLedger) {
        guard let failure = ledger.failure else { return }
        for zone in zones { ledger.settle(zone.zoneID, .failure(failure), callbacks.zone) }
    }

    /// A page of some zones, as it was answered.
    private struct AnsweredPage {
        var zones: [FetchZoneChanges.ZoneAnswer] = []
        var report = CKError.ServerReport()
        /// When it was asked for.
        var date: Date
        /// Those that go on behind it.
        var open: [OpenZone] = []
        /// Whether all of them would ask for the same page again.
        var standsStill = false
    }

    /// Fetches a page of each zone.
    private func send(
        _ zones: [OpenZone], _ options: RequestOptions
    ) async -> Result<AnsweredPage, CKError> {
        let date = now
        guard !zones.isEmpty else { return .success(AnsweredPage(date: date)) }
        let request = FetchZoneChanges.Request(zones: zones.map(\.request))
        do throws(CKError) {
            let answer = try await database.send(FetchZoneChanges.self, request, options)
            let open = zip(zones, answer.value.zones).compactMap(next)
            // A zone for which the page had no room stays where it is; all of them cannot.
            let standsStill =
                open.count == zones.count
                && zip(open, zones).allSatisfy { $0.request.syncToken == $1.request.syncToken }
            return .success(
                AnsweredPage(
                    zones: answer.value.zones, report: answer.report, date: date, open: open,
                    standsStill: standsStill))
        } catch {
            return .failure(error)
        }
    }

    /// Reports a page; returns the next one, which is on its way while this one is taken apart and the app
    /// has it.
    private func report(
        _ page: AnsweredPage, of zones: [OpenZone], _ options: RequestOptions,
        _ ledger: inout OperationLedger
    ) async throws(CKError) -> Result<AnsweredPage, CKError> {
        async let following = send(page.standsStill ? [] : page.open, options)
        try await call(page, of: zones, &ledger)
        // At most one page's callbacks wait at a time, and one page for them.
        await ledger.run.callbacks.drained()
        if pageEnded != nil {
            // Its files may have taken their time.
            try database.container.checkIsWanted(options)
            await handOver(page, of: zones)
        }
        guard !page.standsStill else { throw .standsStill(page.report) }
        return await following
    }

    /// Waits until what the callbacks collected of a page was handed over.
    private func handOver(_ page: AnsweredPage, of zones: [OpenZone]) async {
        for (zone, answer) in zip(zones, page.zones) {
            guard case .changes(let part) = answer else { continue }
            await pageEnded?(
                PageEnd(
                    serverChangeToken: CKServerChangeToken(syncToken: part.syncToken),
                    moreComing: part.moreComing, isFromStart: zone.request.syncToken == nil))
        }
    }

    /// How a zone goes on behind a page; nil when it has ended.
    private func next(_ zone: OpenZone, _ answer: FetchZoneChanges.ZoneAnswer) -> OpenZone? {
        guard case .changes(let page) = answer, fetchesAll, page.moreComing else { return nil }
        var next = zone
        next.request.syncToken = page.syncToken
        return next
    }

    /// Enqueues the callbacks of a page.
    private func call(
        _ page: AnsweredPage, of zones: [OpenZone], _ ledger: inout OperationLedger
    ) async throws(CKError) {
        ledger.report = page.report
        // All files before the first callback: a token that is reported covers only what was
        // handed over, so a cancelled page reports nothing.
        var found: [[Result<CKRecord, CKError>]] = []
        for (zone, result) in zip(zones, page.zones) {
            found.append(
                try await records(of: result, in: zone.zoneID, page.report, ledger.options))
        }
        for ((zone, result), records) in zip(zip(zones, page.zones), found) {
            switch result {
            case .failed(_, let error):
                let error = CKError.server(error, report: page.report, of: .zone(zone.zoneID))
                ledger.settle(zone.zoneID, .failure(error), callbacks.zone)
            case .changes(let page): reportPage(page, with: records, of: zone, &ledger)
            }
        }
    }

    /// Reports a zone's part of a page.
    private func reportPage(
        _ page: FetchZoneChanges.Page,
        with records: [Result<CKRecord, CKError>],
        of zone: OpenZone,
        _ ledger: inout OperationLedger
    ) {
        reportRecords(page.records, with: records, of: zone.zoneID, &ledger)
        let token = CKServerChangeToken(syncToken: page.syncToken)
        let clientData = page.clientChangeToken.map { Data($0) }
        guard fetchesAll, page.moreComing else {
            let end: ZoneEnd = (token, clientData, page.moreComing)
            return ledger.settle(zone.zoneID, .success(end), callbacks.zone)
        }
        if page.syncToken != zone.request.syncToken {
            ledger.run.callbacks.enqueue {
                callbacks.tokensUpdated?(zone.zoneID, token, clientData)
            }
        }
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
            let recordID =
                (try? record.get())?.recordID ?? CKRecord.ID(unchecked: recordName, zoneID: zoneID)
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
