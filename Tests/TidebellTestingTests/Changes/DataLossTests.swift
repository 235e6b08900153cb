// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Zones that disappear", .finishesClouds)
struct DataLossTests {
    private let second = CKRecordZone.ID(zoneName: "Second")

    /// Fetches database changes and returns what each block received.
    private func fetch(
        _ database: CKDatabase,
        since token: CKServerChangeToken,
        withSpecialBlocks: Bool
    ) async -> [String] {
        let log = Log<String>()
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
        operation.recordZoneWithIDWasDeletedBlock = { log.append("deleted \($0.zoneName)") }
        if withSpecialBlocks {
            operation.recordZoneWithIDWasPurgedBlock = { log.append("purged \($0.zoneName)") }
            operation.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = {
                log.append("reset \($0.zoneName)")
            }
        }
        await database.run(operation)
        return log.entries.sorted()
    }

    private func home() async throws -> (Household, CKServerChangeToken) {
        let home = try await Household()
        try await home.laptop.privateDatabase.save(CKRecordZone(zoneID: second))
        let token = try await home.phone.privateDatabase.databaseChanges(since: nil).changeToken
        return (home, token)
    }

    @Test(
        "T-17, TOK-7, TOK-8, TOK-9: purged zones go to the purged block, else to the deleted block")
    func purged() async throws {
        let (home, token) = try await home()
        try await home.cloud.purgeData(of: "anna")
        let database = home.phone.privateDatabase
        #expect(
            await fetch(database, since: token, withSpecialBlocks: true)
                == ["purged Feed", "purged Second"]
        )
        #expect(
            await fetch(database, since: token, withSpecialBlocks: false)
                == ["deleted Feed", "deleted Second"]
        )
        let deletions = try await database.databaseChanges(since: token).deletions
        #expect(deletions.map(\.reason) == [.purged, .purged])
    }

    @Test(
        "T-17, TOK-7, TOK-8, TOK-10: zones lost to a reset of encrypted data go to the block for it"
    )
    func encryptedDataReset() async throws {
        let (home, token) = try await home()
        try await home.cloud.resetEncryptedData(of: "anna")
        let database = home.phone.privateDatabase
        #expect(
            await fetch(database, since: token, withSpecialBlocks: true)
                == ["reset Feed", "reset Second"]
        )
        #expect(
            await fetch(database, since: token, withSpecialBlocks: false)
                == ["deleted Feed", "deleted Second"]
        )
    }

    @Test(
        "ZONE-12, TOK-23: after a purge writes and fetches fail with userDeletedZone until the zone is saved anew"
    )
    func writesAfterPurge() async throws {
        let (home, _) = try await home()
        try await home.cloud.purgeData(of: "anna")
        let database = home.phone.privateDatabase
        #expect(await ckCode { try await database.save(item("a")) } == .userDeletedZone)
        let fetched = await ckCode {
            _ = try await database.recordZoneChanges(inZoneWith: Household.feed, since: nil)
        }
        #expect(fetched == .userDeletedZone)
        try await database.save(CKRecordZone(zoneID: Household.feed))
        try await database.save(item("a"))
    }

    @Test(
        "TOK-23: after a reset of encrypted data a missing zone is zoneNotFound with the mark of the reset"
    )
    func writesAfterReset() async throws {
        let (home, _) = try await home()
        try await home.cloud.resetEncryptedData(of: "anna")
        let database = home.phone.privateDatabase
        let onSave = await ckError { try await database.save(item("a")) }
        let onFetch = await ckError {
            _ = try await database.recordZoneChanges(inZoneWith: Household.feed, since: nil)
        }
        for error in [onSave, onFetch] {
            #expect(error?.code == .zoneNotFound)
            #expect(error?.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true)
        }
        // A zone that was just deleted has no such mark.
        try await database.save(CKRecordZone(zoneID: Household.feed))
        try await database.deleteRecordZone(withID: Household.feed)
        let deleted = await ckError { try await database.save(item("a")) }
        #expect(deleted?.code == .zoneNotFound)
        #expect(deleted?.userInfo[CKErrorUserDidResetEncryptedDataKey] == nil)
    }

    @Test("SUB-54: a purge fires database subscriptions on every device")
    func purgeFires() async throws {
        let (home, _) = try await home()
        let subscription = CKDatabaseSubscription(subscriptionID: "all")
        try await home.subscribe(subscription)
        try await home.cloud.purgeData(of: "anna")
        #expect(try await home.phone.nextNotification() is CKDatabaseNotification)
        #expect(try await home.laptop.nextNotification() is CKDatabaseNotification)
        try await home.other.expectNoPushes()
    }
}
