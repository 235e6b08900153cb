// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Change tokens", .finishesClouds)
struct ChangeTokenTests {
    private func zoneToken(
        _ device: TestDevice,
        zone: CKRecordZone.ID = Household.feed
    ) async throws -> CKServerChangeToken {
        try await device.privateDatabase.recordZoneChanges(inZoneWith: zone, since: nil)
            .changeToken
    }

    private func databaseToken(_ device: TestDevice) async throws -> CKServerChangeToken {
        try await device.privateDatabase.databaseChanges(since: nil).changeToken
    }

    private func zoneCode(
        _ device: TestDevice,
        zone: CKRecordZone.ID = Household.feed,
        since token: CKServerChangeToken?
    ) async -> CKError.Code? {
        await ckCode {
            _ = try await device.privateDatabase.recordZoneChanges(inZoneWith: zone, since: token)
        }
    }

    private func databaseCode(
        _ device: TestDevice,
        since token: CKServerChangeToken?
    ) async -> CKError.Code? {
        await ckCode { _ = try await device.privateDatabase.databaseChanges(since: token) }
    }

    @Test("TOK-1: a token that was archived and read back goes on where it stood")
    func archived() async throws {
        let home = try await Household()
        let token = try await zoneToken(home.phone)
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: token,
            requiringSecureCoding: true
        )
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(
                ofClass: CKServerChangeToken.self,
                from: archive
            )
        )
        #expect(read == token)
        try await home.laptop.privateDatabase.save(item("a"))
        let changes = try await home.phone.privateDatabase.recordZoneChanges(
            inZoneWith: Household.feed,
            since: read
        )
        #expect(Array(changes.modificationResultsByID.keys) == [itemID("a")])
    }

    @Test("T-17, TOK-2, TOK-3: tokens of databases and zones are not interchangeable")
    func families() async throws {
        let home = try await Household()
        let zone = try await zoneToken(home.phone)
        let database = try await databaseToken(home.phone)
        #expect(await zoneCode(home.phone, since: database) == .changeTokenExpired)
        #expect(await databaseCode(home.phone, since: zone) == .changeTokenExpired)
        #expect(await zoneCode(home.phone, since: zone) == nil)
        #expect(await databaseCode(home.phone, since: database) == nil)
    }

    @Test("T-17, TOK-3: a token of another user, zone or environment is expired")
    func foreignTokens() async throws {
        let home = try await Household()
        let second = CKRecordZone.ID(zoneName: "Second")
        try await home.phone.privateDatabase.save(CKRecordZone(zoneID: second))
        let released = try await home.cloud.device(user: "anna", environment: .production)
        try await released.privateDatabase.save(CKRecordZone(zoneID: Household.feed))

        let zone = try await zoneToken(home.phone)
        #expect(await zoneCode(home.phone, zone: second, since: zone) == .changeTokenExpired)
        #expect(await zoneCode(home.other, since: zone) == .changeTokenExpired)
        #expect(await zoneCode(released, since: zone) == .changeTokenExpired)
        let database = try await databaseToken(home.phone)
        #expect(await databaseCode(home.other, since: database) == .changeTokenExpired)
        #expect(await databaseCode(released, since: database) == .changeTokenExpired)
        let shared = await ckCode {
            _ = try await home.phone.container().sharedCloudDatabase.databaseChanges(
                since: database)
        }
        #expect(shared == .changeTokenExpired)
        // The user's other device may use them: they are of the same database.
        #expect(await zoneCode(home.laptop, since: zone) == nil)
    }

    @Test("TOK-3: tokens of one cloud are expired in another")
    func otherServer() async throws {
        let home = try await Household()
        let away = try await TestCloud(container: "iCloud.org.example.feed", seed: 2)
        let phone = try await away.device(user: "anna")
        try await phone.privateDatabase.save(CKRecordZone(zoneID: Household.feed))
        let token = try await zoneToken(home.phone)
        #expect(await zoneCode(phone, since: token) == .changeTokenExpired)
    }

    @Test("TOK-4: the public database has no change tracking")
    func publicDatabase() async throws {
        let home = try await Household()
        let database = home.phone.publicDatabase
        let ofDatabase = await ckCode { _ = try await database.databaseChanges(since: nil) }
        #expect(ofDatabase == .invalidArguments)
        let ofZone = await ckCode {
            _ = try await database.recordZoneChanges(inZoneWith: .default, since: nil)
        }
        #expect(ofZone == .invalidArguments)
    }

    @Test("TOK-5: neither has the private default zone, and database changes never name it")
    func defaultZone() async throws {
        let home = try await Household()
        try await home.phone.privateDatabase.save(item("a", zone: .default))
        #expect(await zoneCode(home.phone, zone: .default, since: nil) == .invalidArguments)
        let changes = try await home.phone.privateDatabase.databaseChanges(since: nil)
        #expect(changes.modifications.map(\.zoneID) == [Household.feed])
    }

    @Test(
        "TOK-21, TOK-22: a token of a zone that was deleted and made again is expired; without one all is fetched"
    )
    func recreatedZone() async throws {
        let home = try await Household()
        let database = home.laptop.privateDatabase
        let token = try await zoneToken(home.phone)
        try await database.deleteRecordZone(withID: Household.feed)
        #expect(await zoneCode(home.phone, since: token) == .zoneNotFound)
        try await database.save(CKRecordZone(zoneID: Household.feed))
        try await database.save(item("new"))
        #expect(await zoneCode(home.phone, since: token) == .changeTokenExpired)
        let changes = try await home.phone.privateDatabase.recordZoneChanges(
            inZoneWith: Household.feed,
            since: nil
        )
        #expect(Array(changes.modificationResultsByID.keys) == [itemID("new")])
    }

    @Test("TOK-23: a zone that does not exist is zoneNotFound, for that zone alone")
    func missingZone() async throws {
        let home = try await Household()
        let missing = CKRecordZone.ID(zoneName: "Nowhere")
        #expect(await zoneCode(home.phone, zone: missing, since: nil) == .zoneNotFound)

        let codes = Log<String>()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [Household.feed, missing],
            configurationsByRecordZoneID: [:]
        )
        operation.recordZoneFetchResultBlock = { zoneID, result in
            codes.append("\(zoneID.zoneName) \(result.ckCode?.rawValue ?? 0)")
        }
        await home.phone.privateDatabase.run(operation)
        #expect(codes.entries.sorted() == ["Feed 0", "Nowhere 26"])
    }

    @Test("tokens stay valid across a restart of the server")
    func restart() async throws {
        let home = try await Household()
        let token = try await zoneToken(home.phone)
        try await home.laptop.privateDatabase.save(item("a"))
        try await home.cloud.restart()
        let changes = try await home.phone.privateDatabase.recordZoneChanges(
            inZoneWith: Household.feed,
            since: token
        )
        #expect(Array(changes.modificationResultsByID.keys) == [itemID("a")])
    }
}
