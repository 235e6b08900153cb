// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Testing
import TidebellTesting

@Suite("Queries against the server", .finishesClouds)
struct QueryTests {
    /// Where record "a" is.
    private static let here = CLLocation(latitude: 50, longitude: 8)

    /// Arguments of the formats of ``rows``, by their numbers from 1.
    private static var arguments: [Any] {
        [
            itemID("b"), itemID("p"), CKRecord.ID(recordName: CKCurrentUserDefaultName), here,
            Date(timeIntervalSince1970: 2000), Data([2]), ["One", "three"],
            CKRecord.Reference(recordID: itemID("p"), action: .none), item("p"),
            NSNumber(value: true), [itemID("a"), itemID("b")],
        ]
    }

    /// Predicates in the shapes apps use, and the records of ``items`` they find.
    static let rows: [(format: String, found: [String])] = [
        ("TRUEPREDICATE", ["a", "b", "c"]), ("FALSEPREDICATE", []),
        ("title == 'ONE'", ["a"]), ("title != 'one'", ["b", "c"]),
        ("number == 2", ["b"]), ("number != 2", ["a", "c"]), ("number < 2", ["a"]),
        ("number <= 2", ["a", "b"]), ("number > 2", ["c"]), ("number >= 2", ["b", "c"]),
        ("2 < number", ["c"]), ("number BETWEEN {2, 3}", ["b", "c"]),
        ("ratio > 1.5", ["b", "c"]), ("done == true", ["b"]), ("done == %10$@", ["b"]),
        ("title IN %7$@", ["a", "c"]), ("NOT (title IN %7$@)", ["b"]),
        ("title BEGINSWITH 'T'", ["b"]), ("NOT title BEGINSWITH 'T'", ["a", "c"]),
        ("tags CONTAINS 'red'", ["a", "b"]), ("'red' IN tags", ["a", "b"]),
        ("NOT tags CONTAINS 'red'", ["c"]), ("ANY tags IN {'blue', 'x'}", ["b"]),
        ("ANY tags BEGINSWITH 're'", ["a", "b"]),
        ("SELF CONTAINS 'two hills'", ["b", "c"]),
        ("SELF CONTAINS 'two' AND SELF CONTAINS 'sea'", ["b"]),
        ("allTokens TOKENMATCHES 'two sea'", ["b"]),
        ("ANY {'one', 'two'} = title", ["a", "b"]), ("recordID IN %11$@", ["a", "b"]),
        ("self CONTAINS 'SEA'", ["a", "b"]),
        ("allTokens TOKENMATCHES[cdl] 'sea'", ["a", "b"]),
        ("day > %5$@", ["c"]), ("day == %5$@", ["b"]), ("bytes == %6$@", ["b"]),
        ("recordID == %1$@", ["b"]), ("parentItem == %2$@", ["b"]), ("parentItem == %8$@", ["b"]),
        ("parentItem == %9$@", ["b"]), ("creatorUserRecordID == %3$@", ["a", "b", "c"]),
        ("creationDate > CAST(0, 'NSDate')", ["a", "b", "c"]),
        ("modificationDate < CAST(0, 'NSDate')", []),
        ("distanceToLocation:fromLocation:(place, %4$@) < 100000", ["a", "b"]),
        ("number > 1 AND title BEGINSWITH 't' AND tags CONTAINS 'green'", ["c"]),
    ]

    private static var items: [CKRecord] {
        let rows: [(String, String, Int, [String], Double)] = [
            ("a", "One", 1, ["red"], 8), ("b", "Two", 2, ["red", "blue"], 8.5),
            ("c", "three", 3, ["green"], 30),
        ]
        return rows.map { name, title, number, tags, longitude in
            let record = item(name, title)
            record["number"] = number
            record["ratio"] = Double(number)
            record["done"] = number == 2
            record["tags"] = tags
            record["note"] = number < 3 ? "\(title) by the sea" : "in the hills"
            record["day"] = Date(timeIntervalSince1970: 1000 * Double(number))
            record["bytes"] = Data([UInt8(number)])
            record["place"] = CLLocation(latitude: 50, longitude: longitude)
            if number == 2 {
                record["parentItem"] = CKRecord.Reference(recordID: itemID("p"), action: .none)
            }
            return record
        }
    }

    private func names(
        _ database: CKDatabase,
        _ format: String = "TRUEPREDICATE",
        sortedBy order: [NSSortDescriptor]? = nil,
        in zoneID: CKRecordZone.ID? = Household.feed
    ) async throws -> [String] {
        let query = CKQuery(
            recordType: "FeedItem",
            predicate: NSPredicate(format: format, argumentArray: Self.arguments))
        query.sortDescriptors = order
        let page = try await database.records(matching: query, inZoneWith: zoneID)
        return page.matchResults.map(\.0.recordName)
    }

