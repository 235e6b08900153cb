// SPDX-License-Identifier: Apache-2.0
import Foundation

@testable import CloudKit

/// An app whose records are empty, on a device whose server answers from a script.
final class ScriptedSync: CKSyncEngineDelegate {
    private struct State {
        var events: [String] = []
        var waiting: [(String, CheckedContinuation<Void, Never>)] = []
        var serialization: CKSyncEngine.State.Serialization?
    }

    private let state = Locked(State())
    private let isAtomic: Bool
    private let record: @Sendable (CKRecord.ID) -> CKRecord
    private let onEvent: @Sendable (String, CKSyncEngine) async -> Void

    /// Creates an app.
    ///
    /// - Parameters:
    ///   - isAtomic: Whether its batches are atomic.
    ///   - record: Makes what is sent for a pending record.
    ///   - onEvent: What it does when it handles an event.
    init(
        isAtomic: Bool = false,
        record: @escaping @Sendable (CKRecord.ID) -> CKRecord = {
            CKRecord(recordType: "Note", recordID: $0)
        },
        onEvent: @escaping @Sendable (String, CKSyncEngine) async -> Void = { _, _ in }
    ) {
        self.isAtomic = isAtomic
        self.onEvent = onEvent
        self.record = record
    }

    /// What the engine reported, in short; state updates left out.
    var events: [String] { state.withLock { $0.events } }

    /// The newest state the engine gave.
    var serialization: CKSyncEngine.State.Serialization? {
        state.withLock { $0.serialization }
    }

    /// Creates an engine of which this is the delegate.
    func engine(
        _ device: TestDevice,
        automatically: Bool = false,
        state: SyncState? = nil
    ) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: device.database,
            stateSerialization: state.map { CKSyncEngine.State.Serialization($0) },
            delegate: self
        )
        configuration.automaticallySync = automatically
        return CKSyncEngine(configuration)
    }

    /// Returns once an event was reported.
    func until(_ event: String) async {
        await withCheckedContinuation { continuation in
            let isNotified = state.withLock { state in
                guard !state.events.contains(event) else { return true }
                state.waiting.append((event, continuation))
                return false
            }
            if isNotified { continuation.resume() }
        }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        if case .stateUpdate(let update) = event {
            state.withLock { $0.serialization = update.stateSerialization }
            return
        }
        let line = Self.line(event)
        let ready = state.withLock { state in
            state.events.append(line)
            let ready = state.waiting.filter { $0.0 == line }
            state.waiting.removeAll { $0.0 == line }
            return ready
        }
        for (_, continuation) in ready { continuation.resume() }
        await onEvent(line, syncEngine)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        var batch = await CKSyncEngine.RecordZoneChangeBatch(
            pendingChanges: syncEngine.state.pendingRecordZoneChanges,
            recordProvider: record
        )
        batch?.atomicByZone = isAtomic
        return batch
    }

    private static func line(_ event: CKSyncEngine.Event) -> String {
        switch event {
        case .accountChange: return "account"
        case .fetchedDatabaseChanges(let changes):
            let gone = changes.deletions.map { "-\($0.zoneID.zoneName) \($0.reason)" }
            return (["zones"] + changes.modifications.map { "+\($0.zoneID.zoneName)" } + gone)
                .joined(separator: " ")
        case .fetchedRecordZoneChanges(let changes):
            return (["records"] + changes.modifications.map { "+\($0.record.recordID.recordName)" })
                .joined(separator: " ")
        case .didFetchRecordZoneChanges(let end):
            return "did fetch \(end.zoneID.zoneName) \(end.error.map { "\($0.code)" } ?? "")"
        case .sentRecordZoneChanges(let sent):
            let failed = sent.failedRecordSaves.map {
                "!\($0.record.recordID.recordName) \($0.error.code)"
            }
            let notDeleted = sent.failedRecordDeletes.map {
                "!-\($0.key.recordName) \($0.value.code)"
            }
            return
                (["sent"] + sent.savedRecords.map { "+\($0.recordID.recordName)" }
                + sent.deletedRecordIDs.map { "-\($0.recordName)" } + failed + notDeleted)
                .joined(separator: " ")
        case .sentDatabaseChanges(let sent):
            return
                (["sent zones"] + sent.savedZones.map { "+\($0.zoneID.zoneName)" }
                + sent.deletedZoneIDs.map { "-\($0.zoneName)" }
                + sent.failedZoneSaves.map { "!\($0.zone.zoneID.zoneName) \($0.error.code)" }
                + sent.failedZoneDeletes.map { "!-\($0.key.zoneName) \($0.value.code)" })
                .joined(separator: " ")
        case .willFetchRecordZoneChanges(let begin): return "will fetch \(begin.zoneID.zoneName)"
        case .willFetchChanges: return "will fetch"
        case .didFetchChanges: return "did fetch"
        case .willSendChanges: return "will send"
        case .didSendChanges: return "did send"
        case .stateUpdate: return "state"
        }
    }
}

/// Answers of a server to a sync engine, by endpoint; each list in order, the last for ever.
final class SyncScript: Sendable {
    private let answers: Locked<[String: [TransportResponse]]>

    init(_ answers: [String: [TransportResponse]]) {
        var all = answers
        all["public users/caller", default: [.json(#"{"userRecordName":"_me"}"#)]] += []
        all["private changes/database", default: [.json(Self.database("t0"))]] += []
        self.answers = Locked(all)
    }

    var transport: ScriptedTransport {
        ScriptedTransport { sent, _ in
            try self.answers.withLock { answers in
                guard let next = answers[sent.endpoint]?.first else {
                    throw TransportError.unreachable("no answer to \(sent.endpoint)")
                }
                if answers[sent.endpoint]?.count ?? 0 > 1 { answers[sent.endpoint]?.removeFirst() }
                return next
            }
        }
    }

    /// A page of `changes/database`.
    static func database(_ token: String, _ zones: String...) -> String {
        #"{"zones":[\#(zones.joined(separator: ","))],"syncToken":"\#(token)","moreComing":false}"#
    }
}
