// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Record zones", .finishesClouds)
struct ZoneTests {
    @Test(
        "ZONE-1, ZONE-3, ZONE-7: the default zone exists unasked, without capabilities, in private and public"
    )
    func defaultZone() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        for database in [phone.privateDatabase, phone.publicDatabase] {
            let zones = try await database.allRecordZones()
            #expect(zones.map(\.zoneID) == [.default])
            #expect(zones.map(\.capabilities) == [[]])
            let zone = try await database.recordZone(for: .default)
            #expect(zone.capabilities == [])
        }
        try await phone.privateDatabase.save(item("a", zone: .default))
    }

    @Test(
        "ZONE-3: a saved or fetched custom zone has all capabilities, one that was not saved none")
    func capabilities() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        let all: CKRecordZone.Capabilities = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
        #expect(all.rawValue == 15)
        let new = CKRecordZone(zoneName: "A")
        #expect(new.capabilities == [])
        let saved = try await phone.privateDatabase.save(new)
        #expect(saved.capabilities == all)
        let fetched = try await phone.privateDatabase.recordZone(for: saved.zoneID)
        #expect(fetched.capabilities == all)
    }

    @Test("ZONE-2: custom zones in the public or shared database are badDatabase")
    func otherDatabases() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        for database in [phone.publicDatabase, phone.container().sharedCloudDatabase] {
            let error = await ckError { try await database.save(CKRecordZone(zoneName: "A")) }
            #expect(error?.code == .badDatabase)
            #expect(error?.localizedDescription.contains("private database only") == true)
        }
    }

    @Test(
        "ZONE-4: names with a leading underscore or longer than 255 characters are refused, 255 are fine"
    )
    func names() async throws {
        let cloud = try await TestCloud()
        let database = try await cloud.device(user: "anna").privateDatabase
        for name in ["_own", String(repeating: "z", count: 256), "Zür"] {
            let error = await ckError {
                let results = try await database.modifyRecordZones(
                    saving: [CKRecordZone(zoneName: name)],
                    deleting: []
                )
                for result in results.saveResults.values { _ = try result.get() }
            }
            #expect(error?.code == .invalidArguments, "\(name)")
        }
        try await database.save(CKRecordZone(zoneName: String(repeating: "z", count: 255)))
    }

    @Test("ZONE-5: saving a zone that exists does not clear it")
    func savingAgain() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.save(item("a", "kept"))
        try await home.laptop.privateDatabase.save(CKRecordZone(zoneID: Household.feed))
        #expect(try await database.record(for: itemID("a"))["title"] as? String == "kept")
    }

    @Test("ZONE-6: deleting a zone deletes all its records")
    func deleting() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        _ = try await database.modifyRecords(saving: [item("a"), item("b")], deleting: [])
        try await database.deleteRecordZone(withID: Household.feed)
        #expect(await ckCode { _ = try await database.record(for: itemID("a")) } == .zoneNotFound)
        try await database.save(CKRecordZone(zoneID: Household.feed))
        #expect(await ckCode { _ = try await database.record(for: itemID("a")) } == .unknownItem)
    }

    @Test(
        "ZONE-6: deleting one missing zone succeeds; among several it is reported as zoneNotFound")
    func deletingMissing() async throws {
        let cloud = try await TestCloud()
        let database = try await cloud.device(user: "anna").privateDatabase
        let missing = CKRecordZone.ID(zoneName: "Missing")
        #expect(try await database.deleteRecordZone(withID: missing) == missing)
        let handed = await withCheckedContinuation { continuation in
            database.delete(withRecordZoneID: missing) { zoneID, error in
                continuation.resume(returning: zoneID == missing && error == nil)
            }
        }
        #expect(handed)
        let results = try await database.modifyRecordZones(saving: [], deleting: [missing])
        #expect(results.deleteResults[missing]?.ckCode == .zoneNotFound)
    }

    @Test("ZONE-1: the default zone cannot be deleted")
    func deletingTheDefaultZone() async throws {
        let home = try await Household()
        let code = await ckCode {
            try await home.phone.privateDatabase.deleteRecordZone(withID: .default)
        }
        #expect(code == .invalidArguments)
    }

    @Test("ZONE-7: all zones come, custom ones and the default one; each user sees just their own")
    func allZones() async throws {
        let home = try await Household()
        try await home.laptop.privateDatabase.save(CKRecordZone(zoneName: "Second"))
        let zones = try await home.phone.privateDatabase.allRecordZones()
        #expect(zones.map(\.zoneID.zoneName).sorted() == ["Feed", "Second", "_defaultZone"])
        #expect(try await home.other.privateDatabase.allRecordZones().count == 2)
        #expect(try await home.phone.container().sharedCloudDatabase.allRecordZones() == [])
    }

    @Test("ZONE-8: zones of the own databases come back with the default owner name")
    func ownerName() async throws {
        let home = try await Household()
        let zone = try await home.phone.privateDatabase.recordZone(for: Household.feed)
        #expect(zone.zoneID == Household.feed)
        #expect(zone.zoneID.ownerName == CKCurrentUserDefaultName)
        let record = try await home.phone.privateDatabase.save(item("a"))
        #expect(record.recordID == itemID("a"))
        let changes = try await home.laptop.privateDatabase.databaseChanges(since: nil)
        #expect(changes.modifications.map(\.zoneID) == [Household.feed])
    }

    @Test("ZONE-8: one's own zone may be named by the user's record name; another's is not found")
    func explicitOwner() async throws {
        let home = try await Household()
        let name = try await home.phone.userRecordName()
        let own = CKRecordZone.ID(zoneName: "Feed", ownerName: name)
        try await home.phone.privateDatabase.save(item("a"))
        let read = try await home.phone.privateDatabase.record(for: itemID("a", zone: own))
        #expect(read.recordID.recordName == "a")
        let foreign = CKRecordZone.ID(
            zoneName: "Feed", ownerName: try await home.other.userRecordName())
        let code = await ckCode {
            _ = try await home.phone.privateDatabase.record(for: itemID("a", zone: foreign))
        }
        #expect(code == .zoneNotFound)
    }

    @available(*, deprecated)
    @Test("ZONE-11: zones succeed and fail alone; the old block gets partialFailure by zone ID")
    func perZoneResults() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let nowhere = CKRecordZone.ID(zoneName: "Nowhere")
        let results = try await database.modifyRecordZones(
            saving: [CKRecordZone(zoneName: "A")],
            deleting: [nowhere, Household.feed]
        )
        #expect(results.saveResults[CKRecordZone.ID(zoneName: "A")]?.ckCode == nil)
        #expect(results.deleteResults[nowhere]?.ckCode == .zoneNotFound)
        #expect(results.deleteResults[Household.feed]?.ckCode == nil)

        let log = Log<String>()
        let operation = CKModifyRecordZonesOperation(
            recordZonesToSave: [CKRecordZone(zoneName: "B")],
            recordZoneIDsToDelete: [nowhere]
        )
        operation.modifyRecordZonesCompletionBlock = { saved, deleted, error in
            let error = error as? CKError
            let part = error?.partialErrorsByItemID?[nowhere] as? CKError
            log.append(
                "saved \((saved ?? []).map(\.zoneID.zoneName)) deleted \((deleted ?? []).count)")
            log.append("\(error?.code.rawValue ?? 0) \(part?.code.rawValue ?? 0)")
        }
        await database.run(operation)
        #expect(log.entries == ["saved [\"B\"] deleted 0", "2 26"])
    }

    @Test("ZONE-13: more than 1,000 zones of a database are made and listed")
    func manyZones() async throws {
        let cloud = try await TestCloud()
        let database = try await cloud.device(user: "anna").privateDatabase
        let names = (0..<1100).map { "Zone\($0)" }
        for start in stride(from: 0, to: names.count, by: 400) {
            let zones = names[start..<min(start + 400, names.count)]
                .map { CKRecordZone(zoneName: $0) }
            let results = try await database.modifyRecordZones(saving: zones, deleting: [])
            #expect(results.saveResults.values.allSatisfy { $0.ckCode == nil })
        }
        let all = try await database.allRecordZones().map(\.zoneID.zoneName)
        #expect(Set(all) == Set(names + [CKRecordZone.default().zoneID.zoneName]))
        #expect(all.count == names.count + 1)
        let changes = try await database.databaseChanges(since: nil)
        #expect(!changes.modifications.isEmpty)
    }

    @Test("ZONE-9: zone.share is nil where nothing is shared")
    func noShare() async throws {
        let home = try await Household()
        let zone = try await home.phone.privateDatabase.recordZone(for: Household.feed)
        #expect(zone.share == nil)
    }
}
