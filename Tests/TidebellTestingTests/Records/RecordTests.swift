// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TestSupport
import Testing
import TidebellTesting

@Suite("Records on their way through the cloud", .finishesClouds)
struct RecordTests {
    @Test("REC-4: every type of value arrives as it was sent, alone and in lists")
    func valueTypes() async throws {
        let home = try await Household()
        let record = item("a", "text")
        record["int"] = Int64.max
        record["double"] = 2.5
        record["date"] = Date(timeIntervalSince1970: 1_700_000_000.123)
        record["data"] = Data([0, 1, 255])
        record["place"] = CLLocation(latitude: 48.2, longitude: 16.37)
        record["reference"] = CKRecord.Reference(recordID: itemID("b"), action: .none)
        record["texts"] = ["a", "b", "ü🔔"]
        record["ints"] = [1, -2, 3]
        record["dates"] = [Date(timeIntervalSince1970: 1)]
        try await home.laptop.privateDatabase.save(record)
        let read = try await home.phone.privateDatabase.record(for: itemID("a"))
        #expect(read["title"] as? String == "text")
        #expect(read["int"] as? Int64 == .max)
        #expect(read["double"] as? Double == 2.5)
        #expect(read["date"] as? Date == Date(timeIntervalSince1970: 1_700_000_000.123))
        #expect(read["data"] as? Data == Data([0, 1, 255]))
        let location = try #require(read["place"] as? CLLocation)
        #expect(location.coordinate.latitude == 48.2 && location.coordinate.longitude == 16.37)
        #expect((read["reference"] as? CKRecord.Reference)?.recordID == itemID("b"))
        #expect(read["texts"] as? [String] == ["a", "b", "ü🔔"])
        #expect(read["ints"] as? [Int] == [1, -2, 3])
        #expect(read["dates"] as? [Date] == [Date(timeIntervalSince1970: 1)])
        #expect(read.allKeys().sorted() == record.allKeys().sorted())
    }

    @Test("REC-4, REC-11: a date comes back equal to the one that was saved", arguments: [1, 2])
    func exactDates(seed: UInt64) async throws {
        let home = try await Household()
        var random = RandomTimes(seed: seed)
        let dates = (0..<200).map { _ in random.next() }
        let record = item("a", "dates")
        record["date"] = dates[0]
        record["dates"] = dates
        record.encryptedValues["secret"] = dates[1]
        record.encryptedValues["secrets"] = dates
        try await home.laptop.privateDatabase.save(record)
        let read = try await home.phone.privateDatabase.record(for: itemID("a"))
        #expect(read["date"] as? Date == dates[0], "seed \(seed)")
        #expect(read["dates"] as? [Date] == dates, "seed \(seed)")
        #expect(read.encryptedValues["secret"] as? Date == dates[1], "seed \(seed)")
        #expect(read.encryptedValues["secrets"] as? [Date] == dates, "seed \(seed)")
    }

