// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite("Access requests") struct AccessRequestTests {
    /// A share that a user has some role in, with requesters and one who is blocked.
    private static func share(as role: CKShareParticipantRole) -> CKShare {
        let share = CKShare(recordZoneID: CKShareTests.zoneID)
        let own = CKShareParticipant(
            .init(participantID: "own", identity: identity("own"), role: role))
        var sharing = CKShare.Sharing()
        sharing.participants = [
            CKShareParticipant(
                .init(participantID: "_owner", identity: identity("owner"), role: .owner)),
            own,
            CKShareParticipant(.init(participantID: "ben", identity: identity("ben"))),
        ]
        if role == .owner { sharing.participants.remove(at: 0) }
        sharing.currentUserParticipantID = "own"
        sharing.requests = CKShare.AccessRequests(
            areAllowed: true, waiting: ["ben", "eva", "kim"].map(identity),
            blocked: [identity("tim")])
        share.apply(sharing, sending: nil)
        return share
    }

    private static func identity(_ name: String) -> CKUserIdentity.Values {
        CKUserIdentity.Values(
            userRecordID: CKRecordID(recordName: name),
            lookup: .emailAddress("\(name)@example.org"))
    }

    private func names(_ identities: [CKUserIdentity]) -> [String?] {
        identities.map { $0.userRecordID?.recordName }
    }

    @Test("SHARE-21: requests are denied, blocked and unblocked as the app wants, before it saves")
    func answers() {
        let share = Self.share(as: .administrator)
        #expect(names(share.requesters.map(\.userIdentity)) == ["ben", "eva", "kim"])
        let requesters = share.requesters
        #expect(requesters[1].participantLookupInfo.userRecordID?.recordName == "eva")
        #expect(requesters[1].userIdentity.lookupInfo?.emailAddress == "eva@example.org")
        share.denyRequesters([requesters[1]])
        #expect(share.requesters == [requesters[0], requesters[2]])
        share.blockRequesters([requesters[0], requesters[0]])
        #expect(share.requesters == [requesters[2]])
        #expect(names(share.blockedIdentities.map(\.userIdentity)) == ["tim", "ben"])
        // Who is blocked takes part no more; the owner stays.
        #expect(share.participants.map(\.participantID) == ["_owner", "own"])
        share.unblockIdentities([share.blockedIdentities[0]])
        #expect(names(share.blockedIdentities.map(\.userIdentity)) == ["ben"])
        share.allowsAccessRequests = false
        #expect(!share.allowsAccessRequests)
    }

    @Test("SHARE-21: what is changed of requests while a save is under way stays to be saved")
    func changedMeanwhile() {
        let share = Self.share(as: .owner)
        let sent = share.values.copied()
        share.denyRequesters(share.requesters)
        share.apply(Self.share(as: .owner).values, sending: sent)
        #expect(share.requesters == [] && share.values.requests.areAnswered)
        share.apply(Self.share(as: .owner).values, sending: share.values.copied())
        #expect(share.requesters.count == 3 && !share.values.requests.areAnswered)
    }

    @Test("SHARE-21: who does not manage a share answers nobody: the program ends")
    func misuse() async {
        await #expect(processExitsWith: .failure) {
            Self.share(as: .privateUser).allowsAccessRequests = true
        }
        await #expect(processExitsWith: .failure) {
            let share = Self.share(as: .privateUser)
            share.denyRequesters(share.requesters)
        }
        await #expect(processExitsWith: .failure) {
            let share = Self.share(as: .publicUser)
            share.blockRequesters(share.requesters)
        }
        await #expect(processExitsWith: .failure) {
            let share = Self.share(as: .privateUser)
            share.unblockIdentities(share.blockedIdentities)
        }
    }

    @Test("SHARE-20: participants with one-time URLs are nobody, so that a share has several")
    func oneTimeParticipants() throws {
        let share = Self.share(as: .owner)
        let pair = (
            CKShare.Participant.oneTimeURLParticipant(), CKShare.Participant.oneTimeURLParticipant()
        )
        #expect(pair.0 != pair.1)
        #expect(pair.0.role == .privateUser && pair.0.permission == .readOnly)
        #expect(pair.0.acceptanceStatus == .pending)
        share.addParticipant(pair.0)
        share.addParticipant(pair.1)
        share.addParticipant(pair.0)
        #expect(share.participants.count == 4)
        #expect(share.oneTimeURL(for: pair.0.participantID) == nil)
        #expect(try roundTrip(pair.0).values == pair.0.values)
    }

    @Test("REC-9, SHARE-21: a share is archived with its requests, and so is who asked")
    func archives() throws {
        let share = Self.share(as: .owner)
        share.denyRequesters([share.requesters[1]])
        let read = try roundTrip(share)
        #expect(read.values.isSame(as: share.values))
        #expect(read.values.requests == share.values.requests)
        let requester = share.requesters[0]
        #expect(try roundTrip(requester) == requester)
        let blocked = share.blockedIdentities[0]
        #expect(try roundTrip(blocked) == blocked)
        // System fields are what the server gave.
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        share.encodeSystemFields(with: coder)
        coder.finishEncoding()
        let fields = CKShare(coder: try NSKeyedUnarchiver(forReadingFrom: coder.encodedData))
        #expect(fields.requesters.count == 3 && fields.allowsAccessRequests)
    }

    private func roundTrip<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: object, requiringSecureCoding: true)
        return try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data))
    }
}
