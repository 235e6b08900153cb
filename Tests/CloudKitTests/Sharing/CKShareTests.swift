// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite("CKShare") struct CKShareTests {
    static let zoneID = CKRecordZone.ID(zoneName: "Lists")
    private let root = CKRecord(
        recordType: "List", recordID: CKRecord.ID(recordName: "list", zoneID: Self.zoneID))

    private func participant(
        _ name: String, _ permission: CKShare.ParticipantPermission = .readOnly
    ) -> CKShare.Participant {
        CKShareParticipant(
            .init(
                participantID: name, isKnown: true,
                identity: .init(
                    userRecordID: CKRecordID(recordName: name),
                    lookup: .emailAddress("\(name)@example.org")),
                permission: permission, acceptanceStatus: .accepted
            )
        )
    }

    @Test("SHARE-1, SHARE-3, SHARE-7: a new share is private, and its user owns it")
    func new() throws {
        let share = CKShare(rootRecord: root)
        #expect(share.recordType == CKRecord.SystemType.share)
        #expect(share.recordID.zoneID == Self.zoneID)
        #expect(root.share?.recordID == share.recordID)
        #expect(share.publicPermission == .none)
        #expect(share.url == nil)
        #expect(share.participants.map(\.role) == [.owner])
        #expect(share.owner.permission == .readWrite)
        #expect(share.currentUserParticipant == share.owner)
        let zoneWide = CKShare(recordZoneID: Self.zoneID)
        #expect(zoneWide.recordID.recordName == "cloudkit.zoneshare")
        #expect(zoneWide.values.rootID == nil)
    }

    @Test("SHARE-8: who is added twice takes part once, as they were added last")
    func addParticipants() throws {
        let share = CKShare(rootRecord: root)
        share.addParticipant(participant("ben"))
        share.addParticipant(participant("eva"))
        share.addParticipant(participant("ben", .readWrite))
        #expect(share.participants.map(\.participantID).dropFirst() == ["eva", "ben"])
        #expect(share.participants.last?.permission == .readWrite)
        share.removeParticipant(participant("eva"))
        #expect(share.participants.map(\.participantID).dropFirst() == ["ben"])
        // The owner cannot be removed.
        share.removeParticipant(share.owner)
        #expect(share.participants.count == 2)
    }

    @Test("REC-9: a share is archived with its participants, and so are its system fields")
    func archives() throws {
        let share = CKShare(rootRecord: root)
        share[CKShare.SystemFieldKey.title] = "Groceries"
        share.addParticipant(participant("ben", .readWrite))
        share.publicPermission = .readOnly
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: share, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: data))
        #expect(read.recordID == share.recordID)
        #expect(read[CKShare.SystemFieldKey.title] == "Groceries")
        #expect(read.values.isSame(as: share.values))
        #expect(read.values.rootID == root.recordID)
        // As a record it is the same share.
        let asRecord = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data)
        #expect(asRecord is CKShare)

        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        share.encodeSystemFields(with: coder)
        coder.finishEncoding()
        let reader = try NSKeyedUnarchiver(forReadingFrom: coder.encodedData)
        let fields = try #require(CKShare(coder: reader))
        #expect(fields.values.isSame(as: share.values))
        #expect(fields.allKeys() == [])
    }

    @Test("A copy of a share has participants of its own")
    func copies() throws {
        let share = CKShare(rootRecord: root)
        share.addParticipant(participant("ben"))
        let copy = try #require(share.copy() as? CKShare)
        copy.participants.last?.permission = .readWrite
        #expect(share.participants.last?.permission == .readOnly)
        #expect(copy.recordID == share.recordID)
    }

    @Test("Identities, what looks them up, and metadata are archived")
    func otherArchives() throws {
        let lookups = [
            CKUserIdentityLookupInfo(emailAddress: "ben@example.org"),
            CKUserIdentityLookupInfo(phoneNumber: "+491701234567"),
            CKUserIdentityLookupInfo(userRecordID: CKRecord.ID(recordName: "_0123")),
        ]
        for lookup in lookups { #expect(try roundTrip(lookup) == lookup) }
        let identity = participant("ben").userIdentity
        #expect(try roundTrip(identity) == identity)
        #expect(try roundTrip(participant("ben")) == participant("ben"))

        let share = CKShare(rootRecord: root)
        let metadata = CKShareMetadata(
            .init(
                containerIdentifier: "iCloud.org.example", share: share, rootID: root.recordID,
                rootRecord: root, owner: identity.values, role: .privateUser,
                acceptanceStatus: .pending, permission: .readWrite
            )
        )
        let read = try roundTrip(metadata)
        #expect(read.containerIdentifier == "iCloud.org.example")
        #expect(read.share.recordID == share.recordID)
        #expect(read.hierarchicalRootRecordID == root.recordID)
        #expect(read.rootRecord?.recordID == root.recordID)
        #expect(read.ownerIdentity == identity)
        #expect(read.participantRole == .privateUser)
        #expect(read.participantStatus == .pending)
        #expect(read.participantPermission == .readWrite)
    }

    @Test("OP-20: a long-lived operation keeps the shares that it saves")
    func longLived() throws {
        let share = CKShare(rootRecord: root)
        share.addParticipant(participant("ben"))
        for records in [[root, share], [root]] {
            let operation = CKModifyRecordsOperation(
                recordsToSave: records, recordIDsToDelete: [])
            let work = try #require(operation.longLivedWork())
            guard case .modifyRecords(let modify) = work else {
                Issue.record("another kind of work")
                return
            }
            var writer = BlobWriter()
            modify.write(to: &writer)
            var reader = BlobReader(writer.bytes)
            let read = try LongLivedOperation.ModifyRecords(
                from: &reader, holdsShares: modify.holdsShares)
            #expect(read.records.map(\.recordID) == records.map(\.recordID))
            #expect(
                (read.records.last as? CKShare)?.values.isSame(as: share.values)
                    == (records.count == 2 ? true : nil)
            )
        }
    }

    private func roundTrip<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: object, requiringSecureCoding: true)
        return try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data))
    }
}