    @Test("REC-5: an empty list cannot make a new field; once the field exists it is kept")
    func emptyList() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let empty = item("a")
        empty["tags"] = [String]()
        #expect(await ckCode { try await database.save(empty) } == .invalidArguments)
        let first = item("b")
        first["tags"] = ["x"]
        try await database.save(first)
        try await database.save(empty)
        let read = try await home.laptop.privateDatabase.record(for: itemID("a"))
        #expect((read["tags"] as? [String])?.isEmpty == true)
    }

    @Test("REC-7: a record made without ID is in the default zone under a UUID")
    func generatedID() async throws {
        let home = try await Household()
        let record = CKRecord(recordType: "FeedItem")
        try await home.laptop.privateDatabase.save(record)
        #expect(UUID(uuidString: record.recordID.recordName) != nil)
        let read = try await home.phone.privateDatabase.record(for: record.recordID)
        #expect(read.recordID.zoneID == .default)
    }

    @Test("REC-9: archived system fields are enough to save a change later")
    func systemFields() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let record = try await database.save(item("a", "1"))
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        let restored = try #require(CKRecord(coder: unarchiver))
        #expect(restored.allKeys() == [] && restored.changedKeys() == [])
        restored["title"] = "2"
        try await database.save(restored)
        let read = try await home.laptop.privateDatabase.record(for: itemID("a"))
        #expect(read["title"] as? String == "2")
    }

    @Test("REC-6: a record over 1 MB is limitExceeded")
    func tooLarge() async throws {
        let home = try await Household()
        let record = item("a", String(repeating: "x", count: 1_100_000))
        let error = await ckError { try await home.phone.privateDatabase.save(record) }
        #expect(error?.code == .limitExceeded)
        #expect(error?.localizedDescription.contains("record too large") == true)
    }

    @Test("REC-12, REC-13: fetching several zones at once gives each record its own result")
    func fetchSeveral() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.save(item("a"))
        try await database.save(item("b", zone: .default))
        let nowhere = CKRecordZone.ID(zoneName: "Nowhere")
        let ids = [
            itemID("a"), itemID("missing"), itemID("b", zone: .default), itemID("c", zone: nowhere),
        ]
        let results = try await database.records(for: ids)
        #expect(results.count == 4)
        #expect(ids.map { results[$0]?.ckCode } == [nil, .unknownItem, nil, .zoneNotFound])
    }

    @Test("LIMIT-1: more than 400 items in one operation are limitExceeded, 400 are not")
    func itemLimit() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let records = (0..<401).map { item("r\($0)") }
        let error = await ckError {
            _ = try await database.modifyRecords(saving: records, deleting: [])
        }
        #expect(error?.code == .limitExceeded)
        let results = try await database.modifyRecords(
            saving: Array(records.dropLast()),
            deleting: []
        )
        #expect(results.saveResults.values.allSatisfy { $0.ckCode == nil })
    }

    @Test("ACCT-3: without an account private data is notAuthenticated, public data can be read")
    func signedOut() async throws {
        let home = try await Household()
        try await home.phone.publicDatabase.save(item("news", "hello", zone: .default))
        let guest = try await home.cloud.device(user: nil)
        let newsID = itemID("news", zone: .default)
        let news = try await guest.publicDatabase.record(for: newsID)
        #expect(news["title"] as? String == "hello")
        #expect(
            await ckCode { try await guest.publicDatabase.save(item("x", zone: .default)) }
                == .notAuthenticated
        )
        #expect(
            await ckCode { _ = try await guest.privateDatabase.record(for: newsID) }
                == .notAuthenticated
        )
        #expect(try await guest.container().accountStatus() == .noAccount)
        #expect(try await home.phone.container().accountStatus() == .available)
    }

    @Test("ACCT-7: in the public database everybody reads, only the creator writes")
    func publicDatabase() async throws {
        let home = try await Household()
        let record = try await home.phone.publicDatabase.save(item("a", "anna", zone: .default))
        let read = try await home.other.publicDatabase.record(for: record.recordID)
        read["title"] = "ben"
        let error = await ckError { try await home.other.publicDatabase.save(read) }
        #expect(error?.code == .permissionFailure)
        #expect(error?.localizedDescription.contains("WRITE operation not permitted") == true)
        let code = await ckCode {
            try await home.other.publicDatabase.deleteRecord(withID: record.recordID)
        }
        #expect(code == .permissionFailure)
    }

    @Test("the completion-handler forms save, fetch and delete like the async ones")
    func completionHandlers() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let saved = await withCheckedContinuation { continuation in
            database.save(item("a", "old style")) { record, error in
                continuation.resume(
                    returning: "\(record?["title"] as? String ?? "-") \(error == nil)")
            }
        }
        #expect(saved == "old style true")
        let fetched = await withCheckedContinuation { continuation in
            database.fetch(withRecordID: itemID("a")) { record, error in
                continuation.resume(
                    returning: "\(record?["title"] as? String ?? "-") \(error == nil)")
            }
        }
        #expect(fetched == "old style true")
        let deleted = await withCheckedContinuation { continuation in
            database.delete(withRecordID: itemID("a")) { id, error in
                continuation.resume(returning: "\(id?.recordName ?? "-") \(error == nil)")
            }
        }
        #expect(deleted == "a true")
        let missing = await withCheckedContinuation { continuation in
            database.fetch(withRecordID: itemID("a")) { _, error in
                continuation.resume(returning: (error as? CKError)?.code)
            }
        }
        #expect(missing == .unknownItem)
    }
}

/// Dates of four centuries, as fine as a date can be.
private struct RandomTimes {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func next() -> Date {
        let state = generator.next()
        let fraction = Double(state >> 11) / Double(1 << 53)
        // Two hundred years on both sides of 2001, without the days around it, where a
        // date is finer than a nanosecond.
        let seconds = 1e7 + fraction * 6.3e9
        return Date(timeIntervalSinceReferenceDate: state & 1 == 0 ? seconds : -seconds)
    }
}
