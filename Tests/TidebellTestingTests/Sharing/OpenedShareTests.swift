// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Synchronization
import TestSupport
import Testing
import TidebellTesting

@Suite("Opening the URL of a share", .finishesClouds) struct OpenedShareTests {
    @Test(
        "SHARE-16: the app gets the share that its user opens, and accepts it; on that device only")
    func handler() async throws {
        let people = try await Sharers()
        let share = try await people.share()
        let opened = Mutex<[String]>([])
        try await people.bensPhone.run {
            CKContainer.registerForOpenedShares { _ in Issue.record("it was replaced") }
            CKContainer.registerForOpenedShares { metadata in
                opened.withLock { $0.append(metadata.share.recordID.recordName) }
                await #expect(throws: Never.self) {
                    try await CKContainer(identifier: metadata.containerIdentifier).accept(metadata)
                }
            }
            // The app that was started with the link of the page behind the URL does the same.
            let metadata = try await CKContainer.openShare(at: #require(share.url))
            #expect(metadata.participantStatus == .pending)
        }
        #expect(opened.withLock { $0 } == [share.recordID.recordName])
        #expect(try await people.bensLaptop.sharedDatabase.allRecordZones().count == 1)

        // A laptop without a handler, and the phone once more.
        let again = try await people.bensLaptop.open(shareURL: #require(share.url))
        #expect(again.participantStatus == .accepted)
        #expect(opened.withLock(\.count) == 1)
        try await people.bensPhone.open(shareURL: #require(share.url))
        #expect(opened.withLock(\.count) == 2)
    }

    @Test("SHARE-19: of a share that is closed to its user the app hears nothing")
    func closed() async throws {
        let people = try await Sharers()
        let share = try await people.share(nil)
        await people.bensPhone.run {
            CKContainer.registerForOpenedShares { _ in Issue.record("there is nothing to open") }
            let error = await #expect(throws: CKError.self) {
                try await CKContainer.openShare(at: #require(share.url))
            }
            #expect(error?.code == .unknownItem)
        }
    }
}
