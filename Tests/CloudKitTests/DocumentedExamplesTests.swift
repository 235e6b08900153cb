// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Testing

/// What the examples of doc comments name beside the module: an app's own.
private protocol App: Sendable {
    var container: CKContainer { get }
    var database: CKDatabase { get }
    var store: any AppStore { get }
    var zoneID: CKRecordZone.ID { get }
    var note: CKRecord { get }
    var list: CKRecord { get }
    var changed: [CKRecord] { get }
    var removed: [CKRecord.ID] { get }
    var picture: URL { get }
    var localURL: URL { get }
    var teacherID: CKRecord.ID { get }
    var friend: CKRecord.ID { get }
    var query: CKQuery { get }

    func askToSignIn()
    func report(_ error: any Error)
    func report(_ error: any Error, of recordID: CKRecord.ID)
    func finish()
    func send(_ url: URL?)
    func merged(_ own: CKRecord, _ theirs: CKRecord) -> String
    func tryAgain(after seconds: Double)
    func fetchChanges(_ push: CKNotification) async
    func fetchChanges(of scope: CKDatabase.Scope) async
    func fetchChanges(in zoneID: CKRecordZone.ID?) async
    func fetchRecord(_ recordID: CKRecord.ID?) async
}

private protocol AppStore: AnyObject, Sendable {
    var token: CKServerChangeToken? { get set }
    func keep(_ record: CKRecord)
    func remove(_ recordID: CKRecord.ID)
    func remove(_ zoneID: CKRecordZone.ID)
    func fetchLater(_ zoneID: CKRecordZone.ID)
    func empty()
}

// Compiled, and not run: each is the example of one doc comment, in its lines.
// swift-format-ignore
extension App {
    fileprivate func containers() async throws {
        let container = CKContainer(identifier: "iCloud.org.example.notes")
        guard try await container.accountStatus() == .available else { return askToSignIn() }
        let database = container.privateCloudDatabase
        _ = database
    }

