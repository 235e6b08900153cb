// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import TidebellWire

@Suite("Shapes of access requests and one-time URLs") struct AccessRequestShapeTests {
    private func json(_ write: (inout JSONWriter) -> Void) -> String {
        String(decoding: JSONWriter.write(write), as: UTF8.self)
    }

    @Test("SHARE-21: each share that was asked for has its name, or an error beside it")
    func answer() throws {
        let answer = RequestShareAccess.Response(results: [
            .requested(shortGUID: "a"),
            .failed(shortGUID: "b", WireError(.notFound, "there is none")),
        ])
        let text = json(answer.write)
        #expect(text.hasPrefix(#"{"results":[{"shortGUID":{"value":"a"}},{"#))
        #expect(text.contains(#""serverErrorCode":"NOT_FOUND""#))
        let read = try JSONReader.read(Array(text.utf8)) {
            try RequestShareAccess.Response(from: &$0)
        }
        #expect(read == answer)
    }

    @Test("SHARE-20: a participant says that a URL is theirs, and what it is")
    func participant() throws {
        var participant = WireParticipant(
            participantID: "p", identity: UserIdentity(userRecordName: nil))
        participant.usesOneTimeURL = true
        participant.oneTimeShortGUID = "a.b"
        participant.isApprovedRequester = true
        let text = json(participant.write)
        #expect(
            text.hasSuffix(
                #""isApprovedRequester":true,"usesOneTimeURL":true,"oneTimeShortGUID":"a.b"}"#))
        let read = try JSONReader.read(Array(text.utf8)) { try WireParticipant(from: &$0) }
        #expect(read == participant)
        let plain = json(WireParticipant(identity: UserIdentity(userRecordName: "_a")).write)
        #expect(!plain.contains("neTime") && !plain.contains("Requester"))
    }

    @Test("SHARE-21: a save names who waits and who is blocked, or leaves both as they are")
    func changes() throws {
        let person = UserIdentity(userRecordName: "_a", lookup: .emailAddress("a@example.org"))
        let members =
            #"{"userIdentity":{"userRecordName":"_a","lookupInfo":{"emailAddress":"a@example.org"}}}"#
        for (changes, expected) in [
            (ShareChanges(), ""),
            (ShareChanges(allowsAccessRequests: true), #""denyAccessRequests":false"#),
            (
                ShareChanges(
                    allowsAccessRequests: false, requesters: [], blocked: [person]),
                #""denyAccessRequests":true,"requesters":[],"blocked":[\#(members)]"#
            ),
        ] {
            let text = json { writer in writer.object { changes.writeMembers(to: &$0) } }
            #expect(text == "{\(expected)}")
            var read = ShareChanges()
            try JSONReader.read(Array(text.utf8)) { reader in
                try reader.readObject { reader, name in
                    let isKnown = try read.readMember(name, from: &reader)
                    #expect(isKnown)
                }
            }
            #expect(read == changes)
        }
    }

    @Test("SHARE-21: who manages a share sees its requests, all others no word of them")
    func share() throws {
        let share = WireShare(
            shortGUID: "a", publicPermission: .none, participants: [],
            currentUserParticipantID: nil)
        for requests in [
            nil, WireAccessRequests(),
            WireAccessRequests(
                areAllowed: true, requesters: [UserIdentity(userRecordName: "_a")],
                blocked: [UserIdentity(userRecordName: "_b")]),
        ] {
            var share = share
            share.accessRequests = requests
            let sharing = WireSharing.share(share)
            let text = json { writer in
                writer.object {
                    sharing.writeMembers(in: ZoneID(zoneName: "z"), to: &$0)
                }
            }
            #expect(text.contains("requesters") == (requests != nil))
            var parts = SharingParts()
            try JSONReader.read(Array(text.utf8)) { reader in
                try reader.readObject { reader, name in
                    if try !parts.readMember(name, from: &reader) { try reader.skipValue() }
                }
            }
            #expect(parts.sharing == sharing)
        }
    }
}
