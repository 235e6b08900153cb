// SPDX-License-Identifier: Apache-2.0
import CloudKit

/// One device's copy of its user's notes.
public actor NoteStore {
    /// The zone of the notes.
    public static let zoneID = CKRecordZone.ID(zoneName: "Notes")
    private static let subscriptionID = "notes-changes"

    private let database: CKDatabase
    private var records: [CKRecord.ID: CKRecord] = [:]
    private var token: CKServerChangeToken?

    /// Opens the notes of the user who is signed in.
    public init(container: CKContainer = .default()) {
        database = container.privateCloudDatabase
    }

    /// The text of every note, by its name.
    public var notes: [String: String] {
        let pairs = records.map { ($0.recordName, $1["text"] as? String ?? "") }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    /// Makes the zone, asks to be notified of its changes, and fetches what is there.
    public func start() async throws {
        try await database.save(CKRecordZone(zoneID: Self.zoneID))
        let subscription = CKRecordZoneSubscription(
            zoneID: Self.zoneID, subscriptionID: Self.subscriptionID)
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        subscription.notificationInfo = info
        try await database.save(subscription)
        try await fetchChanges()
    }

    /// Saves a note. When another device was faster, both texts are kept.
    public func save(_ text: String, as name: String) async throws {
        let recordID = CKRecord.ID(recordName: name, zoneID: Self.zoneID)
        let record = records[recordID] ?? CKRecord(recordType: "Note", recordID: recordID)
        record["text"] = text
        do {
            records[recordID] = try await database.save(record)
        } catch let error as CKError where error.code == .serverRecordChanged {
            guard let theirs = error.serverRecord else { throw error }
            let theirText = theirs["text"] as? String ?? ""
            theirs["text"] = "\(theirText)\n\(text)"
            records[recordID] = try await database.save(theirs)
        }
    }

    /// Deletes a note.
    public func delete(_ name: String) async throws {
        let recordID = CKRecord.ID(recordName: name, zoneID: Self.zoneID)
        try await database.deleteRecord(withID: recordID)
        records[recordID] = nil
    }

    /// Does what a push asks for.
    public func receive(_ notification: CKNotification) async throws {
        guard notification.subscriptionID == Self.subscriptionID else { return }
        try await fetchChanges()
    }

    /// Fetches what changed since the last time.
    public func fetchChanges() async throws {
        do {
            try await fetchPages()
        } catch let error as CKError where error.code == .changeTokenExpired {
            token = nil
            records = [:]
            try await fetchPages()
        }
    }

    private func fetchPages() async throws {
        var moreComing = true
        while moreComing {
            let page = try await database.recordZoneChanges(
                inZoneWith: Self.zoneID, since: token)
            for (recordID, result) in page.modificationResultsByID {
                records[recordID] = try result.get().record
            }
            for deletion in page.deletions { records[deletion.recordID] = nil }
            token = page.changeToken
            moreComing = page.moreComing
        }
    }
}