    fileprivate func databases() async throws {
        let database = CKContainer.default().privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zoneID))
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "1", zoneID: zoneID))
        note["text"] = "milk"
        try await database.save(note)
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text BEGINSWITH %@", "m"))
        for (_, result) in try await database.records(matching: query, inZoneWith: zoneID).matchResults {
            print(try result.get()["text"] ?? "")
        }
    }

    fileprivate func errors() async throws {
        do {
            try await database.save(note)
        } catch let error as CKError where error.code == .serverRecordChanged {
            guard let theirs = error.serverRecord else { throw error }
            theirs["text"] = merged(note, theirs)
            try await database.save(theirs)
        } catch let error as CKError {
            guard let seconds = error.retryAfterSeconds else { throw error }
            tryAgain(after: seconds)
        }
    }

    fileprivate func pushes(userInfo: [AnyHashable: Any]) async {
        switch CKNotification(fromRemoteNotificationDictionary: userInfo) {
        case let change as CKDatabaseNotification: await fetchChanges(of: change.databaseScope)
        case let change as CKRecordZoneNotification: await fetchChanges(in: change.recordZoneID)
        case let change as CKQueryNotification: await fetchRecord(change.recordID)
        default: break  // not of CloudKit
        }
    }

    fileprivate func queryPush(userInfo: [AnyHashable: Any]) async throws {
        if let push = CKNotification(fromRemoteNotificationDictionary: userInfo) as? CKQueryNotification,
            let recordID = push.recordID
        {
            switch push.queryNotificationReason {
            case .recordCreated, .recordUpdated:
                store.keep(try await database.record(for: recordID))
            case .recordDeleted:
                store.remove(recordID)
            }
        }
    }

    fileprivate func zonePush(userInfo: [AnyHashable: Any]) async throws {
        let push = CKNotification(fromRemoteNotificationDictionary: userInfo)
        if let zoneID = (push as? CKRecordZoneNotification)?.recordZoneID {
            let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: store.token)
            for (_, result) in changes.modificationResultsByID { store.keep(try result.get().record) }
            for deletion in changes.deletions { store.remove(deletion.recordID) }
            store.token = changes.changeToken
        }
    }

    fileprivate func databasePush(userInfo: [AnyHashable: Any]) async throws {
        let push = CKNotification(fromRemoteNotificationDictionary: userInfo)
        if let scope = (push as? CKDatabaseNotification)?.databaseScope {
            let database = container.database(with: scope)
            let changes = try await database.databaseChanges(since: store.token)
            for modification in changes.modifications { store.fetchLater(modification.zoneID) }
            for deletion in changes.deletions { store.remove(deletion.zoneID) }
            store.token = changes.changeToken
        }
    }

    fileprivate func changeTokens() async throws {
        let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: store.token)
        for (_, result) in changes.modificationResultsByID { store.keep(try result.get().record) }
        for deletion in changes.deletions { store.remove(deletion.recordID) }
        store.token = changes.changeToken
    }

    fileprivate func archivedTokens(token: CKServerChangeToken) throws {
        let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        let restored = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKServerChangeToken.self, from: data)
        _ = restored
    }

    fileprivate func assets() async throws {
        note["picture"] = CKAsset(fileURL: picture)
        try await database.save(note)  // uploads the file

        let fetched = try await database.record(for: note.recordID)  // downloads the file
        if let url = (fetched["picture"] as? CKAsset)?.fileURL {
            try FileManager.default.copyItem(at: url, to: localURL)
        }
    }

    fileprivate func references() async throws {
        let item = CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: "1", zoneID: zoneID))
        item["list"] = CKRecord.Reference(record: list, action: .deleteSelf)  // deleted with its list
        try await database.save(item)

        let reference = item["list"] as? CKRecord.Reference
        let query = CKQuery(
            recordType: "Item", predicate: NSPredicate(format: "list == %@", list.recordID))
        let (matchResults, _) = try await database.records(matching: query, inZoneWith: zoneID)
        _ = (reference, matchResults)
    }

    fileprivate func databaseChanges() {
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: store.token)
        operation.recordZoneWithIDChangedBlock = { zoneID in store.fetchLater(zoneID) }
        operation.recordZoneWithIDWasDeletedBlock = { zoneID in store.remove(zoneID) }
        operation.fetchDatabaseChangesResultBlock = { result in
            switch result {
            case .success(let end): store.token = end.serverChangeToken
            case .failure(let error as CKError) where error.code == .changeTokenExpired: store.empty()
            case .failure(let error): report(error)
            }
        }
        database.add(operation)
    }

    fileprivate func zoneChanges() {
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration()
        configuration.previousServerChangeToken = store.token  // nil fetches the whole zone
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID], configurationsByRecordZoneID: [zoneID: configuration])
        operation.recordWasChangedBlock = { _, result in
            if let record = try? result.get() { store.keep(record) }
        }
        operation.recordWithIDWasDeletedBlock = { recordID, _ in store.remove(recordID) }
        operation.recordZoneFetchResultBlock = { _, result in
            switch result {
            case .success(let end): store.token = end.serverChangeToken
            case .failure(let error as CKError) where error.code == .changeTokenExpired: store.empty()
            case .failure(let error): report(error)
            }
        }
        database.add(operation)
    }

    fileprivate func modifyRecords() {
        let operation = CKModifyRecordsOperation(
            recordsToSave: changed, recordIDsToDelete: removed)
        operation.savePolicy = .ifServerRecordUnchanged
        operation.perRecordSaveBlock = { recordID, result in
            // The errors of records are passed to this block, and never to the result block.
            if case .failure(let error) = result { report(error, of: recordID) }
        }
        operation.modifyRecordsResultBlock = { _ in finish() }
        database.add(operation)
    }

    fileprivate func queryOperation() {
        func fetch(_ operation: CKQueryOperation) {
            operation.recordMatchedBlock = { _, result in
                if let record = try? result.get() { store.keep(record) }
            }
            operation.queryResultBlock = { result in
                guard case .success(let cursor?) = result else { return finish() }
                fetch(CKQueryOperation(cursor: cursor))
            }
            database.add(operation)
        }
        fetch(CKQueryOperation(query: query))
    }

    fileprivate func notifications() async throws {
        try await container.registerForRemoteNotifications { userInfo in
            guard let push = CKNotification(fromRemoteNotificationDictionary: userInfo) else { return }
            await fetchChanges(push)
        }
    }

    fileprivate func queries() async throws {
        let query = CKQuery(
            recordType: "Note",
            predicate: NSPredicate(format: "state == %@ AND title BEGINSWITH %@", "draft", "Sea"))
        query.sortDescriptors = [NSSortDescriptor(key: "modificationDate", ascending: false)]
        let (matches, cursor) = try await database.records(matching: query, resultsLimit: 20)
        _ = (matches, cursor)
    }

    fileprivate func zones() async throws {
        let zone = CKRecordZone(zoneName: "Notes")
        try await database.save(zone)  // succeeds as well where it is there
        let recordID = CKRecord.ID(recordName: "shopping", zoneID: zone.zoneID)
        _ = recordID
    }

    fileprivate func records() async throws {
        let recordID = CKRecord.ID(recordName: "115", zoneID: zoneID)  // without it, a new UUID
        let artist = CKRecord(recordType: "Artist", recordID: recordID)
        artist["name"] = "Mei Chen"
        artist["born"] = Date(timeIntervalSince1970: 0)
        artist["portrait"] = CKAsset(fileURL: picture)
        artist["teacher"] = CKRecord.Reference(recordID: teacherID, action: .none)
        let saved = try await database.save(artist)  // has the change tag that the next save needs
        let name = saved["name"] as? String
        _ = name
    }

    fileprivate func openedShares() {
        CKContainer.registerForOpenedShares { metadata in
            _ = try? await CKContainer(identifier: metadata.containerIdentifier).accept(metadata)
        }
    }

    fileprivate func shares() async throws {
        let share = CKShare(rootRecord: list)
        share[CKShare.SystemFieldKey.title] = "Groceries"
        share.addParticipant(try await container.shareParticipant(forUserRecordID: friend))
        _ = try await database.modifyRecords(saving: [list, share], deleting: [])
        send(share.url)
    }

    fileprivate func databaseSubscription() async throws {
        let subscription = CKDatabaseSubscription(subscriptionID: "all-changes")
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        subscription.notificationInfo = info
        try await database.save(subscription)
    }

    fileprivate func querySubscription() async throws {
        let subscription = CKQuerySubscription(
            recordType: "Task", predicate: NSPredicate(format: "state = %@", "urgent"),
            subscriptionID: "urgent-tasks", options: [.firesOnRecordCreation, .firesOnRecordUpdate])
        let info = CKSubscription.NotificationInfo()
        info.alertBody = "A task is urgent."
        info.desiredKeys = ["title"]
        subscription.notificationInfo = info
        try await database.save(subscription)
    }

    fileprivate func zoneSubscription() async throws {
        let zoneID = CKRecordZone.ID(zoneName: "Feed")
        try await database.save(CKRecordZone(zoneID: zoneID))
        let subscription = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "feed-changes")
        subscription.recordType = "FeedItem"  // without it, records of all types
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        subscription.notificationInfo = info
        try await database.save(subscription)
    }
}

