// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Testing
import TidebellTesting

@Suite("Shares", .finishesClouds) struct SharingTests {
    @Test("T-12, SHARE-6, SHARE-16 to SHARE-18: a list is shared, accepted, read and written")
    func story() async throws {
        let people = try await Sharers()
        let share = try await people.share()
        let url = try #require(share.url)
        #expect(url.pathComponents.dropFirst().first == "share")
        #expect(share.participants.map(\.role) == [.owner, .privateUser])
        #expect(share.participants.map(\.acceptanceStatus) == [.accepted, .pending])
        #expect(share.currentUserParticipant?.role == .owner)
        let list = try await people.annasLaptop.privateDatabase.record(for: people.id("list"))
        #expect(list.share?.recordID == share.recordID)

        let metadata = try await people.bensPhone.open(shareURL: url)
        #expect(metadata.participantStatus == .pending)
        #expect(metadata.participantPermission == .readWrite)
        #expect(metadata.participantRole == .privateUser)
        #expect(metadata.hierarchicalRootRecordID == (try await people.bensID("list")))
        #expect(metadata.share[CKShare.SystemFieldKey.title] == "Our groceries")
        #expect(metadata.containerIdentifier == "iCloud.org.example.lists")
        let accepted = try await people.bensPhone.container().accept(metadata)
        #expect(accepted.currentUserParticipant?.acceptanceStatus == .accepted)

        // What Ben's laptop finds: the list with all below it, and nothing else.
        let shared = people.bensLaptop.sharedDatabase
        let zones = try await shared.allRecordZones()
        let zoneID = try await people.bensID("list").zoneID
        #expect(zones.map(\.zoneID) == [zoneID])
        let changes = try await shared.recordZoneChanges(inZoneWith: zoneID, since: nil)
        let names = changes.modificationResultsByID.keys.map(\.recordName)
        #expect(Set(names) == ["list", "milk", "bread", share.recordID.recordName])
        let found = try await shared.records(
            matching: CKQuery(recordType: "Item", predicate: NSPredicate(value: true)),
            inZoneWith: zoneID)
        #expect(Set(found.matchResults.map(\.0.recordName)) == ["milk", "bread"])

        // He writes, and all who are concerned hear of it, except the device that wrote.
        let subscription = CKDatabaseSubscription(subscriptionID: "shared")
        subscription.notificationInfo = .silent
        try await people.bensLaptop.sharedDatabase.save(subscription)
        let annas = CKDatabaseSubscription(subscriptionID: "own")
        annas.notificationInfo = .silent
        try await people.annasPhone.privateDatabase.save(annas)
        let milk = try await people.bensPhone.sharedDatabase.record(for: people.bensID("milk"))
        milk["count"] = 2
        let eggs = CKRecord(recordType: "Item", recordID: try await people.bensID("eggs"))
        eggs.parent = CKRecord.Reference(
            recordID: try await people.bensID("list"), action: .none)
        _ = try await people.bensPhone.sharedDatabase.modifyRecords(
            saving: [milk, eggs], deleting: [])
        try await people.cloud.settle()
        for (device, scope, id) in [
            (people.annasPhone, CKDatabase.Scope.private, "own"),
            (people.annasLaptop, .private, "own"), (people.bensLaptop, .shared, "shared"),
        ] {
            let notification = try await device.nextNotification() as? CKDatabaseNotification
            #expect(notification?.databaseScope == scope)
            #expect(notification?.subscriptionID == id)
        }
        try await people.bensPhone.expectNoPushes()
        let annasEggs = try await people.annasLaptop.privateDatabase.record(
            for: people.id("eggs"))
        let ben = try await people.bensPhone.userRecordName()
        #expect(annasEggs.creatorUserRecordID?.recordName == ben)
        #expect(annasEggs.parent?.recordID == people.id("list"))
    }

