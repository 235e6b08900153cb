// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Faults of requests", .finishesClouds)
struct RequestFaultTests {
    /// The codes that a server, or the way to it, answers a save with, and what the app gets.
    private static let codes: [CKError.Code: CKError.Code] = Dictionary(
        uniqueKeysWithValues: (1...37).compactMap(CKError.Code.init).filter {
            $0 != .partialFailure && $0 != .networkFailure
                // The file is uploaded anew, and the save sent again.
                && $0 != .assetNotAvailable
        }.map { ($0, $0 == .managedAccountRestricted ? .notAuthenticated : $0) }
    )

    @Test("a save fails with any CKError, the wait asked for in it, and nothing is done")
    func anyCode() async throws {
        var got: [CKError.Code: CKError.Code] = [:]
        for code in Self.codes.keys {
            let home = try await Household()
            home.phone.inject(.error(code, retryAfter: .milliseconds(1500)), into: .modifyRecords)
            let error = await ckError { try await home.phone.privateDatabase.save(item("a")) }
            got[code] = error?.code
            if code != .networkUnavailable { #expect(error?.retryAfterSeconds == 1.5, "\(code)") }
            let missing = await ckCode {
                _ = try await home.laptop.privateDatabase.record(for: itemID("a"))
            }
            #expect(missing == .unknownItem, "\(code)")
        }
        #expect(got == Self.codes)
    }

    @Test("networkFailure is a connection that breaks: sent again twice, and then shown")
    func brokenConnection() async throws {
        let home = try await Household()
        home.phone.inject(.error(.networkFailure), into: .modifyRecords, times: 3)
        let error = await ckError {
            try await home.cloud.passingTime {
                _ = try await home.phone.privateDatabase.save(item("a"))
            }
        }
        #expect(error?.code == .networkFailure)
        #expect(
            await ckCode { _ = try await home.laptop.privateDatabase.record(for: itemID("a")) }
                == .unknownItem)
    }