private protocol Keeping: CKSyncEngineDelegate {
    var container: CKContainer { get }
    var kept: (state: CKSyncEngine.State.Serialization?, date: Date) { get }
}

extension Keeping {
    fileprivate func engine(note: CKRecord) {
        let configuration = CKSyncEngine.Configuration(
            database: container.privateCloudDatabase,
            stateSerialization: kept.state,
            delegate: self
        )
        let engine = CKSyncEngine(configuration)
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(note.recordID)])
    }
}

@Suite("Examples of doc comments")
struct DocumentedExamplesTests {
    @Test("every example of a doc comment stands here, where it is compiled")
    func compiled() throws {
        let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        func lines(_ file: URL) throws -> [String] {
            try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let own = try lines(URL(fileURLWithPath: #filePath))
        let here = "\n" + own.joined(separator: "\n") + "\n"
        let sources = project.appendingPathComponent("Sources/CloudKit")
        var count = 0
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path)
        where path.hasSuffix(".swift") {
            var listing: [String]?
            for line in try lines(sources.appendingPathComponent(path)) {
                let text = line.hasPrefix("///") ? String(line.dropFirst(3)) : ""
                let bare = text.trimmingCharacters(in: .whitespaces)
                if bare == "```swift" {
                    listing = []
                } else if bare == "```", let whole = listing {
                    count += 1
                    let example = whole.joined(separator: "\n")
                    #expect(here.contains("\n\(example)\n"), "\(path):\n\(example)")
                    listing = nil
                } else if !bare.isEmpty {
                    listing?.append(bare)
                }
            }
        }
        #expect(count >= 18)
    }
}