    @Test("SHARE-2: a new share is saved with its root, or not at all")
    func rootIsMissing() async throws {
        let people = try await Sharers()
        let database = people.annasPhone.privateDatabase
        let share = CKShare(rootRecord: try await database.record(for: people.id("list")))
        let error = await #expect(throws: CKError.self) { try await database.save(share) }
        #expect(error?.code == .invalidArguments)
        #expect(error?.localizedDescription.contains("'list'") == true)
    }

    @Test("SHARE-3, ZONE-9: a zone is shared as a whole, by a share of a fixed name")
    func zoneWide() async throws {
        let people = try await Sharers()
        let share = CKShare(recordZoneID: people.zoneID)
        #expect(share.recordID.recordName == CKRecordNameZoneWideShare)
        share.addParticipant(try await people.ben(.readOnly))
        try await people.annasPhone.privateDatabase.save(share)
        let zone = try await people.annasLaptop.privateDatabase.recordZone(for: people.zoneID)
        #expect(zone.share?.recordID == share.recordID)
        try await people.accept(share)
        let shared = people.bensPhone.sharedDatabase
        let zoneID = try await people.bensID("list").zoneID
        let changes = try await shared.recordZoneChanges(inZoneWith: zoneID, since: nil)
        #expect(
            Set(changes.modificationResultsByID.keys.map(\.recordName)) == [
                "list", "milk", "bread", "other", CKRecordNameZoneWideShare,
            ]
        )
        let record = try await shared.record(for: people.bensID("other"))
        record["count"] = 1
        let error = await #expect(throws: CKError.self) { try await shared.save(record) }
        #expect(error?.code == .permissionFailure)
    }

    @Test("SHARE-4, ERR-39: a record below one that is shared cannot be shared")
    func alreadyShared() async throws {
        let people = try await Sharers()
        _ = try await people.share()
        let database = people.annasPhone.privateDatabase
        let milk = try await database.record(for: people.id("milk"))
        let second = CKShare(rootRecord: milk)
        let results = try await database.modifyRecords(saving: [milk, second], deleting: [])
        let error = #expect(throws: CKError.self) {
            try results.saveResults.only(second.recordID)
        }
        #expect(error?.code == .alreadyShared)
    }

    @Test("SAVE-5: of two who change the participants of a share, the second gets a conflict")
    func conflict() async throws {
        let people = try await Sharers()
        let share = try await people.share(nil)
        let other = try #require(
            try await people.annasLaptop.privateDatabase.record(for: share.recordID) as? CKShare)
        share.addParticipant(try await people.ben())
        try await people.annasPhone.privateDatabase.save(share)
        other.publicPermission = .readOnly
        let results = try await people.annasLaptop.privateDatabase.modifyRecords(
            saving: [other], deleting: [], savePolicy: .allKeys)
        let error = #expect(throws: CKError.self) {
            try results.saveResults.only(other.recordID)
        }
        #expect(error?.code == .serverRecordChanged)
        let server = error?.serverRecord as? CKShare
        #expect(server?.participants.count == 2)
        // Before it was opened, there was nobody but the owner.
        let ancestor = error?.ancestorRecord as? CKShare
        #expect(ancestor?.publicPermission == CKShare.ParticipantPermission.none)
        #expect(ancestor?.participants.map(\.role) == [.owner])
    }

    @Test("SHARE-7, SHARE-9: whoever has the URL of an open share joins as a public user")
    func publicShare() async throws {
        let people = try await Sharers()
        let share = try await people.share(nil, open: .readOnly)
        let accepted = try await people.accept(share)
        #expect(accepted.currentUserParticipant?.role == .publicUser)
        #expect(accepted.currentUserParticipant?.permission == .readOnly)
        let list = try await people.bensPhone.sharedDatabase.record(for: people.bensID("list"))
        #expect(list["title"] == "Groceries")
    }

    @Test("SHARE-7: whoever is invited to a share that the same save opens goes; it is saved")
    func invitedAndOpened() async throws {
        let people = try await Sharers()
        let share = try await people.share(.readWrite, open: .readOnly)
        #expect(share.participants.map(\.role) == [.owner])
        #expect(share.publicPermission == .readOnly)
    }

    @Test("SHARE-7: who is added back when a share is closed is invited anew")
    func addedBack() async throws {
        let people = try await Sharers()
        let share = try await people.share(nil, open: .readOnly)
        try await people.accept(share)
        let database = people.annasPhone.privateDatabase
        let known = try #require(try await database.record(for: share.recordID) as? CKShare)
        #expect(known.participants.map(\.role) == [.owner, .publicUser])
        known.publicPermission = .none
        known.addParticipant(try await people.ben())
        try await database.save(known)
        #expect(known.participants.map(\.role) == [.owner, .privateUser])
        #expect(known.participants.map(\.acceptanceStatus) == [.accepted, .pending])
    }

    @Test("SHARE-9: a share has one owner: whoever is made a second one makes the save fail")
    func secondOwner() async throws {
        let people = try await Sharers()
        let share = try await people.share()
        let database = people.annasPhone.privateDatabase
        share.participants.last?.role = .owner
        await #expect(throws: CKError.self) { try await database.save(share) }
        let left = try #require(try await database.record(for: share.recordID) as? CKShare)
        #expect(left.participants.map(\.role) == [.owner, .privateUser])
    }

    @Test("SHARE-10: a participant whose permission is unknown is not sent")
    func unknownPermission() async throws {
        let people = try await Sharers()
        let share = try await people.share()
        let ben = try #require(share.participants.last)
        ben.permission = .unknown
        let error = await #expect(throws: CKError.self) {
            try await people.annasPhone.privateDatabase.save(share)
        }
        #expect(error?.code == .invalidArguments)
        #expect(error?.localizedDescription.contains(ben.participantID) == true)
    }

    @Test("SHARE-14: a participant who deletes the share leaves; the owner's ends it")
    func endings() async throws {
        let people = try await Sharers()
        let share = try await people.share()
        try await people.accept(share)
        let shared = people.bensPhone.sharedDatabase
        try await shared.deleteRecord(
            withID: people.bensID(share.recordID.recordName))
        #expect(try await shared.allRecordZones() == [])
        let database = people.annasPhone.privateDatabase
        let left = try #require(try await database.record(for: share.recordID) as? CKShare)
        #expect(left.participants.map(\.role) == [.owner])

        let list = try await database.record(for: people.id("list"))
        let results = try await database.modifyRecords(
            saving: [list], deleting: [share.recordID])
        _ = try results.saveResults.only(list.recordID)
        #expect(list.share == nil)
        let error = await #expect(throws: CKError.self) {
            try await people.bensPhone.open(shareURL: #require(share.url))
        }
        #expect(error?.code == .unknownItem)
    }

    @Test(
        "SHARE-14: the owner deletes root and share in one batch, in any order; it is gone for all",
        arguments: [["share", "list"], ["list", "share"]])
    func rootAndShare(order: [String]) async throws {
        let people = try await Sharers()
        let share = try await people.share()
        try await people.accept(share)
        try await people.cloud.settle()
        let token = try await people.bensLaptop.sharedDatabase.databaseChanges(since: nil)
            .changeToken
        let database = people.annasPhone.privateDatabase
        // Items go before or after what they are below: that is one batch, too.
        let ids = (order + ["milk", "bread"]).map {
            $0 == "share" ? share.recordID : people.id($0)
        }
        let results = try await database.modifyRecords(saving: [], deleting: ids)
        #expect(Set(results.deleteResults.keys) == Set(ids))
        for (_, result) in results.deleteResults { try result.get() }
        try await people.cloud.settle()
        let left = try await people.annasLaptop.privateDatabase.recordZoneChanges(
            inZoneWith: people.zoneID, since: nil)
        #expect(left.modificationResultsByID.keys.map(\.recordName) == ["other"])
        let zoneID = try await people.bensID("list").zoneID
        let changes = try await people.bensLaptop.sharedDatabase.databaseChanges(since: token)
        #expect(changes.deletions.map(\.zoneID) == [zoneID])
        let error = await #expect(throws: CKError.self) {
            try await people.bensPhone.open(shareURL: #require(share.url))
        }
        #expect(error?.code == .unknownItem)
    }

    @Test(
        "SHARE-13, SHARE-14: a participant who deletes root and share in one batch stays, and so do both",
        arguments: [["share", "list"], ["list", "share"]])
    func rootAndShareOfOthers(order: [String]) async throws {
        let people = try await Sharers()
        let share = try await people.share()
        try await people.accept(share)
        var ids: [CKRecord.ID] = []
        for name in order {
            ids.append(try await people.bensID(name == "share" ? share.recordID.recordName : name))
        }
        let results = try await people.bensPhone.sharedDatabase.modifyRecords(
            saving: [], deleting: ids)
        let codes = order.indices.map { index in
            #expect(throws: CKError.self) { try results.deleteResults[ids[index]]?.get() }?.code
        }
        #expect(codes == order.map { $0 == "list" ? .permissionFailure : .batchRequestFailed })
        let list = try await people.bensLaptop.sharedDatabase.record(for: people.bensID("list"))
        #expect(list.share?.recordID.recordName == share.recordID.recordName)
    }

    @Test("SHARE-24: title, picture, kind and keys of the app's own travel with a share")
    func fields() async throws {
        let people = try await Sharers()
        let share = try await people.share()
        let picture = Data((0..<1024).map { UInt8(truncatingIfNeeded: $0) })
        share[CKShare.SystemFieldKey.thumbnailImageData] = picture
        share[CKShare.SystemFieldKey.shareType] = "org.example.list"
        share["color"] = "green"
        let database = people.annasPhone.privateDatabase
        try await database.save(share)
        func check(_ share: CKShare, _ place: String) {
            #expect(share[CKShare.SystemFieldKey.title] == "Our groceries", "\(place)")
            #expect(share[CKShare.SystemFieldKey.thumbnailImageData] == picture, "\(place)")
            #expect(share[CKShare.SystemFieldKey.shareType] == "org.example.list", "\(place)")
            #expect(share["color"] == "green", "\(place)")
        }
        // What is shown to whoever is asked whether to accept.
        let metadata = try await people.bensPhone.open(shareURL: #require(share.url))
        check(metadata.share, "the metadata")
        check(try await people.bensPhone.container().accept(metadata), "what was accepted")
        let bens = try await people.bensLaptop.sharedDatabase.record(
            for: people.bensID(share.recordID.recordName))
        check(try #require(bens as? CKShare), "the participant's record")

        // One goes; another is of the wrong type.
        let known = try await database.record(for: share.recordID)
        known[CKShare.SystemFieldKey.shareType] = nil
        try await database.save(known)
        let fetched = try await people.annasLaptop.privateDatabase.record(for: share.recordID)
        #expect(fetched[CKShare.SystemFieldKey.shareType] == nil)
        #expect(fetched[CKShare.SystemFieldKey.thumbnailImageData] == picture)
        known[CKShare.SystemFieldKey.thumbnailImageData] = "no picture"
        let error = await #expect(throws: CKError.self) { try await database.save(known) }
        #expect(error?.code == .invalidArguments)
        #expect(error?.localizedDescription.contains("cloudkit.thumbnailImageData") == true)
    }

    @Test("SHARE-11: 100 are invited; the 101st makes the save fail, and nobody is lost")
    func participantsAtMost() async throws {
        let people = try await Sharers()
        let share = try await people.share(nil)
        let container = people.annasPhone.container()
        let addresses = (1...101).map { "guest-\($0)@example.org" }
        for address in addresses.dropLast() {
            share.addParticipant(try await container.shareParticipant(forEmailAddress: address))
        }
        let database = people.annasPhone.privateDatabase
        try await database.save(share)
        share.addParticipant(
            try await container.shareParticipant(forEmailAddress: try #require(addresses.last)))
        let error = await #expect(throws: CKError.self) { try await database.save(share) }
        #expect(error?.code == .tooManyParticipants)
        let fetched = try await people.annasLaptop.privateDatabase.record(for: share.recordID)
        let kept = try #require(fetched as? CKShare)
        #expect(
            kept.participants.dropFirst().map { $0.userIdentity.lookupInfo?.emailAddress }
                == addresses.dropLast())
        // One who goes makes room for the other.
        let first = try #require(kept.participants.dropFirst().first)
        kept.removeParticipant(first)
        kept.addParticipant(
            try await container.shareParticipant(forEmailAddress: try #require(addresses.last)))
        try await database.save(kept)
        #expect(kept.participants.count == 101)
    }

    @Test("SHARE-22, ACCT-6: who is invited by an address need not permit to be found")
    func accountsOfAddresses() async throws {
        let people = try await Sharers()
        try await people.cloud.addAddress("ben@example.org", of: "ben")
        let container = people.annasPhone.container()
        let share = try await people.share(nil)
        // Whoever looks for addresses learns nothing of them before they invite somebody.
        for address in ["ben@example.org", "eva@example.org"] {
            let participant = try await container.shareParticipant(forEmailAddress: address)
            #expect(participant.userIdentity.userRecordID == nil)
            #expect(!participant.userIdentity.hasiCloudAccount)
            share.addParticipant(participant)
        }
        try await people.annasPhone.privateDatabase.save(share)
        let fetched = try await people.annasLaptop.privateDatabase.record(for: share.recordID)
        let participants = try #require(fetched as? CKShare).participants
        #expect(participants.map(\.userIdentity.hasiCloudAccount) == [true, true, false])
        #expect(
            participants.map { $0.userIdentity.lookupInfo?.emailAddress } == [
                nil, "ben@example.org", "eva@example.org",
            ])
        try await people.accept(share)
        let list = try await people.bensPhone.sharedDatabase.record(for: people.bensID("list"))
        #expect(list["title"] == "Groceries")
    }

    @Test("SHARE-22: an address without an account makes a participant, an unknown user none")
    func lookups() async throws {
        let people = try await Sharers()
        let container = people.annasPhone.container()
        let byAddress = try await container.shareParticipant(forEmailAddress: "eva@example.org")
        #expect(!byAddress.userIdentity.hasiCloudAccount)
        #expect(byAddress.userIdentity.lookupInfo?.emailAddress == "eva@example.org")
        #expect(byAddress.permission == .readOnly)
        #expect(byAddress.role == .privateUser)
        #expect(byAddress.acceptanceStatus == .pending)
        let error = await #expect(throws: CKError.self) {
            try await container.shareParticipant(
                forUserRecordID: CKRecord.ID(recordName: "_nobody"))
        }
        #expect(error?.code == .unknownItem)
        let share = try await people.share()
        // The owner is named as records name them, and takes part already.
        let anna = CKRecord.ID(recordName: try await people.annasPhone.userRecordName())
        let own = try await container.shareParticipant(forUserRecordID: anna)
        #expect(own.userIdentity.userRecordID?.recordName == CKCurrentUserDefaultName)
        share.addParticipant(own)
        #expect(share.participants.map(\.role) == [.owner, .privateUser])
        share.addParticipant(byAddress)
        try await people.annasPhone.privateDatabase.save(share)
        let lookup = share.participants.last?.userIdentity.lookupInfo
        #expect(lookup?.emailAddress == "eva@example.org")
    }

    @Test("SHARE-16: each share is accepted by itself, what failed is named by its URL")
    func operations() async throws {
        let people = try await Sharers()
        let share = try await people.share()
        let url = try #require(share.url)
        let wrong = url.deletingLastPathComponent().appendingPathComponent("0aBcDeFgHiJkLmNoPq")
        // Another share, which ends before it is accepted.
        let database = people.annasPhone.privateDatabase
        let other = try await database.record(for: people.id("other"))
        let ended = CKShare(rootRecord: other)
        ended.addParticipant(try await people.ben())
        _ = try await database.modifyRecords(saving: [other, ended], deleting: [])
        let endedURL = try #require(ended.url)
        let container = people.bensPhone.container()
        let results = try await container.shareMetadatas(for: [wrong, url, endedURL])
        #expect(throws: CKError.self) { try results[wrong]?.get() }
        let metadatas = try [endedURL, url].map { try #require(try results[$0]?.get()) }
        try await database.deleteRecord(withID: ended.recordID)
        let outcome = await withCheckedContinuation { continuation in
            let operation = CKAcceptSharesOperation(shareMetadatas: metadatas)
            nonisolated(unsafe) var accepted: [URL?: Result<CKShare, any Error>] = [:]
            operation.perShareResultBlock = { accepted[$0.share.url] = $1 }
            operation.acceptSharesResultBlock = { result in
                continuation.resume(returning: (accepted, result))
            }
            container.add(operation)
        }
        try outcome.1.get()
        #expect(outcome.0.count == 2)
        let accepted = try #require(try outcome.0[url]?.get())
        #expect(accepted.currentUserParticipant?.acceptanceStatus == .accepted)
        let failure = #expect(throws: CKError.self) { try outcome.0[endedURL]?.get() }
        #expect(failure?.code == .unknownItem)

        let old: any OldAcceptance = Acceptance()
        let partial = await old.accept(metadatas, in: container) as? CKError
        #expect(partial?.code == .partialFailure)
        #expect(partial?.partialErrorsByItemID?.count == 1)
        let ofURL = partial?.partialErrorsByItemID?[endedURL] as? CKError
        #expect(ofURL?.code == .unknownItem)

        let elsewhere = URL(string: "https://example.org/elsewhere")
        let error = await #expect(throws: CKError.self) {
            try await people.bensPhone.open(shareURL: #require(elsewhere))
        }
        #expect(error?.code == .invalidArguments)
    }

    @Test("SHARE-16, SHARE-18: a share is accepted in its container, from whichever it was found")
    func otherContainer() async throws {
        let people = try await Sharers()
        let share = try await people.share()
        let url = try #require(share.url)
        let elsewhere = people.bensPhone.container("iCloud.org.example.elsewhere")
        let metadata = try await elsewhere.shareMetadata(for: url)
        #expect(metadata.containerIdentifier == "iCloud.org.example.lists")
        let accepted = try await elsewhere.accept(metadata)
        #expect(accepted.currentUserParticipant?.acceptanceStatus == .accepted)
        // As Ben names himself there.
        #expect(
            accepted.currentUserParticipant?.userIdentity.userRecordID?.recordName
                == CKCurrentUserDefaultName)
        let list = try await people.bensPhone.sharedDatabase.record(for: people.bensID("list"))
        #expect(list["title"] == "Groceries")
    }
}

/// The deprecated end of an operation, called through a protocol whose requirements are not.
private protocol OldAcceptance {
    func accept(_ metadatas: [CKShare.Metadata], in container: CKContainer) async -> (any Error)?
}

private struct Acceptance: OldAcceptance {
    @available(*, deprecated)
    func accept(_ metadatas: [CKShare.Metadata], in container: CKContainer) async -> (any Error)? {
        await withCheckedContinuation { continuation in
            let operation = CKAcceptSharesOperation(shareMetadatas: metadatas)
            operation.acceptSharesCompletionBlock = { continuation.resume(returning: $0) }
            container.add(operation)
        }
    }
}

extension Dictionary {
    /// The value of an item that was asked for, or why there is none.
    fileprivate func only<Item>(_ id: Key) throws -> Item where Value == Result<Item, any Error> {
        try #require(self[id]).get()
    }
}
