// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Everything a sync engine remembers between two launches of its app (SYNC-3).
struct SyncState: Sendable {
    /// The user whose data the rest is about; nil before the first sign-in.
    var userRecordName: String?
    /// The database subscription that notifies of changes.
    var subscriptionID: CKSubscription.ID?
    /// How far the zones of the database are known; nil when nothing is.
    var databaseToken: CKServerChangeToken?
    /// How far the records of each zone are known.
    var zoneTokens: [CKRecordZone.ID: CKServerChangeToken] = [:]
    /// The records the app has from the server, as far as that is known.
    var knownRecords = KnownRecords()
    /// The zones that have changes that were not fetched yet, in the order they were reported.
    private(set) var unfetchedZoneIDs: [CKRecordZone.ID] = []
    /// The records that are to be sent.
    var pendingRecords = PendingChangeList<CKSyncEngine.PendingRecordZoneChange>()
    /// The zones that are to be sent.
    var pendingZones = PendingChangeList<CKSyncEngine.PendingDatabaseChange>()
    /// Whether the app has changes of its own to send.
    var hasPendingUntrackedChanges = false

    /// The zones that were reported to the app.
    var knownZoneIDs: Set<CKRecordZone.ID> { Set(zoneTokens.keys).union(unfetchedZoneIDs) }

    /// Notes that a zone has changes.
    mutating func noteChanges(in zoneID: CKRecordZone.ID) {
        guard !unfetchedZoneIDs.contains(zoneID) else { return }
        unfetchedZoneIDs.append(zoneID)
    }

    /// Notes that the changes of a zone were fetched.
    mutating func noteFetched(_ zoneID: CKRecordZone.ID) {
        unfetchedZoneIDs.removeAll { $0 == zoneID }
    }

    /// Forgets how far a zone is known, because it is gone. What is to be sent to it
    /// stays: the app decides about it.
    mutating func forgetZone(_ zoneID: CKRecordZone.ID) {
        zoneTokens[zoneID] = nil
        knownRecords.forgetZone(zoneID)
        noteFetched(zoneID)
    }

    /// Forgets everything, because another user is signed in now, or nobody (SYNC-17).
    mutating func reset() {
        self = SyncState()
    }
}

// MARK: - Archive

extension SyncState: ArchiveValue {
    static var kind: ArchiveKind { .syncEngineState }

    init(from reader: inout BlobReader) throws(BlobError) {
        userRecordName = try reader.optionalString()
        subscriptionID = try reader.optionalString()
        databaseToken = try reader.optional { reader throws(BlobError) in try reader.changeToken() }
        for _ in 0..<(try reader.count()) {
            let zoneID = try reader.zoneID()
            zoneTokens[zoneID] = try reader.changeToken()
        }
        for _ in 0..<(try reader.count()) { noteChanges(in: try reader.zoneID()) }
        for _ in 0..<(try reader.count()) {
            let isSave = try reader.bool()
            let recordID = try reader.recordID()
            pendingRecords.add(isSave ? .saveRecord(recordID) : .deleteRecord(recordID))
        }
        for _ in 0..<(try reader.count()) {
            if try reader.bool() {
                let values = try CKRecordZone.Values(from: &reader)
                pendingZones.add(
                    .saveZone(CKRecordZone(zoneID: values.zoneID, state: values.state))
                )
            } else {
                pendingZones.add(.deleteZone(try reader.zoneID()))
            }
        }
        hasPendingUntrackedChanges = try reader.bool()
        // A state of an earlier version ends here.
        if reader.remaining > 0 { knownRecords = try KnownRecords(from: &reader) }
    }

    func write(to writer: inout BlobWriter) {
        writer.write(userRecordName)
        writer.write(subscriptionID)
        writer.write(databaseToken) { $0.write($1.data) }
        writer.write(count: zoneTokens.count)
        // In order, so that the same state gives the same bytes.
        let tokens = zoneTokens.sorted {
            ($0.key.ownerName, $0.key.zoneName) < ($1.key.ownerName, $1.key.zoneName)
        }
        for (zoneID, token) in tokens {
            writer.write(zoneID)
            writer.write(token.data)
        }
        writer.write(count: unfetchedZoneIDs.count)
        for zoneID in unfetchedZoneIDs { writer.write(zoneID) }
        let records = pendingRecords.changes
        writer.write(count: records.count)
        for change in records {
            if case .saveRecord = change { writer.write(true) } else { writer.write(false) }
            writer.write(change.itemID)
        }
        let zones = pendingZones.changes
        writer.write(count: zones.count)
        for change in zones {
            switch change {
            case .saveZone(let zone):
                writer.write(true)
                zone.archivedValues.write(to: &writer)
            case .deleteZone(let zoneID):
                writer.write(false)
                writer.write(zoneID)
            }
        }
        writer.write(hasPendingUntrackedChanges)
        knownRecords.write(to: &writer)
    }
}

extension BlobReader {
    fileprivate mutating func changeToken() throws(BlobError) -> CKServerChangeToken {
        CKServerChangeToken(data: try data())
    }
}
