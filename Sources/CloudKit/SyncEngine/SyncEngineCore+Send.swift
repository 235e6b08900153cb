// SPDX-License-Identifier: Apache-2.0
import Foundation

// Sending: zones first, so that they exist before their records, then records in batches
// (SYNC-13).
extension SyncEngineCore {
    typealias SendContext = CKSyncEngine.SendChangesContext

    /// The most zones of one request (LIMIT-5).
    static let maximumZones = 200
    /// The most batches of one attempt: a bound against delegates that never return nil.
    static let maximumBatches = 10_000

    /// What happened in one attempt to send. What failed in it is not sent again.
    private struct Ledger {
        let context: SendContext
        let requests: SyncRequests
        var failures = SyncFailures()
        /// The zones that were sent.
        var sentZones: Set<CKRecordZone.ID> = []
        /// The records that could not be sent.
        var failedRecords: Set<CKRecord.ID> = []
        /// The changes that were sent since something was added last.
        var sentChanges: Set<CKSyncEngine.PendingRecordZoneChange> = []
        /// How far the list was before the delegate was asked for the last of them.
        var edition: UInt64 = 0

        var scope: CKSyncEngine.SendChangesOptions.Scope { context.options.scope }
    }

    /// Sends what is to be sent.
    func send(_ context: SendContext) async throws(CKError) {
        try await attempt("sendChanges(_:)") { () async throws(CKError) in
            try await self.performSend(context)
        }
    }

    private func performSend(_ context: SendContext) async throws(CKError) {
        try await ensureAccount()
        await report(.willSendChanges(CKSyncEngine.Event.WillSendChanges(context: context)))
        var ledger = Ledger(
            context: context,
            requests: SyncRequests(
                database, for: account, group: context.options.operationGroup
            )
        )
        for _ in 0..<Self.maximumBatches {
            if Task.isCancelled { ledger.failures.end(.cancelled()) }
            guard ledger.failures.whole == nil else { break }
            if await sendZones(&ledger) { continue }
            guard await sendBatch(&ledger) else { break }
        }
        await report(.didSendChanges(CKSyncEngine.Event.DidSendChanges(context: context)))
        try ledger.failures.check()
    }

    /// Notes what is sent; returns what is wrong when all of it was sent in this attempt, and
    /// nothing was added since. Of changes that only the app knows of it knows that, too.
    private func note(
        _ changes: [CKSyncEngine.PendingRecordZoneChange],
        _ ledger: inout Ledger,
        upTo edition: UInt64
    ) -> CKError? {
        let now = state.values
        guard !now.hasPendingUntrackedChanges else { return nil }
        if now.pendingRecords.edition != ledger.edition { ledger.sentChanges = [] }
        ledger.edition = edition
        let known = ledger.sentChanges.count
        ledger.sentChanges.formUnion(changes)
        guard ledger.sentChanges.count == known else { return nil }
        return .local(
            .invalidArguments,
            "nextRecordZoneChangeBatch(_:syncEngine:) returned what was sent already, such as "
                + "record '\(changes.first?.itemID.recordName ?? "")'; return nil when nothing is "
                + "left, and records with the IDs that are pending."
        )
    }

    // MARK: - Zones

    /// Sends the zones of one request; returns whether there were any.
    private func sendZones(_ ledger: inout Ledger) async -> Bool {
        let before = state.values
        let changes = zonesToSend(ledger).prefix(Self.maximumZones)
        guard !changes.isEmpty else { return false }
        ledger.sentZones.formUnion(changes.map(\.itemID))
        let sent = await SentZones(Array(changes), ledger.requests)
        if let error = sent.whole { ledger.failures.end(error) }
        for (zoneID, error) in sent.errors { ledger.failures.add(error, of: zoneID) }
        await report(.sentDatabaseChanges(sent.event)) { state in
            for change in changes where !sent.isStillPending(change) {
                state.pendingZones.remove(change, addedUpTo: before.pendingZones.edition)
            }
            for zoneID in sent.event.deletedZoneIDs {
                state.forgetZone(zoneID)
                // What was to be done in the zone is done with it.
                for change in before.pendingRecords.changes where change.itemID.zoneID == zoneID {
                    state.pendingRecords.remove(change, addedUpTo: before.pendingRecords.edition)
                }
            }
        }
        return true
    }

    /// The zones that are to be sent in this attempt and were not yet.
    private func zonesToSend(_ ledger: Ledger) -> [CKSyncEngine.PendingDatabaseChange] {
        state.pendingDatabaseChanges.filter { change in
            ledger.scope.contains(zone: change.itemID)
                && !ledger.sentZones.contains(change.itemID)
        }
    }

    // MARK: - Records

    /// Sends the delegate's next batch; returns whether there may be more to send.
    private func sendBatch(_ ledger: inout Ledger) async -> Bool {
        // What the app adds from here on may be newer than the records in the batch, and
        // stays to be sent.
        let edition = state.values.pendingRecords.edition
        let context = ledger.context
        let answer = await ask { await $0.nextRecordZoneChangeBatch(context, syncEngine: $1) }
        guard let offered = answer ?? nil else { return !zonesToSend(ledger).isEmpty }
        if let error = offered.problem(in: ledger.scope) {
            ledger.failures.end(error)
            return false
        }
        let batch = offered.without(ledger.failedRecords)
        guard !batch.isEmpty else { return !zonesToSend(ledger).isEmpty }
        if let error = note(batch.changes, &ledger, upTo: edition) {
            ledger.failures.end(error)
            return false
        }
        let sent = SentRecords(batch, await ledger.requests.modifyRecords(batch))
        if let error = sent.whole { ledger.failures.end(error) }
        for (recordID, error) in sent.errors {
            ledger.failures.add(error, of: recordID)
            ledger.failedRecords.insert(recordID)
        }
        await report(.sentRecordZoneChanges(sent.event)) { state in
            for record in sent.event.savedRecords {
                state.knownRecords.confirm(record.recordID, record.recordType)
            }
            for recordID in sent.event.deletedRecordIDs { state.knownRecords.forget(recordID) }
            for change in sent.changes {
                if !sent.isStillPending(change) {
                    state.pendingRecords.remove(change, addedUpTo: edition)
                } else if sent.whole == nil {
                    state.pendingRecords.postpone(change, addedUpTo: edition)
                }
            }
        }
        // Whoever has no room for these has none for the next.
        return !sent.errors.values.contains { $0.code == .quotaExceeded }
    }
}

extension CKSyncEngine.RecordZoneChangeBatch {
    /// What is wrong with a batch before it is sent (SYNC-22); nil when nothing is.
    func problem(in scope: CKSyncEngine.SendChangesOptions.Scope) -> CKError? {
        if count > Self.maximumCount {
            return .local(
                .limitExceeded,
                "The batch has \(count) changes, more than the \(Self.maximumCount) of one "
                    + "request; return it in parts."
            )
        }
        if let recordID = recordIDs.first(where: { !scope.contains($0) }) {
            return .local(
                .invalidArguments,
                "Record '\(recordID.recordName)' of zone '\(recordID.zoneID.zoneName)' is not "
                    + "in the scope to send; return only changes that "
                    + "context.options.scope contains."
            )
        }
        return nil
    }
}
