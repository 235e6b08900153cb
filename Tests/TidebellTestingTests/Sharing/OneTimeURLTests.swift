// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Testing
import TidebellTesting

@Suite("One-time URLs of shares", .finishesClouds) struct OneTimeURLTests {
    /// Anna shares her list with whoever opens a URL first, and maybe with Ben.
    private func share(
        _ people: Sharers, withBen isBenInvited: Bool = false
    ) async throws -> (share: CKShare, participant: CKShare.Participant, url: URL) {
        let share = try await people.share(isBenInvited ? .readOnly : nil)
        let participant = CKShare.Participant.oneTimeURLParticipant()
        participant.permission = .readWrite
        share.addParticipant(participant)
        #expect(share.oneTimeURL(for: participant.participantID) == nil)
        try await people.annasPhone.privateDatabase.save(share)
        return (
            share, participant,
            try #require(share.oneTimeURL(for: participant.participantID))
        )
    }

    @Test("SHARE-20: whoever opens a one-time URL first takes part; for all others it is spent")
    func story() async throws {
        let people = try await Sharers()
        let (share, participant, url) = try await share(people)
        #expect(url != share.url)
        #expect(participant.userIdentity.userRecordID == nil)
        #expect(participant.userIdentity.lookupInfo == nil)
        #expect(!participant.userIdentity.hasiCloudAccount)
        // Another device of Anna's has the same URL, by the ID that her app gave.
        let database = people.annasLaptop.privateDatabase
        let fetched = try #require(try await database.record(for: share.recordID) as? CKShare)
        #expect(fetched.oneTimeURL(for: participant.participantID) == url)
        #expect(fetched.oneTimeURL(for: fetched.owner.participantID) == nil)
        #expect(fetched.oneTimeURL(for: "nobody") == nil)

        let ben = people.bensPhone.container()
        let byOwnURL = await #expect(throws: CKError.self) {
            try await people.bensPhone.open(shareURL: #require(share.url))
        }
        #expect(byOwnURL?.code == .unknownItem)
        let metadata = try await people.bensPhone.open(shareURL: url)
        #expect(metadata.participantStatus == .pending)
        #expect(metadata.participantPermission == .readWrite)
        #expect(
            metadata.share.currentUserParticipant?.participantID == participant.participantID)
        // What was found is accepted by the same URL, also when it was archived meanwhile.
        let kept = try #require(
            try NSKeyedUnarchiver.unarchivedObject(
                ofClass: CKShare.Metadata.self,
                from: NSKeyedArchiver.archivedData(
                    withRootObject: metadata, requiringSecureCoding: true)))
        #expect(kept == metadata)
        let accepted = try await ben.accept(kept)
        #expect(accepted.currentUserParticipant?.acceptanceStatus == .accepted)
        let list = try await people.bensPhone.sharedDatabase.record(for: people.bensID("list"))
        list["title"] = "Ours"
        try await people.bensPhone.sharedDatabase.save(list)

        let eva = try await people.cloud.device(user: "eva")
        for url in [url, try #require(share.url)] {
            let spent = await #expect(throws: CKError.self) {
                try await eva.open(shareURL: url)
            }
            #expect(spent?.code == .unknownItem)
            #expect(try await people.bensLaptop.open(shareURL: url).participantStatus == .accepted)
        }
        let known = try #require(try await database.record(for: share.recordID) as? CKShare)
        #expect(known.participants.map(\.acceptanceStatus) == [.accepted, .accepted])
        #expect(known.participants.last?.participantID == participant.participantID)
        #expect(known.oneTimeURL(for: participant.participantID) == url)
        let name = try await people.bensPhone.userRecordName()
        #expect(known.participants.last?.userIdentity.userRecordID?.recordName == name)
        // Ben manages nobody, so that he hands out no URL.
        #expect(accepted.oneTimeURL(for: participant.participantID) == nil)
    }

    @Test("SHARE-19, ERR-46: who is invited already is told to accept that invitation")
    func invited() async throws {
        let people = try await Sharers()
        let (share, _, url) = try await share(people, withBen: true)
        let error = await #expect(throws: CKError.self) {
            try await people.bensPhone.open(shareURL: url)
        }
        #expect(error?.code == .participantAlreadyInvited)
        try await people.accept(share)
        #expect(
            try await people.bensPhone.open(shareURL: url).participantPermission == .readOnly)
        let eva = try await people.cloud.device(user: "eva")
        let metadata = try await eva.open(shareURL: url)
        let accepted = try await eva.container().accept(metadata)
        #expect(accepted.participants.map(\.acceptanceStatus) == [.accepted, .accepted, .accepted])
    }

    @Test("SHARE-16, SHARE-20: of two who accept what both have opened, one takes part")
    func two() async throws {
        let people = try await Sharers()
        let (_, _, url) = try await share(people)
        let eva = try await people.cloud.device(user: "eva")
        let opened = [
            (people.bensPhone, try await people.bensPhone.open(shareURL: url)),
            (eva, try await eva.open(shareURL: url)),
        ]
        let codes = try await withThrowingTaskGroup(of: CKError.Code?.self) { group in
            for (device, metadata) in opened {
                group.addTask {
                    do {
                        _ = try await device.container().accept(metadata)
                        return nil
                    } catch let error as CKError {
                        return error.code
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 1)
        #expect(codes.compactMap(\.self) == [.unknownItem])
    }
}
