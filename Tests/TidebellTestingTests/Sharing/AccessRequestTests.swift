// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Testing
import TidebellTesting

@Suite("Access requests", .finishesClouds) struct AccessRequestTests {
    /// Anna shares her list with nobody, and lets everybody ask for it.
    private func share(_ people: Sharers) async throws -> (share: CKShare, url: URL) {
        let share = try await people.share(nil)
        #expect(!share.allowsAccessRequests)
        share.allowsAccessRequests = true
        try await people.annasPhone.privateDatabase.save(share)
        #expect(share.allowsAccessRequests)
        return (share, try #require(share.url))
    }

    private func fetched(_ share: CKShare, by device: TestDevice) async throws -> CKShare {
        try #require(
            try await device.privateDatabase.record(for: share.recordID) as? CKShare)
    }

    /// Asks for access by URLs; the code of each that failed.
    private func ask(_ urls: [URL], as device: TestDevice) async throws -> [URL: CKError.Code?] {
        try await device.container().requestShareAccess(for: urls).mapValues { result in
            switch result {
            case .success: nil
            case .failure(let error): (error as? CKError)?.code
            }
        }
    }

    @Test("SHARE-21: a request is pushed to the owner, who adds who asked; they accept")
    func story() async throws {
        let people = try await Sharers()
        let (share, url) = try await share(people)
        let subscription = CKDatabaseSubscription(subscriptionID: "own")
        subscription.notificationInfo = .silent
        try await people.annasPhone.privateDatabase.save(subscription)
        // To know the URL is not to see the share.
        let closed = await #expect(throws: CKError.self) {
            try await people.bensPhone.open(shareURL: url)
        }
        #expect(closed?.code == .unknownItem)
        let wrong = url.deletingLastPathComponent().appendingPathComponent("AAAAAAAAAAAAAAAAAAAAAA")
        let elsewhere = try #require(URL(string: "https://example.org/elsewhere"))
        #expect(
            try await ask([wrong, url, elsewhere], as: people.bensPhone)
                == [wrong: .unknownItem, url: nil, elsewhere: .invalidArguments])
        try await people.cloud.settle()
        for device in [people.annasPhone, people.annasLaptop] {
            #expect(try await device.nextNotification()?.subscriptionID == "own")
        }
        try await people.bensLaptop.expectNoPushes()

        let found = try await fetched(share, by: people.annasLaptop)
        let requester = try #require(found.requesters.first)
        let ben = try await people.bensPhone.userRecordName()
        #expect(found.requesters.count == 1)
        #expect(requester.userIdentity.userRecordID?.recordName == ben)
        // Tags tell the phone that it has not seen this yet.
        share[CKShare.SystemFieldKey.title] = "Lists"
        let conflict = await #expect(throws: CKError.self) {
            try await people.annasPhone.privateDatabase.save(share)
        }
        #expect(conflict?.code == .serverRecordChanged)
        #expect((conflict?.serverRecord as? CKShare)?.requesters == [requester])

        let results = try await people.annasLaptop.container().shareParticipants(
            for: [requester.participantLookupInfo])
        let participant = try #require(try results[requester.participantLookupInfo]?.get())
        #expect(!participant.isApprovedRequester)
        found.addParticipant(participant)
        try await people.annasLaptop.privateDatabase.save(found)
        #expect(found.requesters == [])
        #expect(found.participants.last?.isApprovedRequester == true)
        // ERR-46: now there is an invitation to accept.
        #expect(try await ask([url], as: people.bensPhone) == [url: .participantAlreadyInvited])
        let accepted = try await people.accept(found)
        #expect(accepted.currentUserParticipant?.isApprovedRequester == true)
        #expect(try await ask([url], as: people.bensPhone) == [url: nil])
        #expect(try await ask([url], as: people.annasPhone) == [url: nil])
        try await people.cloud.settle()
        for device in people.devices { _ = device.takePushes() }
    }

    @Test("SHARE-21: where nobody may ask, the server does not say that there is a share")
    func forbidden() async throws {
        let people = try await Sharers()
        let url = try #require(try await people.share(nil).url)
        let wrong = url.deletingLastPathComponent().appendingPathComponent("AAAAAAAAAAAAAAAAAAAAAA")
        let results = try await people.bensPhone.container().requestShareAccess(for: [url, wrong])
        let errors = [url, wrong].map { url in
            #expect(throws: CKError.self) { try results[url]?.get() }
        }
        #expect(errors.map { $0?.code } == [.unknownItem, .unknownItem])
        #expect(
            errors[0]?.localizedDescription.replacing(url.lastPathComponent, with: "")
                == errors[1]?.localizedDescription.replacing(wrong.lastPathComponent, with: ""))
    }

    @Test("SHARE-21: who is denied may ask again; who is blocked does not learn of it")
    func deniedAndBlocked() async throws {
        let people = try await Sharers()
        let (share, url) = try await share(people)
        let database = people.annasPhone.privateDatabase
        #expect(try await ask([url], as: people.bensPhone) == [url: nil])
        var known = try await fetched(share, by: people.annasPhone)
        known.denyRequesters(known.requesters)
        #expect(known.requesters == [])
        try await database.save(known)
        known = try await fetched(share, by: people.annasPhone)
        #expect(known.requesters == [] && known.blockedIdentities == [])

        #expect(try await ask([url], as: people.bensPhone) == [url: nil])
        known = try await fetched(share, by: people.annasPhone)
        let requester = try #require(known.requesters.first)
        known.blockRequesters([requester])
        try await database.save(known)
        #expect(try await ask([url], as: people.bensPhone) == [url: nil])
        known = try await fetched(share, by: people.annasPhone)
        #expect(known.requesters == [])
        #expect(known.blockedIdentities.map(\.userIdentity) == [requester.userIdentity])
        // Other changes leave it as it is.
        known[CKShare.SystemFieldKey.title] = "Ours"
        try await database.save(known)
        #expect(known.blockedIdentities.count == 1)

        known.unblockIdentities(known.blockedIdentities)
        try await database.save(known)
        #expect(known.blockedIdentities == [])
        #expect(try await ask([url], as: people.bensPhone) == [url: nil])
        #expect(
            try await fetched(share, by: people.annasPhone).requesters.map(\.userIdentity)
                == [requester.userIdentity])
    }

    @Test("SHARE-21: whoever takes part and is blocked is removed, and comes in no more")
    func blockedParticipant() async throws {
        let people = try await Sharers()
        let (share, url) = try await share(people)
        #expect(try await ask([url], as: people.bensPhone) == [url: nil])
        let known = try await fetched(share, by: people.annasPhone)
        let requester = try #require(known.requesters.first)
        known.addParticipant(try await people.ben())
        try await people.annasPhone.privateDatabase.save(known)
        try await people.accept(known)
        let joined = try await fetched(share, by: people.annasPhone)
        joined.blockRequesters([requester])
        #expect(joined.participants.map(\.role) == [.owner])
        try await people.annasPhone.privateDatabase.save(joined)
        #expect(try await people.bensPhone.sharedDatabase.allRecordZones() == [])
        let closed = await #expect(throws: CKError.self) {
            try await people.bensPhone.open(shareURL: url)
        }
        #expect(closed?.code == .unknownItem)
        #expect(try await ask([url], as: people.bensPhone) == [url: nil])
        #expect(try await fetched(share, by: people.annasPhone).requesters == [])
    }

    @Test(
        "SHARE-9, SHARE-21: an administrator answers requests; other participants do not see them")
    func administrators() async throws {
        let people = try await Sharers()
        let (share, url) = try await share(people)
        let ben = try await people.ben()
        share.addParticipant(ben)
        try await people.annasPhone.privateDatabase.save(share)
        let accepted = try await people.accept(share)
        let eva = try await people.cloud.device(user: "eva")
        #expect(try await ask([url], as: eva) == [url: nil])
        func bens() async throws -> CKShare {
            try #require(
                try await people.bensPhone.sharedDatabase.record(for: accepted.recordID) as? CKShare
            )
        }
        let seen = try await bens()
        #expect(seen.requesters == [] && !seen.allowsAccessRequests)
        let known = try await fetched(share, by: people.annasPhone)
        known.participants.last?.role = .administrator
        try await people.annasPhone.privateDatabase.save(known)
        let managed = try await bens()
        #expect(managed.allowsAccessRequests)
        let name = try await eva.userRecordName()
        #expect(
            managed.requesters.map { $0.userIdentity.userRecordID?.recordName } == [name])
        managed.denyRequesters(managed.requesters)
        try await people.bensPhone.sharedDatabase.save(managed)
        #expect(try await fetched(share, by: people.annasPhone).requesters == [])
    }

    @Test("SHARE-21, OP-13: the operation reports each URL by itself, then the whole")
    func operation() async throws {
        let people = try await Sharers()
        let (_, url) = try await share(people)
        let wrong = url.deletingLastPathComponent().appendingPathComponent("AAAAAAAAAAAAAAAAAAAAAA")
        let outcome = await withCheckedContinuation { continuation in
            let operation = CKShareRequestAccessOperation(shareURLs: [wrong, url, url])
            nonisolated(unsafe) var asked: [(URL, Result<Void, any Error>)] = []
            operation.perShareAccessRequestResultBlock = { asked.append(($0, $1)) }
            operation.shareAccessRequestResultBlock = { result in
                continuation.resume(returning: (asked, result))
            }
            people.bensPhone.container().add(operation)
        }
        try outcome.1.get()
        #expect(outcome.0.map(\.0) == [wrong, url])
        let refused = #expect(throws: CKError.self) { try outcome.0[0].1.get() }
        #expect(refused?.code == .unknownItem)
        try outcome.0[1].1.get()
    }
}