    @Test(
        "ERR-52: a wait that was asked for holds for further requests of the kind until the clock is there"
    )
    func throttled() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        home.phone.inject(.rateLimited(retryAfter: .seconds(30)), into: .modifyRecords)
        #expect(await ckError { try await database.save(item("a")) }?.retryAfterSeconds == 30)
        await home.cloud.clock.advance(by: .seconds(10))
        #expect(await ckError { try await database.save(item("a")) }?.retryAfterSeconds == 20)
        await home.cloud.clock.advance(by: .seconds(20))
        try await database.save(item("a"))
    }

    @Test(
        "a fault meets requests of its kind, zone and record on its device, so often, and no others"
    )
    func whichRequests() async throws {
        let home = try await Household()
        let other = CKRecordZone.ID(zoneName: "Other")
        let database = home.phone.privateDatabase
        try await database.save(CKRecordZone(zoneID: other))
        home.phone.inject(.quotaExceeded, into: .modifyRecords.in(other), times: 2)
        home.phone.inject(.error(.badContainer), into: .fetchRecords.of(itemID("b")))
        #expect(
            try await home.cloud.dump().split(separator: "\n").suffix(3) == [
                "faults to come",
                "  quotaExceeded into modifyRecords.in(Other), 2 times, "
                    + "on the device \(home.phone.deviceID) of anna",
                "  badContainer into fetchRecords.of(b), 1 times, "
                    + "on the device \(home.phone.deviceID) of anna",
            ])
        try await database.save(item("a"))
        try await database.save(item("b"))
        try await home.laptop.privateDatabase.save(item("c", zone: other))
        _ = try await database.record(for: itemID("a"))
        for _ in 0..<2 {
            #expect(
                await ckCode { try await database.save(item("d", zone: other)) } == .quotaExceeded)
        }
        try await database.save(item("d", zone: other))
        #expect(await ckCode { _ = try await database.record(for: itemID("b")) } == .badContainer)
        _ = try await database.record(for: itemID("b"))
        #expect(try await !home.cloud.dump().contains("faults to come"))
    }

    @Test("a fault of the cloud meets whichever device asks first")
    func anyDevice() async throws {
        let home = try await Household()
        home.cloud.inject(.quotaExceeded, into: .modifyRecords)
        #expect(
            await ckCode { try await home.laptop.privateDatabase.save(item("a")) } == .quotaExceeded
        )
        try await home.phone.privateDatabase.save(item("a"))
    }

    @Test("a fault that did not happen fails the end of the test, unless it was removed")
    func leftOver() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        phone.inject(.zoneBusy(retryAfter: .seconds(3)), into: .modifyRecords)
        phone.inject(push: .lost, of: "all")
        cloud.inject(.lostAnswer)
        let error = await #expect(throws: TestCloudError.self) { try await cloud.finish() }
        #expect(
            error?.description == """
                Left over at the end of the test: a fault that did not happen: lostAnswer into any, \
                1 times, on any device; a fault that did not happen: zoneBusy, retry after 3.0 \
                seconds into modifyRecords, 1 times, on the device \(phone.deviceID) of anna; \
                a fault that did not happen: push lost of all, 1 times, on the device \
                \(phone.deviceID) of anna
                """)

        let other = try await TestCloud()
        let laptop = try await other.device(user: "anna")
        laptop.inject(.lostAnswer)
        other.inject(.lostAnswer)
        other.removeFaults()
        try await other.finish()
    }

    @Test("SAVE-15: of an atomic batch nothing is saved when one record fails")
    func atomic() async throws {
        let home = try await Household()
        let records = [item("a"), item("b")]
        home.phone.inject(.failing([itemID("b"): .serverRejectedRequest]), into: .modifyRecords)
        let (saved, _) = try await home.phone.privateDatabase.modifyRecords(
            saving: records, deleting: [])
        #expect(saved[itemID("a")]?.ckCode == .batchRequestFailed)
        #expect(saved[itemID("b")]?.ckCode == .serverRejectedRequest)
        #expect(
            await ckCode { _ = try await home.laptop.privateDatabase.record(for: itemID("a")) }
                == .unknownItem)
    }

    @Test("of a batch that is not atomic, and of look-ups, the other records succeed")
    func notAtomic() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let records = [item("a", "1"), item("b", "2"), item("c", "3")]
        home.phone.inject(.failing([itemID("b"): .zoneBusy]), into: .modifyRecords)
        let (saved, _) = try await database.modifyRecords(
            saving: records, deleting: [], atomically: false)
        #expect(
            saved.mapValues(\.ckCode) == [
                itemID("a"): nil, itemID("b"): .zoneBusy, itemID("c"): nil,
            ])
        home.laptop.inject(.failing([itemID("c"): .unknownItem]), into: .fetchRecords)
        let fetched = try await home.laptop.privateDatabase.records(for: [itemID("a"), itemID("c")])
        #expect(fetched[itemID("c")]?.ckCode == .unknownItem)
        #expect(try fetched[itemID("a")]?.get()["title"] == "1")
    }

    @Test("TOK-22: one zone's token is expired, the other zone's changes come")
    func expiredToken() async throws {
        let home = try await Household()
        let other = CKRecordZone.ID(zoneName: "Other")
        try await home.phone.privateDatabase.save(CKRecordZone(zoneID: other))
        try await home.phone.privateDatabase.save(item("a", zone: other))
        home.phone.inject(.expiredToken, into: .fetchZoneChanges.in(Household.feed))
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [Household.feed, other], configurationsByRecordZoneID: nil)
        let changed = Log<String>()
        let zones = Log<String>()
        operation.recordWasChangedBlock = { id, _ in changed.append(id.recordName) }
        operation.recordZoneFetchResultBlock = { id, result in
            zones.append("\(id.zoneName) \(result.ckCode.map { "\($0)" } ?? "fetched")")
        }
        await home.phone.privateDatabase.run(operation)
        #expect(changed.entries == ["a"])
        #expect(zones.entries.sorted() == ["Feed changeTokenExpired", "Other fetched"])
    }

    @Test("a page is short where it is asked for, and the rest comes")
    func shortPage() async throws {
        let home = try await Household()
        for name in ["a", "b"] { try await home.phone.privateDatabase.save(item(name)) }
        home.laptop.inject(.shortPage(1), into: .fetchZoneChanges)
        let database = home.laptop.privateDatabase
        let first = try await database.recordZoneChanges(inZoneWith: Household.feed, since: nil)
        #expect(first.modificationResultsByID.keys.map(\.recordName) == ["a"] && first.moreComing)
        let rest = try await database.recordZoneChanges(
            inZoneWith: Household.feed, since: first.changeToken)
        #expect(rest.modificationResultsByID.keys.map(\.recordName) == ["b"] && !rest.moreComing)
    }

    @Test("an answer that is slow comes when the clock is there; in time or not")
    func slow() async throws {
        let home = try await Household()
        home.phone.inject(.slow(.seconds(59)), into: .modifyRecords)
        try await home.cloud.passingTime {
            _ = try await home.phone.privateDatabase.save(item("a"))
        }
        #expect(home.cloud.clock.now.offset == .seconds(59))
        home.phone.inject(.slow(.seconds(61)), into: .modifyRecords)
        let error = await ckError {
            try await home.cloud.passingTime {
                _ = try await home.phone.privateDatabase.save(item("b"))
            }
        }
        #expect(error?.code == .networkFailure)
        #expect(home.cloud.clock.now.offset == .seconds(119))
    }

    @Test("files fail on their way up and down, and get through afterwards")
    func files() async throws {
        let home = try await AssetHome()
        home.phone.inject(.error(.quotaExceeded), into: .uploadAssets)
        let record = home.note(try home.files.write("f", "hello"))
        #expect(await ckCode { try await home.database.save(record) } == .quotaExceeded)
        try await home.database.save(record)
        home.phone.inject(.lostRequest, into: .downloadAssets)
        let fetched = try await home.cloud.passingTime {
            try await home.database.record(for: record.recordID)
        }
        #expect(try home.files.text(of: fetched["f"]) == "hello")
    }
}
