// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

/// What small apps do all day, in the form they do it: between launches they keep
/// archives, and what they fetch they compare with what they saved.
@Suite("Apps from real life", .finishesClouds)
struct RealLifeTests {
    @Test("SAVE-3, SAVE-23: one record under a fixed name is overwritten by whoever comes last")
    func lastNameWins() async throws {
        let home = try await Household()
        let id = CKRecord.ID(recordName: "lastPerson")
        for (device, name) in [(home.phone, "Anna"), (home.laptop, "Ben"), (home.phone, "Cem")] {
            let record = CKRecord(recordType: "Person", recordID: id)
            record["name"] = name
            let (saved, _) = try await device.privateDatabase.modifyRecords(
                saving: [record], deleting: [], savePolicy: .allKeys
            )
            _ = try #require(try saved[id]?.get())
            let read = try await home.laptop.privateDatabase.record(for: id)
            #expect(read["name"] as? String == name)
        }
        #expect(try await home.laptop.privateDatabase.deleteRecord(withID: id) == id)
        let code = await ckCode { _ = try await home.phone.privateDatabase.record(for: id) }
        #expect(code == .unknownItem)
    }

    @Test("TOK-1, PUSH-1: a list is kept by a token in an archive and pushes of its zone")
    func contactList() async throws {
        let home = try await Household()
        let subscription = CKRecordZoneSubscription(
            zoneID: Household.feed, subscriptionID: "changes-subscription-id")
        // Each device looks for the subscription first and makes it only once.
        for device in [home.phone, home.laptop] {
            guard
                (try? await device.privateDatabase.subscription(for: "changes-subscription-id"))
                    == nil
            else { continue }
            subscription.notificationInfo = .silent
            _ = try await device.privateDatabase.modifySubscriptions(
                saving: [subscription], deleting: [])
        }
        var phone = ContactList(database: home.phone.privateDatabase)
        try await phone.fetchChanges()
        let names = (1...3).map { "contact \($0)" }
        var ids: [CKRecord.ID] = []
        for name in names {
            let record = CKRecord(
                recordType: "Contact", recordID: CKRecord.ID(zoneID: Household.feed))
            record["name"] = name
            ids.append(try await home.laptop.privateDatabase.save(record).recordID)
            let push = try await home.phone.nextNotification() as? CKRecordZoneNotification
            #expect(push?.subscriptionID == "changes-subscription-id")
            #expect(push?.recordZoneID == Household.feed)
            try await phone.fetchChanges()
        }
        #expect(phone.names == names)
        try await home.laptop.privateDatabase.deleteRecord(withID: ids[1])
        let push = try await home.phone.nextNotification()
        #expect(push?.subscriptionID == "changes-subscription-id")
        try await phone.fetchChanges()
        #expect(phone.names == ["contact 1", "contact 3"])
        #expect(phone.fetchedCount == 3)
        try await home.laptop.expectNoPushes()
    }

    @Test("REC-9, REC-11: encrypted fields and kept system fields go from device to device")
    func encryptedContact() async throws {
        let home = try await Household()
        let born = Date(timeIntervalSinceReferenceDate: 812_345_678.123_456_7)
        let record = item("contact", "Anna", type: "Contact")
        record.encryptedValues["phoneNumber"] = "555-123-4567"
        record.encryptedValues["born"] = born
        let saved = try await home.laptop.privateDatabase.save(record)
        // The phone changes it with nothing but the system fields it kept.
        let fetched = try await home.phone.privateDatabase.record(for: saved.recordID)
        #expect(fetched.encryptedValues["phoneNumber"] as? String == "555-123-4567")
        #expect(fetched.encryptedValues["born"] as? Date == born)
        #expect(fetched["phoneNumber"] == nil)
        let kept = try #require(try keptSystemFields(of: fetched))
        kept.encryptedValues["phoneNumber"] = "555-765-4321"
        try await home.phone.privateDatabase.save(kept)
        let again = try await home.laptop.privateDatabase.record(for: saved.recordID)
        #expect(again.encryptedValues["phoneNumber"] as? String == "555-765-4321")
        #expect(again.encryptedValues["born"] as? Date == born)
        #expect(again["title"] as? String == "Anna")
    }

    @Test("ERR-20, ERR-35, ZONE-5: an app that looks before it makes sets itself up once")
    func setUpTwice() async throws {
        let cloud = try await TestCloud(container: "iCloud.org.example.feed")
        let device = try await cloud.device(user: "anna")
        let database = device.privateDatabase
        let zoneID = CKRecordZone.ID(zoneName: "AppData", ownerName: CKCurrentUserDefaultName)
        var made: [String] = []
        for _ in 1...3 {
            #expect(try await device.container().accountStatus() == .available)
            do {
                _ = try await database.recordZone(for: zoneID)
            } catch let error as CKError
                where error.code == .zoneNotFound || error.code == .unknownItem
            {
                try await database.save(CKRecordZone(zoneID: zoneID))
                made.append("zone")
            }
            let found = try await database.subscriptions(for: ["app-changes"])["app-changes"]
            if (try? found?.get()) == nil {
                let subscription = CKDatabaseSubscription(subscriptionID: "app-changes")
                subscription.notificationInfo = .silent
                try await database.save(subscription)
                made.append("subscription")
            }
        }
        #expect(made == ["zone", "subscription"])
    }

    @Test("ERR-23, SAVE-2: a conflict is merged into the server's record, which is saved")
    func mergedConflict() async throws {
        let home = try await Household()
        try await home.laptop.privateDatabase.save(item("a", "one"))
        let mine = try await home.phone.privateDatabase.record(for: itemID("a"))
        let theirs = try await home.laptop.privateDatabase.record(for: itemID("a"))
        theirs["title"] = "theirs"
        theirs["place"] = "harbour"
        try await home.laptop.privateDatabase.save(theirs)
        mine["title"] = "mine"
        do {
            try await home.phone.privateDatabase.save(mine)
            Issue.record("no conflict")
        } catch let error as CKError where error.code == .serverRecordChanged {
            let server = try #require(error.serverRecord)
            #expect(server["title"] as? String == "theirs")
            #expect(error.clientRecord?["title"] as? String == "mine")
            for key in mine.changedKeys() { server[key] = mine[key] }
            try await home.phone.privateDatabase.save(server)
        }
        let read = try await home.laptop.privateDatabase.record(for: itemID("a"))
        #expect(read["title"] as? String == "mine")
        #expect(read["place"] as? String == "harbour")
    }

    /// Returns the record an app has at its next launch.
    private func keptSystemFields(of record: CKRecord) throws -> CKRecord? {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        return CKRecord(coder: unarchiver)
    }
}

/// A list of names that is launched anew for each fetch: its token goes through an archive.
private struct ContactList {
    let database: CKDatabase
    private var contacts: [String: String] = [:]
    private var keptToken: Data?
    private(set) var fetchedCount = 0

    init(database: CKDatabase) {
        self.database = database
    }

    var names: [String] { contacts.values.sorted() }

    mutating func fetchChanges() async throws {
        var moreComing = true
        while moreComing {
            let token = try keptToken.flatMap {
                try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: $0)
            }
            let changes = try await database.recordZoneChanges(
                inZoneWith: Household.feed, since: token)
            for (id, result) in changes.modificationResultsByID {
                contacts[id.recordName] = try result.get().record["name"]
                fetchedCount += 1
            }
            for deletion in changes.deletions { contacts[deletion.recordID.recordName] = nil }
            keptToken = try NSKeyedArchiver.archivedData(
                withRootObject: changes.changeToken, requiringSecureCoding: true)
            moreComing = changes.moreComing
        }
    }
}
