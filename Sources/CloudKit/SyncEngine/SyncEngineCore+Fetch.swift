// SPDX-License-Identifier: Apache-2.0
import Foundation

// Fetching: first which zones changed, then the records of each (SYNC-11).
extension SyncEngineCore {
    typealias FetchContext = CKSyncEngine.FetchChangesContext

    /// Fetches what changed on the server.
    func fetch(_ context: FetchContext) async throws(CKError) {
        try await attempt("fetchChanges(_:)") { () async throws(CKError) in
            try await self.performFetch(context)
        }
    }

    private func performFetch(_ context: FetchContext) async throws(CKError) {
        try await ensureAccount()
        await report(.willFetchChanges(CKSyncEngine.Event.WillFetchChanges(context: context)))
        var failures = SyncFailures()
        let requests = SyncRequests(
            database, for: account, group: context.options.operationGroup
        )
        do throws(CKError) {
            try await fetchZones(requests)
            try await fetchRecords(context, requests, &failures)
        } catch {
            failures.end(error)
        }
        await report(.didFetchChanges(CKSyncEngine.Event.DidFetchChanges(context: context)))
        try failures.check()
    }

    // MARK: - Zones

    private func fetchZones(_ requests: SyncRequests) async throws(CKError) {
        var token = state.values.databaseToken
        // The zones that exist, when a token was too old to find which ones are gone.
        var listed: Set<CKRecordZone.ID>?
        // Before the list: a push may report a zone that is made meanwhile.
        let known = state.values.knownZoneIDs
        while true {
            var page: SyncRequests.DatabasePage
            do throws(CKError) {
                page = try await requests.databaseChanges(since: token)
            } catch {
                guard error.code == .changeTokenExpired, token != nil, listed == nil else {
                    throw error
                }
                token = nil
                listed = []
                continue
            }
            listed?.formUnion(page.modifications.map(\.zoneID))
            if let listed, !page.moreComing {
                let gone = known.subtracting(listed)
                page.deletions += gone.map { .init(zoneID: $0, reason: .deleted) }
            }
            // Until the list is whole, the next attempt has to begin it anew.
            await reportZones(page, movesToken: listed == nil || !page.moreComing)
            guard page.moreComing else { return }
            guard page.token != token else { throw .standsStill(CKError.ServerReport()) }
            token = page.token
        }
    }

    private func reportZones(_ page: SyncRequests.DatabasePage, movesToken: Bool) async {
        let note: StateChange = { state in
            if movesToken { state.databaseToken = page.token }
            for change in page.modifications { state.noteChanges(in: change.zoneID) }
            for deletion in page.deletions { state.forgetZone(deletion.zoneID) }
        }
        if page.modifications.isEmpty && page.deletions.isEmpty {
            guard movesToken, page.token != state.values.databaseToken else { return }
            await change(note)
        } else {
            let event = CKSyncEngine.Event.FetchedDatabaseChanges(
                modifications: page.modifications,
                deletions: page.deletions
            )
            await report(.fetchedDatabaseChanges(event), after: note)
        }
    }

    // MARK: - Records

    private func fetchRecords(
        _ context: FetchContext,
        _ requests: SyncRequests,
        _ failures: inout SyncFailures
    ) async throws(CKError) {
        var seen: Set<CKRecordZone.ID> = []
        while let zoneID = await nextZone(context, without: seen) {
            guard !Task.isCancelled else { throw .cancelled() }
            seen.insert(zoneID)
            let begin = CKSyncEngine.Event.WillFetchRecordZoneChanges(zoneID: zoneID)
            await report(.willFetchRecordZoneChanges(begin))
            let error = await fetchZone(zoneID, requests)
            let end = CKSyncEngine.Event.DidFetchRecordZoneChanges(zoneID: zoneID, error: error)
            await report(.didFetchRecordZoneChanges(end)) { state in
                // That it is gone is reported with the zones, now or next time.
                if error?.code.meansZoneIsGone == true { state.noteFetched(zoneID) }
            }
            guard let error, !error.code.meansZoneIsGone else { continue }
            guard !error.code.concernsWholeOperation else { throw error }
            failures.add(error, of: zoneID)
        }
    }

    /// Returns the zone to fetch next; the delegate may have other wishes by now (SYNC-25).
    private func nextZone(
        _ context: FetchContext,
        without seen: Set<CKRecordZone.ID>
    ) async -> CKRecordZone.ID? {
        let waiting = state.zoneIDsWithUnfetchedServerChanges.filter { !seen.contains($0) }
        guard !waiting.isEmpty else { return nil }
        let answer = await ask { await $0.nextFetchChangesOptions(context, syncEngine: $1) }
        guard let options = answer else { return nil }
        let wanted = waiting.filter { options.scope.contains($0) }
        return options.prioritizedZoneIDs.first { wanted.contains($0) } ?? wanted.first
    }

    /// Fetches a zone's records to the end; returns what went wrong.
    private func fetchZone(
        _ zoneID: CKRecordZone.ID,
        _ requests: SyncRequests
    ) async -> CKError? {
        var unreadable: [AnyHashable: CKError] = [:]
        var token = state.values.zoneTokens[zoneID]
        func fetchPages() async throws(CKError) {
            try await requests.zoneChanges(in: zoneID, since: token) { page in
                for (recordID, error) in page.failures {
                    unreadable[AnyHashable(recordID)] = error
                }
                await reportRecords(page, of: zoneID)
                token = page.token
            }
        }
        do throws(CKError) {
            do throws(CKError) {
                try await fetchPages()
            } catch {
                // Too old: the zone is fetched whole (TOK-21), once.
                guard error.code == .changeTokenExpired, token != nil else { throw error }
                token = nil
                try await fetchPages()
            }
        } catch {
            return error
        }
        return unreadable.isEmpty ? nil : .partial(unreadable)
    }

    /// Reports a page of a zone. What the app has and a fetch from the start did not bring is
    /// reported as deleted with its last page, unless the app is about to save it.
    private func reportRecords(
        _ page: SyncRequests.ZonePage, of zoneID: CKRecordZone.ID
    ) async {
        var page = page
        if !page.moreComing {
            // What earlier pages brought is in the state.
            var known = state.values.knownRecords
            if page.isFromStart { known.doubt(zoneID) }
            known.note(page)
            for case .saveRecord(let recordID) in state.pendingRecordZoneChanges {
                known.keep(recordID)
            }
            page.deletions += known.doubtful(in: zoneID)
        }
        let reported = page
        let note: StateChange = { state in
            state.zoneTokens[zoneID] = reported.token
            if reported.isFromStart { state.knownRecords.doubt(zoneID) }
            state.knownRecords.note(reported)
            if !reported.moreComing { state.noteFetched(zoneID) }
        }
        if page.modifications.isEmpty && page.deletions.isEmpty {
            await change(note)
        } else {
            let event = CKSyncEngine.Event.FetchedRecordZoneChanges(
                modifications: page.modifications,
                deletions: page.deletions
            )
            await report(.fetchedRecordZoneChanges(event), after: note)
        }
    }
}

extension KnownRecords {
    /// Notes what a page contains of records.
    fileprivate mutating func note(_ page: SyncRequests.ZonePage) {
        for change in page.modifications {
            confirm(change.record.recordID, change.record.recordType)
        }
        for recordID in page.failures.keys { keep(recordID) }
        for deletion in page.deletions { forget(deletion.recordID) }
    }
}
