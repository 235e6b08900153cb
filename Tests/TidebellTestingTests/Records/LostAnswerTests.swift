// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Answers that are lost on their way", .finishesClouds)
struct LostAnswerTests {
    /// Saves on the laptop while the clock moves on to whatever is waited for; returns the error.
    private func save(_ record: CKRecord, on home: Household) async -> (any Error)? {
        await home.cloud.passingTime {
            do {
                try await home.laptop.privateDatabase.save(record)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test("ERR-43: a save whose answer was lost is asked for again, done once and pushed once")
    func doneOnce() async throws {
        let home = try await Household()
        try await home.subscribe(CKDatabaseSubscription(subscriptionID: "all"))
        home.laptop.loseNextAnswers(2)
        let record = item("a", "hello")
        // Done twice, it would conflict with itself: the record has no tag yet.
        #expect(await save(record, on: home) == nil)
        let stored = try await home.phone.privateDatabase.record(for: itemID("a"))
        #expect(stored.recordChangeTag == record.recordChangeTag)
        _ = try await home.phone.nextPush()
        try await home.phone.expectNoPushes()
    }

    @Test("ERR-13: after three attempts the app gets the error; the save was done all the same")
    func givenUp() async throws {
        let home = try await Household()
        home.laptop.loseNextAnswers(3)
        let error = await save(item("a"), on: home) as? CKError
        #expect(error?.code == .networkFailure)
        let stored = try await home.phone.privateDatabase.record(for: itemID("a"))
        #expect(stored.recordChangeTag != nil)
    }
}
