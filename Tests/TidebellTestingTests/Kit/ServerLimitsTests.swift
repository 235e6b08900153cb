// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Small limits", .finishesClouds)
struct ServerLimitsTests {
    @Test("each limit is one that an app meets, and what is within it goes through")
    func met() async throws {
        let cloud = try await TestCloud(
            limits: ServerLimits(
                itemsPerRequest: 2, itemsPerPage: 1, bytesPerRecord: 1000, bytesPerAsset: 10,
                bytesPerUser: 10_000, bytesPerPublicDatabase: 2000, zonesPerDatabase: 3,
                subscriptionsPerUser: 1
            ))
        let phone = try await cloud.device(user: "anna")
        FinishedClouds.add(cloud, phone)
        let (database, other) = (phone.privateDatabase, phone.publicDatabase)
        try await database.save(CKRecordZone(zoneID: Household.feed))

        let three = ["a", "b", "c"].map { item($0) }
        #expect(
            await ckCode { _ = try await database.modifyRecords(saving: three, deleting: []) }
                == .limitExceeded)
        _ = try await database.modifyRecords(saving: Array(three.prefix(2)), deleting: [])
        let page = try await database.recordZoneChanges(inZoneWith: Household.feed, since: nil)
        #expect(page.modificationResultsByID.count == 1 && page.moreComing)

        let long = String(repeating: "x", count: 1100)
        #expect(await ckCode { try await database.save(item("long", long)) } == .limitExceeded)
        let full = await ckCode {
            for index in 0..<20 {
                try await database.save(item("f\(index)", String(long.prefix(900))))
            }
        }
        #expect(full == .quotaExceeded)
        let fullForAll = await ckCode {
            for index in 0..<4 {
                try await other.save(item("f\(index)", String(long.prefix(900)), zone: .default))
            }
        }
        #expect(fullForAll == .quotaExceeded)

        try await phone.subscribe("one")
        #expect(await ckCode { try await phone.subscribe("two") } == .limitExceeded)
    }

    @Test("limits change while the cloud holds what it holds")
    func changed() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        FinishedClouds.add(cloud, phone)
        try await phone.privateDatabase.save(CKRecord(recordType: "Note"))
        try await cloud.set(ServerLimits(bytesPerUser: 1))
        #expect(
            await ckCode { try await phone.privateDatabase.save(CKRecord(recordType: "Note")) }
                == .quotaExceeded)
        try await cloud.set(ServerLimits())
        try await phone.privateDatabase.save(CKRecord(recordType: "Note"))
    }

    @Test("ERR-16: more requests in a second than are allowed are throttled, until the next second")
    func throttled() async throws {
        let cloud = try await TestCloud(limits: ServerLimits(requestsPerSecond: 5))
        let phone = try await cloud.device(user: "anna")
        FinishedClouds.add(cloud, phone)
        let code = await ckCode {
            for _ in 0..<6 { try await phone.privateDatabase.save(CKRecord(recordType: "Note")) }
        }
        #expect(code == .requestRateLimited)
        await cloud.clock.advance(by: .seconds(2))
        try await phone.privateDatabase.save(CKRecord(recordType: "Note"))
    }
}

extension TestDevice {
    /// Saves a silent database subscription.
    fileprivate func subscribe(_ id: String) async throws {
        let subscription = CKDatabaseSubscription(subscriptionID: id)
        subscription.notificationInfo = .silent
        try await privateDatabase.save(subscription)
    }
}
