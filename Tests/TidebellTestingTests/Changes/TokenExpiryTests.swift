// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Expiry of change tokens", .finishesClouds)
struct TokenExpiryTests {
    private let month = Duration.seconds(31 * 24 * 3600)

    @Test(
        "T-17, TOK-21, TOK-22: a zone token from before forgotten deletions is expired; a fetch without one is complete"
    )
    func zoneToken() async throws {
        let home = try await Household()
        let (phone, laptop) = (home.phone.privateDatabase, home.laptop.privateDatabase)
        _ = try await laptop.modifyRecords(saving: [item("a"), item("b")], deleting: [])
        let token = try await phone.recordZoneChanges(inZoneWith: Household.feed, since: nil)
            .changeToken
        try await laptop.deleteRecord(withID: itemID("a"))
        let later = try await phone.recordZoneChanges(inZoneWith: Household.feed, since: token)
        #expect(later.deletions.map(\.recordID) == [itemID("a")])

        await home.cloud.clock.jump(by: month)
        try await home.cloud.settle()
        let old = await ckCode {
            _ = try await phone.recordZoneChanges(inZoneWith: Household.feed, since: token)
        }
        #expect(old == .changeTokenExpired)
        let fresh = try await phone.recordZoneChanges(inZoneWith: Household.feed, since: nil)
        #expect(Array(fresh.modificationResultsByID.keys) == [itemID("b")])
        // A device that has seen the deletion needs nothing that was forgotten.
        let upToDate = await ckCode {
            _ = try await phone.recordZoneChanges(
                inZoneWith: Household.feed,
                since: later.changeToken
            )
        }
        #expect(upToDate == nil)
    }

    @Test("TOK-22: a token stays valid for as long as nothing it needs was forgotten")
    func quietZone() async throws {
        let home = try await Household()
        let phone = home.phone.privateDatabase
        try await phone.save(item("a"))
        let token = try await phone.recordZoneChanges(inZoneWith: Household.feed, since: nil)
            .changeToken
        await home.cloud.clock.jump(by: month * 12)
        try await home.cloud.settle()
        try await home.laptop.privateDatabase.save(item("b"))
        let changes = try await phone.recordZoneChanges(inZoneWith: Household.feed, since: token)
        #expect(Array(changes.modificationResultsByID.keys) == [itemID("b")])
    }

    @Test("T-17, TOK-22: a database token from before forgotten zone deletions is expired")
    func databaseToken() async throws {
        let home = try await Household()
        let (phone, laptop) = (home.phone.privateDatabase, home.laptop.privateDatabase)
        let token = try await phone.databaseChanges(since: nil).changeToken
        try await laptop.deleteRecordZone(withID: Household.feed)
        await home.cloud.clock.jump(by: month)
        try await home.cloud.settle()
        #expect(
            await ckCode { _ = try await phone.databaseChanges(since: token) }
                == .changeTokenExpired
        )
        #expect(try await phone.databaseChanges(since: nil).modifications.isEmpty)
    }
}
