// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite("CKShare") struct CKShareTests {
    static let zoneID = CKRecordZone.ID(zoneName: "Lists")
    private let root = CKRecord(
        recordType: "List", recordID: CKRecord.ID(recordName: "list", zoneID: Self.zoneID))

    private func participant(
        _ name: String, _ permission: CKShare.ParticipantPermission = .readOnly, id: String? = nil
    ) -> CKShare.Participant {
        CKShareParticipant(
            .init(
                participantID: id ?? name, isKnown: true,
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
        #expect(zoneWide.participants.map(\.role) == [.owner])
        #expect(zoneWide.currentUserParticipant == zoneWide.owner)
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
        // The owner cannot be removed, nor added a second time.
        share.removeParticipant(share.owner)
        #expect(share.participants.count == 2)
        share.addParticipant(
            CKShareParticipant(.init(identity: CKShareParticipant.newOwner().values.identity)))
        #expect(share.participants.map(\.role) == [.owner, .privateUser])
        #expect(share.owner.permission == .readWrite)
    }

    @Test("SHARE-8: who has the same user record ID, or was looked up by the same, is one person")
    func samePerson() {
        let byUser = participant("ben", id: "1")
        let user = CKShareParticipant(
            .init(participantID: "2", identity: .init(userRecordID: CKRecordID(recordName: "ben"))))
        let address = CKShareParticipant(
            .init(participantID: "3", identity: .init(lookup: .emailAddress("ben@example.org"))))
        let others = [
            participant("eva", id: "4"),
            CKShareParticipant(.init(participantID: "5", identity: .init())),
            CKShareParticipant(
                .init(
                    participantID: "6",
                    identity: .init(
                        userRecordID: CKRecordID(recordName: "eva"),
                        lookup: .emailAddress("ben@example.org")))),
        ]
        for same in [participant("eva", id: "1"), user, address] {
            #expect(byUser == same && same == byUser)
            #expect(byUser.hash == same.hash)
            let share = CKShare(rootRecord: root)
            share.addParticipant(byUser)
            share.addParticipant(same)
            #expect(share.participants.dropFirst().map(\.participantID) == [same.participantID])
            share.removeParticipant(byUser)
            #expect(share.participants.count == 1)
        }
        for other in others {
            #expect(byUser != other && other != byUser)
            #expect(user != other && other != user)
        }
    }

    @Test("SHARE-12: the user is found after a save while the app changed the participants")
    func changedMeanwhile() throws {
        let share = CKShare(rootRecord: root)
        let ben = CKShareParticipant(
            .init(identity: .init(userRecordID: CKRecordID(recordName: "ben"))))
        share.addParticipant(ben)
        let sent = share.values.copied()
        ben.permission = .readWrite
        share.addParticipant(participant("eva"))
        var saved = CKShare.Sharing()
        let owner = CKShareParticipant.newOwner()
        saved.participants = [owner, participant("ben", id: "7")]
        saved.currentUserParticipantID = owner.participantID
        share.apply(saved, sending: sent)
        #expect(share.currentUserParticipant?.role == .owner)
        #expect(share.participants.map(\.participantID) == [owner.participantID, "7", "eva"])
        #expect(ben.permission == .readWrite && ben.acceptanceStatus == .accepted)
    }

    @Test("SAVE-6: before the app changed it, a share had the participants of the server")
    func ancestor() throws {
        let share = CKShare(rootRecord: root)
        share.addParticipant(participant("ben"))
        share.apply(share.values.copied(), sending: share.values.copied())
        share.state.withLock { $0.server.recordChangeTag = "1" }
        share.participants.last?.permission = .readWrite
        share.addParticipant(participant("eva"))
        let ancestor = try #require(share.ancestor as? CKShare)
        #expect(ancestor.participants.map(\.participantID).dropFirst() == ["ben"])
        #expect(ancestor.participants.last?.permission == .readOnly)
        // Also when it was archived meanwhile.
        let read = try roundTrip(share)
        #expect(read.participants.count == 3)
        #expect((read.ancestor as? CKShare)?.participants.count == 2)
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
        let fields = CKShare(coder: reader)
        // What the server never had is no system field.
        #expect(fields.participants.map(\.role) == [.owner])
        #expect(fields.publicPermission == .none)
        #expect(fields.values.rootID == root.recordID)
        #expect(fields.allKeys() == [])
    }

    @Test("A damaged share fails its unarchiver, wherever it is damaged")
    func damagedArchive() throws {
        let whole = try NSKeyedArchiver.archivedData(
            withRootObject: CKShare(rootRecord: root), requiringSecureCoding: true)
        var damaged = 0
        var rest = whole.startIndex..<whole.endIndex
        while let range = whole.range(of: Data("TDBL".utf8), in: rest) {
            var data = whole
            data[range.lowerBound + 12] ^= 0x10
            #expect(throws: (any Error).self) {
                try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: data)
            }
            damaged += 1
            rest = range.upperBound..<whole.endIndex
        }
        // The record, and who takes part, now and before.
        #expect(damaged == 3)
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
        #expect(try roundTrip(participant("ben")).values == participant("ben").values)

        let share = CKShare(rootRecord: root)
        let metadata = metadata(of: share)
        let read = try roundTrip(metadata)
        #expect(read == metadata)
        #expect(read.containerIdentifier == "iCloud.org.example")
        #expect(read.share.recordID == share.recordID)
        #expect(read.hierarchicalRootRecordID == root.recordID)
        #expect(read.rootRecord?.recordID == root.recordID)
        #expect(read.ownerIdentity == identity)
        #expect(read.participantRole == .privateUser)
        #expect(read.participantStatus == .pending)
        #expect(read.participantPermission == .readWrite)
    }

    private func metadata(
        of share: CKShare, _ status: CKShare.ParticipantAcceptanceStatus = .pending
    ) -> CKShareMetadata {
        CKShareMetadata(
            .init(
                containerIdentifier: "iCloud.org.example", share: share, rootID: root.recordID,
                rootRecord: root, owner: participant("ben").userIdentity.values,
                role: .privateUser, acceptanceStatus: status, permission: .readWrite
            )
        )
    }

    @Test("SHARE-18: metadata compares by value, and a copy has records of its own")
    func metadataEquality() throws {
        let share = CKShare(rootRecord: root)
        let one = metadata(of: share)
        let copy = try #require(one.copy() as? CKShareMetadata)
        #expect(one == copy && one.hash == copy.hash)
        #expect(one != metadata(of: share, .accepted))
        #expect(copy.share !== one.share && copy.rootRecord !== one.rootRecord)
        copy.share[CKShare.SystemFieldKey.title] = "Groceries"
        #expect(one.share[CKShare.SystemFieldKey.title] == nil)
        #expect(one != copy)
        let other = try #require(one.copy() as? CKShareMetadata)
        other.rootRecord?["title"] = "List"
        #expect(one.rootRecord?["title"] == nil)
        #expect(one != other)
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