    @Test("QUERY-2 to QUERY-10: predicates of every operator and class find what they describe")
    func operators() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        _ = try await database.modifyRecords(saving: Self.items, deleting: [])
        for row in Self.rows {
            let found = try await names(database, row.format).sorted()
            #expect(found == row.found, "\(row.format)")
        }
    }

    @Test("QUERY-1, QUERY-9: records come in the order of the sort descriptors")
    func order() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let more = item("d", "One")
        more["number"] = 0
        _ = try await database.modifyRecords(saving: Self.items + [more], deleting: [])
        func sorted(_ order: NSSortDescriptor...) async throws -> [String] {
            try await names(database, sortedBy: order)
        }
        let up = NSSortDescriptor(key: "number", ascending: true)
        #expect(try await sorted(up) == ["d", "a", "b", "c"])
        #expect(
            try await sorted(NSSortDescriptor(key: "number", ascending: false))
                == ["c", "b", "a", "d"]
        )
        let byTitle = NSSortDescriptor(key: "title", ascending: false)
        let sameTitle = try await sorted(byTitle, up).filter { $0 == "a" || $0 == "d" }
        #expect(sameTitle == ["d", "a"])
        let east = CLLocation(latitude: 50, longitude: 31)
        let nearest = CKLocationSortDescriptor(key: "place", relativeLocation: east)
        #expect(
            try await names(database, "number > 0", sortedBy: [nearest]) == ["c", "b", "a"])
    }

    @Test(
        "QUERY-18, SAVE-20: with a lag, queries find what was saved when it has passed, fetches at once"
    )
    func lag() async throws {
        let home = try await Household()
        try await home.cloud.set(ServerLimits(queryLag: .seconds(3)))
        let database = home.phone.privateDatabase
        _ = try await database.modifyRecords(saving: Self.items, deleting: [])
        #expect(try await names(database) == [])
        #expect(try await database.record(for: itemID("a")).recordID == itemID("a"))
        await home.cloud.clock.advance(by: .seconds(3))
        #expect(try await names(database) == ["a", "b", "c"])
        #expect(try await names(database, "number >= 2") == ["b", "c"])
        let changed = try await database.record(for: itemID("b"))
        changed["number"] = 7
        _ = try await database.save(changed)
        let byNumber = NSSortDescriptor(key: "number", ascending: true)
        #expect(try await names(database, sortedBy: [byNumber]) == ["a", "c"])
        await home.cloud.clock.advance(by: .seconds(3))
        #expect(try await names(database, sortedBy: [byNumber]) == ["a", "c", "b"])
    }

    @Test("QUERY-16, QUERY-17: pages follow one another by cursors until there is none")
    func pages() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let items = (10..<35).map { number in
            let record = item("r\(number)")
            record["number"] = number
            return record
        }
        _ = try await database.modifyRecords(saving: items, deleting: [])
        let query = CKQuery(recordType: "FeedItem", predicate: NSPredicate(value: true))
        query.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        var page = try await database.records(
            matching: query, inZoneWith: Household.feed, desiredKeys: ["number"], resultsLimit: 10)
        var pages = [page.matchResults.map(\.0.recordName)]
        while let cursor = page.queryCursor {
            let data = try NSKeyedArchiver.archivedData(
                withRootObject: cursor, requiringSecureCoding: true)
            let kept = try #require(
                try NSKeyedUnarchiver.unarchivedObject(
                    ofClass: CKQueryOperation.Cursor.self, from: data)
            )
            page = try await database.records(continuingMatchFrom: kept, resultsLimit: 10)
            pages.append(page.matchResults.map(\.0.recordName))
        }
        #expect(pages.allSatisfy { $0.count <= 10 })
        #expect(pages.flatMap(\.self) == (10..<35).map { "r\($0)" })
    }

    @Test("QUERY-13: without a zone every zone is searched, with one that zone alone")
    func zones() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let second = CKRecordZone.ID(zoneName: "Second")
        try await database.save(CKRecordZone(zoneID: second))
        for zoneID in [Household.feed, second, .default] {
            try await database.save(item("in\(zoneID.zoneName)", zone: zoneID))
        }
        let everywhere = try await names(database, in: nil).sorted()
        #expect(everywhere == ["inFeed", "inSecond", "in_defaultZone"])
        #expect(try await names(database, in: second) == ["inSecond"])
        let query = CKQuery(recordType: "FeedItem", predicate: NSPredicate(value: true))
        let zoneIDs = try await database.records(matching: query).matchResults.map(\.0.zoneID)
        #expect(Set(zoneIDs) == [Household.feed, second, .default])
        #expect(try await names(home.other.privateDatabase, in: nil) == [])
    }

    @Test("QUERY-19: desired keys and resultsLimit bound what comes")
    func desiredKeys() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        _ = try await database.modifyRecords(saving: Self.items, deleting: [])
        let query = CKQuery(
            recordType: "FeedItem", predicate: NSPredicate(format: "number == 2"))
        let page = try await database.records(
            matching: query, inZoneWith: Household.feed, desiredKeys: ["title"])
        let record = try #require(try page.matchResults.first?.1.get())
        #expect(record.allKeys() == ["title"])
        #expect(record.recordChangeTag != nil)
        let bare = try await database.records(
            matching: query, inZoneWith: Household.feed, desiredKeys: [])
        #expect(try bare.matchResults.first?.1.get().allKeys() == [])
    }

    @Test("QUERY-11, QUERY-12, QUERY-20: what cannot be queried is an error that names it")
    func errors() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.save(item("a"))
        func error(_ type: String, in database: CKDatabase) async -> CKError? {
            let query = CKQuery(recordType: type, predicate: NSPredicate(value: true))
            return await ckError { _ = try await database.records(matching: query) }
        }
        let unknown = await error("Nothing", in: database)
        #expect(unknown?.code == .unknownItem)
        #expect(unknown?.localizedDescription == "Did not find record type: Nothing")
        #expect(await error("Users", in: database) != nil)
        let shared = home.phone.container().sharedCloudDatabase
        #expect(await error("FeedItem", in: shared)?.code == .invalidArguments)
    }
}
