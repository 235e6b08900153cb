// SPDX-License-Identifier: Apache-2.0
import Foundation

@testable import CloudKit

/// One object of every class that can be archived, with every part set.
enum ArchiveSamples {
    static let zoneID = CKRecordZone.ID(zoneName: "Notes", ownerName: "_0123")
    static let recordID = CKRecord.ID(recordName: "record-ü", zoneID: zoneID)
    static let reference = CKRecord.Reference(recordID: recordID, action: .deleteSelf)
    static let token = CKServerChangeToken(data: Data([0, 1, 2, 253, 254, 255]))
    static let notificationID = CKNotification.ID("9f1f6b1c")

    static let participant = CKShareParticipant.Values(
        participantID: "7", isKnown: true,
        identity: CKUserIdentity.Values(
            userRecordID: recordID, lookup: .emailAddress("a@example.org")),
        role: .administrator, permission: .readWrite, acceptanceStatus: .accepted)

    static var zone: CKRecordZone {
        CKRecordZone(
            zoneID: zoneID,
            state: CKRecordZone.State(
                capabilities: [.fetchChanges, .sharing],
                share: reference,
                encryptionScope: .perZone
            )
        )
    }

    static var notificationInfo: CKSubscription.NotificationInfo {
        CKSubscription.NotificationInfo(
            alertBody: "body",
            alertLocalizationKey: "key",
            alertLocalizationArgs: ["a", "b"],
            title: "title",
            soundName: "default",
            desiredKeys: ["c"],
            shouldBadge: true,
            shouldSendContentAvailable: true,
            category: "category",
            collapseIDKey: "collapse"
        )
    }

    static var querySubscription: CKQuerySubscription {
        let inner = NSCompoundPredicate(
            orPredicateWithSubpredicates: [NSPredicate(value: true), NSPredicate(value: false)]
        )
        let subscription = CKQuerySubscription(
            recordType: "Item",
            predicate: NSCompoundPredicate(notPredicateWithSubpredicate: inner),
            subscriptionID: "q",
            options: [.firesOnRecordDeletion, .firesOnce]
        )
        subscription.zoneID = zoneID
        subscription.notificationInfo = notificationInfo
        return subscription
    }

    static var zoneSubscription: CKRecordZoneSubscription {
        let subscription = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "z")
        subscription.recordType = "Item"
        subscription.notificationInfo = notificationInfo
        return subscription
    }

    static var databaseSubscription: CKDatabaseSubscription {
        let subscription = CKDatabaseSubscription(subscriptionID: "d")
        subscription.recordType = "Item"
        return subscription
    }

    static var record: CKRecord {
        let server = CKRecord.ServerState(
            recordChangeTag: "t1",
            creationDate: Date(timeIntervalSinceReferenceDate: 1.5),
            creatorUserRecordID: CKRecord.ID(recordName: "_creator"),
            modificationDate: Date(timeIntervalSinceReferenceDate: 2.5),
            lastModifiedUserRecordID: CKRecord.ID(recordName: "_modifier")
        )
        let identity = CKRecord.Identity(recordType: "Item", recordID: recordID)
        let record = CKRecord(
            fetched: identity,
            server: server,
            fields: [CKRecord.Field(key: "old", value: .int64(-1))],
            parent: CKRecord.Reference(recordID: recordID, action: .none),
            share: reference
        )
        record["text"] = "the tide"
        record["whole"] = Int64.min
        record["fraction"] = -0.25
        record["date"] = Date(timeIntervalSinceReferenceDate: 3.5)
        record["bytes"] = Data([9, 8])
        record["place"] = CLLocation(latitude: 52.5, longitude: 13.4)
        record["link"] = reference
        record["list"] = ["a", "b"]
        record["empty"] = [String]()
        record["old"] = nil
        record.encryptedValues["secret"] = "s"
        return record
    }

    static var syncState: SyncState {
        var state = SyncState()
        state.userRecordName = "_0123"
        state.subscriptionID = "s"
        state.databaseToken = token
        state.zoneTokens = [
            zoneID: token, CKRecordZone.ID(zoneName: "A"): CKServerChangeToken(data: Data([7])),
        ]
        state.noteChanges(in: zoneID)
        state.pendingRecords.add(.saveRecord(recordID))
        state.pendingRecords.add(.deleteRecord(CKRecord.ID(recordName: "b", zoneID: zoneID)))
        state.pendingZones.add(.saveZone(zone))
        state.pendingZones.add(.deleteZone(CKRecordZone.ID(zoneName: "gone")))
        state.hasPendingUntrackedChanges = true
        return state
    }
}
