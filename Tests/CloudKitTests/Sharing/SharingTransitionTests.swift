// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite("Who is left of a share that is opened or closed") struct SharingTransitionTests {
    private func participant(
        _ name: String, _ status: CKShare.ParticipantAcceptanceStatus
    ) -> CKShare.Participant {
        CKShareParticipant(
            .init(
                participantID: name, isKnown: true,
                identity: .init(userRecordID: CKRecordID(recordName: name)),
                acceptanceStatus: status
            )
        )
    }

    private func share() -> CKShare {
        let share = CKShare(recordZoneID: CKShareTests.zoneID)
        share.addParticipant(participant("ben", .accepted))
        share.addParticipant(participant("eva", .pending))
        return share
    }

    @Test(
        "SHARE-7: who has not answered goes when a share is opened",
        arguments: [CKShare.ParticipantPermission.readOnly, .readWrite])
    func opening(permission: CKShare.ParticipantPermission) {
        let share = share()
        share.publicPermission = permission
        #expect(share.participants.map(\.participantID).dropFirst() == ["ben"])
        // What it may do may change; nobody goes.
        share.publicPermission = .readOnly
        #expect(share.participants.count == 2)
    }

    @Test("SHARE-7: all but the owner go when a share is closed; who is added then stays")
    func closing() {
        let share = share()
        share.publicPermission = .readOnly
        share.publicPermission = .none
        #expect(share.participants.map(\.role) == [.owner])
        share.addParticipant(participant("ben", .pending))
        share.publicPermission = .none
        #expect(share.participants.count == 2)
    }
}

@Suite("The URLs of shares") struct ShareURLTests {
    @Test("SHARE-6: what a share is named by is at the end of its URL, wherever the server is")
    func shortGUID() throws {
        for path in ["share/0abc", "cloud/share/0abc", "share/cloud/share/0abc"] {
            let url = try #require(URL(string: "https://example.org/\(path)"))
            #expect(try ContainerConnection.shortGUID(of: url) == "0abc")
        }
        for path in ["", "share", "share/0abc/x", "0abc"] {
            let url = try #require(URL(string: "https://example.org/\(path)"))
            let error = #expect(throws: CKError.self) { try ContainerConnection.shortGUID(of: url) }
            #expect(error?.code == .invalidArguments)
        }
    }
}
