// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation

/// An app that keeps notes the same on all devices with a sync engine: its own store,
/// its conflict rule (the later edit wins), and what Apple's engine leaves to apps.
actor NoteKeeper: CKSyncEngineDelegate {
    /// A note as the user sees it.
    struct Note: Equatable, Sendable {
        var title: String
        /// When the user edited it; the later one wins.
        var edited: Int
    }

    static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    private(set) var notes: [String: Note] = [:]
    /// What the engine reported, in short; state updates left out.
    private(set) var events: [String] = []
    /// The newest state the engine gave.
    private(set) var serialization: CKSyncEngine.State.Serialization?
    private(set) var stateUpdates = 0
    /// Whether records that could not be saved are repaired and added again.
    var repairs = true
    /// Whether a fetched record that is older than the note is overwritten again: it may
    /// stand where the newer one was deleted (TOK-16).
    var resendsNewer = false
    /// Whether all batches are atomic.
    var isAtomic = false
    /// Whether batches are made by hand, of everything in the list.
    var ignoresLimits = false
    private var prioritized: [CKRecordZone.ID] = []
    private var systemFields: [String: Data] = [:]
    private var waiting: [UUID: (Condition, CheckedContinuation<Void, Never>)] = [:]
    private var onEvent: (@Sendable (String, CKSyncEngine) async -> Void)?

    private var onBatch: BatchAction?

    typealias BatchAction = @Sendable (isolated NoteKeeper, CKSyncEngine) -> Void
    typealias Condition = @Sendable (isolated NoteKeeper) -> Bool

    /// Creates an engine of which the keeper is the delegate.
    nonisolated func engine(
        on database: CKDatabase,
        automatically: Bool = false,
        state: CKSyncEngine.State.Serialization? = nil,
        subscriptionID: CKSubscription.ID? = nil
    ) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: state,
            delegate: self
        )
        configuration.automaticallySync = automatically
        configuration.subscriptionID = subscriptionID
        return CKSyncEngine(configuration)
    }

    // MARK: - The user

    func write(_ name: String, _ title: String, at time: Int = 1, in engine: CKSyncEngine) {
        notes[name] = Note(title: title, edited: time)
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(itemID(name, zone: Self.zoneID))])
    }

    func erase(_ name: String, in engine: CKSyncEngine) {
        notes[name] = nil
        engine.state.add(
            pendingRecordZoneChanges: [.deleteRecord(itemID(name, zone: Self.zoneID))]
        )
    }

    /// The date the server gave a note when it was first saved.
    func creationDate(of name: String) -> Date? { knownRecord(name)?.creationDate }

    func set(repairs: Bool) { self.repairs = repairs }
    func set(resendsNewer: Bool) { self.resendsNewer = resendsNewer }
    func set(isAtomic: Bool) { self.isAtomic = isAtomic }
    func set(ignoresLimits: Bool) { self.ignoresLimits = ignoresLimits }
    func set(prioritized: [CKRecordZone.ID]) { self.prioritized = prioritized }
    func set(onEvent: @escaping @Sendable (String, CKSyncEngine) async -> Void) {
        self.onEvent = onEvent
    }

    /// Sets what the user does while a batch is on its way.
    func set(onBatch: @escaping BatchAction) {
        self.onBatch = onBatch
    }

    func forgetEvents() {
        events = []
    }

    /// Returns once a condition holds, which is looked at after every event; or when the
    /// test has taken too long.
    func until(_ condition: @escaping Condition) async {
        let id = UUID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting[id] = (condition, continuation)
                wakeWaiting()
            }
        } onCancel: {
            Task { await self.giveUp(id) }
        }
    }

    private func giveUp(_ id: UUID) {
        waiting.removeValue(forKey: id)?.1.resume()
    }

    // MARK: - CKSyncEngineDelegate

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update):
            serialization = update.stateSerialization
            stateUpdates += 1
        case .accountChange(let change): handle(change, syncEngine)
        case .fetchedDatabaseChanges(let changes):
            if changes.deletions.contains(where: { $0.zoneID == Self.zoneID }) {
                notes = [:]
                systemFields = [:]
            }
            let gone = changes.deletions.map { "-\($0.zoneID.zoneName) (\($0.reason))" }
            log("zones", changes.modifications.map { "+\($0.zoneID.zoneName)" } + gone)
        case .fetchedRecordZoneChanges(let changes): handle(changes, syncEngine)
        case .sentDatabaseChanges(let sent):
            let failed = sent.failedZoneSaves.map { "!\($0.zone.zoneID.zoneName) \($0.error.code)" }
            log(
                "sent zones",
                sent.savedZones.map { "+\($0.zoneID.zoneName)" }
                    + sent.deletedZoneIDs.map { "-\($0.zoneName)" } + failed
            )
        case .sentRecordZoneChanges(let sent): handle(sent, syncEngine)
        case .willFetchChanges(let event): log("will fetch (\(event.context.reason))")
        case .willFetchRecordZoneChanges(let event): log("will fetch \(event.zoneID.zoneName)")
        case .didFetchRecordZoneChanges(let event):
            let error = event.error.map { ["!\($0.code)"] } ?? []
            log("did fetch \(event.zoneID.zoneName)", error)
        case .didFetchChanges: log("did fetch")
        case .willSendChanges(let event): log("will send (\(event.context.reason))")
        case .didSendChanges: log("did send")
        }
        if let onEvent, let last = events.last, !"\(event)".contains("StateUpdate") {
            await onEvent(last, syncEngine)
        }
        wakeWaiting()
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let scope = context.options.scope
        let pending = syncEngine.state.pendingRecordZoneChanges
        if ignoresLimits {
            guard !pending.isEmpty else { return nil }
            return CKSyncEngine.RecordZoneChangeBatch(
                recordsToSave: pending.compactMap { record($0.recordID) }
            )
        }
        let records = Dictionary(
            uniqueKeysWithValues: notes.keys.compactMap { name in
                record(itemID(name, zone: Self.zoneID)).map { (name, $0) }
            }
        )
        var batch = await CKSyncEngine.RecordZoneChangeBatch(
            pendingChanges: pending.filter { scope.contains($0) }
        ) { recordID in
            if let record = records[recordID.recordName] { return record }
            syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(recordID)])
            return nil
        }
        batch?.atomicByZone = isAtomic
        if batch != nil { onBatch?(self, syncEngine) }
        return batch
    }

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        var options = context.options
        options.prioritizedZoneIDs = prioritized
        return options
    }

    // MARK: - Events

    private func handle(_ event: CKSyncEngine.Event.AccountChange, _ engine: CKSyncEngine) {
        switch event.changeType {
        case .signIn:
            log("sign in")
            engine.state.add(
                pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zoneID))]
            )
            engine.state.add(
                pendingRecordZoneChanges: notes.keys.sorted().map {
                    .saveRecord(itemID($0, zone: Self.zoneID))
                }
            )
        case .signOut, .switchAccounts:
            if case .signOut = event.changeType { log("sign out") } else { log("switch accounts") }
            notes = [:]
            systemFields = [:]
        }
    }

    private func handle(
        _ event: CKSyncEngine.Event.FetchedRecordZoneChanges, _ engine: CKSyncEngine
    ) {
        let pending = Set(engine.state.pendingRecordZoneChanges)
        for change in event.modifications {
            // What was erased here stays so, whatever comes before that is sent.
            if pending.contains(.deleteRecord(change.record.recordID)) { continue }
            let isOlder = !merge(change.record)
            keepSystemFields(of: change.record)
            if resendsNewer, isOlder {
                engine.state.add(pendingRecordZoneChanges: [.saveRecord(change.record.recordID)])
            }
        }
        for deletion in event.deletions {
            notes[deletion.recordID.recordName] = nil
            systemFields[deletion.recordID.recordName] = nil
        }
        log(
            "records",
            event.modifications.map { "+\($0.record.recordID.recordName)" }
                + event.deletions.map { "-\($0.recordID.recordName) (\($0.recordType))" }
        )
    }

    private func handle(
        _ event: CKSyncEngine.Event.SentRecordZoneChanges,
        _ engine: CKSyncEngine
    ) {
        for record in event.savedRecords { keepSystemFields(of: record) }
        for recordID in event.deletedRecordIDs { systemFields[recordID.recordName] = nil }
        log(
            "sent",
            event.savedRecords.map { "+\($0.recordID.recordName)" }
                + event.deletedRecordIDs.map { "-\($0.recordName)" }
                + event.failedRecordSaves.map {
                    "!\($0.record.recordID.recordName) \($0.error.code)"
                }
                + event.failedRecordDeletes.map { "!\($0.key.recordName) \($0.value.code)" }
        )
        for failure in event.failedRecordSaves where repairs { repair(failure, engine) }
    }

    private func repair(
        _ failure: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave,
        _ engine: CKSyncEngine
    ) {
        let recordID = failure.record.recordID
        switch failure.error.code {
        case .serverRecordChanged:
            guard let record = failure.error.serverRecord else { return }
            merge(record)
            keepSystemFields(of: record)
        case .zoneNotFound:
            let zone = CKRecordZone(zoneID: recordID.zoneID)
            engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
            systemFields[recordID.recordName] = nil
        case .unknownItem: systemFields[recordID.recordName] = nil
        default: return
        }
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
    }

    /// Takes over a record unless the note is newer; returns whether it is not.
    @discardableResult
    private func merge(_ record: CKRecord) -> Bool {
        let name = record.recordID.recordName
        let theirs = Note(
            title: record.encryptedValues["title"] as? String ?? "",
            edited: record["edited"] as? Int ?? 0
        )
        if let own = notes[name], own.edited >= theirs.edited {
            return own.edited == theirs.edited
        }
        notes[name] = theirs
        return true
    }

    private func record(_ recordID: CKRecord.ID) -> CKRecord? {
        guard let note = notes[recordID.recordName] else { return nil }
        let record =
            knownRecord(recordID.recordName) ?? CKRecord(recordType: "Note", recordID: recordID)
        record.encryptedValues["title"] = note.title
        record["edited"] = note.edited
        return record
    }

    private func knownRecord(_ name: String) -> CKRecord? {
        guard let data = systemFields[name],
            let coder = try? NSKeyedUnarchiver(forReadingFrom: data)
        else { return nil }
        coder.requiresSecureCoding = true
        return CKRecord(coder: coder)
    }

    private func keepSystemFields(of record: CKRecord) {
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: coder)
        systemFields[record.recordID.recordName] = coder.encodedData
    }

    private func log(_ what: String, _ items: [String] = []) {
        events.append(([what] + items).joined(separator: " "))
    }

    private func wakeWaiting() {
        for (id, (condition, continuation)) in waiting where condition(self) {
            waiting[id] = nil
            continuation.resume()
        }
    }
}

extension CKSyncEngine.PendingRecordZoneChange {
    fileprivate var recordID: CKRecord.ID {
        switch self {
        case .saveRecord(let recordID), .deleteRecord(let recordID): recordID
        }
    }
}
