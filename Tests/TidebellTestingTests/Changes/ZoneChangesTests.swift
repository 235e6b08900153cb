// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Testing
import TidebellTesting

@Suite("Fetching a zone's changes", .finishesClouds)
struct ZoneChangesTests {
    private typealias Configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration

    private func home() async throws -> (writer: CKDatabase, reader: CKDatabase, Household) {
        let home = try await Household()
        return (home.laptop.privateDatabase, home.phone.privateDatabase, home)
    }

    private func fetch(
        _ reader: CKDatabase,
        since token: CKServerChangeToken? = nil
    ) async throws -> (changed: [String], deleted: [String], token: CKServerChangeToken) {
        let page = try await reader.recordZoneChanges(inZoneWith: Household.feed, since: token)
        return (
            page.modificationResultsByID.keys.map(\.recordName).sorted(),
            page.deletions.map { "\($0.recordID.recordName) \($0.recordType)" }.sorted(),
            page.changeToken
        )
    }

    /// Fetches the feed in pages of so many records; returns the records that came, and how it ended.
    private func fetchPages(
        of limit: Int, _ reader: CKDatabase,
        between: @escaping (CKServerChangeToken?) -> Void
    ) async -> (names: [String], codes: [CKError.Code?]) {
        let names = Log<String>()
        let codes = Log<CKError.Code?>()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [Household.feed],
            configurationsByRecordZoneID: [Household.feed: Configuration(resultsLimit: limit)]
        )
        operation.recordWasChangedBlock = { id, _ in names.append(id.recordName) }
        operation.recordZoneChangeTokensUpdatedBlock = { _, token, _ in between(token) }
        operation.fetchRecordZoneChangesResultBlock = { codes.append($0.ckCode) }
        await reader.run(operation)
        return (names.entries, codes.entries)
    }

    @Test("TOK-6: without a token all living records come and no deletions")
    func initialFetch() async throws {
        let (writer, reader, _) = try await home()
        for name in ["a", "b", "c"] { try await writer.save(item(name)) }
        try await writer.deleteRecord(withID: itemID("b"))
        let page = try await fetch(reader)
        #expect(page.changed == ["a", "c"])
        #expect(page.deleted == [])
    }

    @Test("TOK-14, TOK-15: each record comes once in its latest state, deletions with their type")
    func onceInLatestState() async throws {
        let (writer, reader, _) = try await home()
        try await writer.save(item("gone", type: "Comment"))
        let token = try await fetch(reader).token
        let record = try await writer.save(item("a", "1"))
        for title in ["2", "3"] {
            record["title"] = title
            try await writer.save(record)
        }
        try await writer.deleteRecord(withID: itemID("gone"))
        let page = try await reader.recordZoneChanges(inZoneWith: Household.feed, since: token)
        let titles = try page.modificationResultsByID.map {
            try $0.value.get().record["title"] as? String
        }
        #expect(titles == ["3"])
        #expect(page.deletions.map(\.recordID) == [itemID("gone")])
        #expect(page.deletions.map(\.recordType) == ["Comment"])
        let again = try await fetch(reader, since: page.changeToken)
        #expect(again.changed == [] && again.deleted == [])
    }

    @Test("TOK-16: a record created and deleted between two fetches is delivered as a deletion")
    func createdAndDeleted() async throws {
        let (writer, reader, _) = try await home()
        let token = try await fetch(reader).token
        try await writer.save(item("a"))
        try await writer.deleteRecord(withID: itemID("a"))
        let page = try await fetch(reader, since: token)
        #expect(page.changed == [])
        #expect(page.deleted == ["a FeedItem"])
    }

    @Test("TOK-16: a record deleted and recreated is delivered as changed only")
    func deletedAndRecreated() async throws {
        let (writer, reader, _) = try await home()
        try await writer.save(item("a", "old"))
        let token = try await fetch(reader).token
        try await writer.deleteRecord(withID: itemID("a"))
        try await writer.save(item("a", "new"))
        let page = try await fetch(reader, since: token)
        #expect(page.changed == ["a"])
        #expect(page.deleted == [])
    }

    @Test("TOK-17: changes come oldest first; a changed record moves to the end")
    func order() async throws {
        let (writer, reader, _) = try await home()
        for name in ["a", "b", "c"] { try await writer.save(item(name)) }
        let first = try await writer.record(for: itemID("a"))
        try await writer.save(first)
        let names = Log<String>()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [Household.feed],
            configurationsByRecordZoneID: [:]
        )
        operation.recordWasChangedBlock = { id, _ in names.append(id.recordName) }
        await reader.run(operation)
        #expect(names.entries == ["b", "c", "a"])
    }

    @Test(
        "TOK-13: desiredKeys nil brings all keys, an empty list none, else those; system fields always"
    )
    func desiredKeys() async throws {
        let (writer, reader, _) = try await home()
        let record = item("a", "title")
        record["body"] = "body"
        try await writer.save(record)
        for (desired, expected) in [
            (nil, ["body", "title"]), ([], []), (["body"], ["body"]), (["nothing"], []),
        ] as [([String]?, [String])] {
            let page = try await reader.recordZoneChanges(
                inZoneWith: Household.feed,
                since: nil,
                desiredKeys: desired
            )
            let fetched = try #require(try page.modificationResultsByID[itemID("a")]?.get().record)
            #expect(fetched.allKeys().sorted() == expected)
            #expect(fetched.recordChangeTag == record.recordChangeTag)
            #expect(fetched.recordType == "FeedItem")
        }
    }

    @Test(
        "TOK-11: an operation pages through all changes; token blocks between pages, not after the last"
    )
    func allPages() async throws {
        let (writer, reader, _) = try await home()
        for index in 0..<7 { try await writer.save(item("r\(index)")) }
        let log = Log<String>()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [Household.feed],
            configurationsByRecordZoneID: [Household.feed: Configuration(resultsLimit: 3)]
        )
        operation.recordWasChangedBlock = { id, _ in log.append(id.recordName) }
        operation.recordZoneChangeTokensUpdatedBlock = { _, _, _ in log.append("token") }
        operation.recordZoneFetchResultBlock = { _, result in
            if case .success(let (_, _, moreComing)) = result { log.append("zone \(moreComing)") }
        }
        operation.fetchRecordZoneChangesResultBlock = { result in
            log.append("done \(result.ckCode?.rawValue ?? 0)")
        }
        await reader.run(operation)
        #expect(
            log.entries == [
                "r0", "r1", "r2", "token", "r3", "r4", "r5", "token", "r6", "zone false", "done 0",
            ]
        )
    }

    @Test("TOK-11: without fetchAllChanges one request is made, whose token goes on from there")
    func singleRequest() async throws {
        let (writer, reader, _) = try await home()
        for index in 0..<5 { try await writer.save(item("r\(index)")) }
        let log = Log<String>()
        let tokens = Log<CKServerChangeToken>()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [Household.feed],
            configurationsByRecordZoneID: [Household.feed: Configuration(resultsLimit: 3)]
        )
        operation.fetchAllChanges = false
        operation.recordWasChangedBlock = { id, _ in log.append(id.recordName) }
        operation.recordZoneChangeTokensUpdatedBlock = { _, _, _ in log.append("token") }
        operation.recordZoneFetchResultBlock = { _, result in
            guard case .success(let (token, _, moreComing)) = result else { return }
            log.append("zone \(moreComing)")
            tokens.append(token)
        }
        await reader.run(operation)
        #expect(log.entries == ["r0", "r1", "r2", "zone true"])
        #expect(try await fetch(reader, since: tokens.entries.first).changed == ["r3", "r4"])
    }

    @Test("TOK-12: by default the server decides how much comes at once, and everything comes")
    func manyRecords() async throws {
        let (writer, reader, _) = try await home()
        for batch in 0..<3 {
            let records = (0..<400).map { item("r\(batch)-\($0)") }
            _ = try await writer.modifyRecords(saving: records, deleting: [])
        }
        let names = Log<String>()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [Household.feed],
            configurationsByRecordZoneID: [:]
        )
        operation.recordWasChangedBlock = { id, _ in names.append(id.recordName) }
        await reader.run(operation)
        #expect(names.entries.count == 1200)
        #expect(Set(names.entries).count == 1200)
    }

    @available(*, deprecated)
    @Test("TOK-19: failed zones are collected in partialFailure by zone, the others deliver")
    func partialFailure() async throws {
        let (writer, reader, _) = try await home()
        try await writer.save(item("a"))
        let missing = CKRecordZone.ID(zoneName: "Nowhere")
        let log = Log<String>()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [missing, Household.feed],
            configurationsByRecordZoneID: [:]
        )
        operation.recordChangedBlock = { log.append($0.recordID.recordName) }
        operation.recordZoneFetchCompletionBlock = { zoneID, token, _, moreComing, error in
            let code = (error as? CKError)?.code.rawValue ?? 0
            log.append("\(zoneID.zoneName) \(token != nil) \(moreComing) \(code)")
        }
        operation.fetchRecordZoneChangesCompletionBlock = { error in
            let error = error as? CKError
            let ofZone = error?.partialErrorsByItemID?[missing] as? CKError
            log.append("done \(error?.code.rawValue ?? 0) \(ofZone?.code.rawValue ?? 0)")
        }
        await reader.run(operation)
        #expect(
            log.entries.sorted() == [
                "Feed true false 0", "Nowhere false false 26", "a", "done 2 26",
            ]
        )
    }

    @Test(
        "TOK-18: a fetch that fails part way leaves valid tokens: the next one goes on, nothing comes twice"
    )
    func interrupted() async throws {
        let (writer, reader, home) = try await home()
        for index in 0..<12 { try await writer.save(item("r\(index)", "\(index)")) }
        let tokens = Log<CKServerChangeToken?>()
        let fetched = await fetchPages(of: 3, reader) { token in
            tokens.append(token)
            if tokens.entries.count == 2 { home.phone.goOffline() }
        }
        try await home.phone.goOnline()
        #expect(fetched.codes == [.networkUnavailable])
        // The third page may have been asked for already.
        let pages = tokens.entries.count
        #expect(pages == 2 || pages == 3)
        #expect(fetched.names == (0..<pages * 3).map { "r\($0)" })
        let token = try #require(tokens.entries.last ?? nil)
        let rest = try await fetch(reader, since: token).changed
        #expect(rest == (pages * 3..<12).map { "r\($0)" }.sorted())
    }

    @Test("ACCT-2: what was fetched ahead for one user is not handed over when another signed in")
    func anotherUserMeanwhile() async throws {
        let (writer, reader, home) = try await home()
        for index in 0..<4 { try await writer.save(item("r\(index)")) }
        let fetched = await fetchPages(of: 2, reader) { _ in
            // The callback ends when somebody else is there.
            let isThere = DispatchSemaphore(value: 0)
            Task {
                _ = try? await home.phone.signIn("ben")
                isThere.signal()
            }
            isThere.wait()
        }
        #expect(fetched.names == ["r0", "r1"])
        #expect(fetched.codes == [.notAuthenticated])
    }

    @Test("TOK-24: the client token of the last save comes back with the zone's token")
    func clientChangeToken() async throws {
        let (writer, reader, home) = try await home()
        let data = Data("client-1".utf8)
        let save = CKModifyRecordsOperation(recordsToSave: [item("a")], recordIDsToDelete: nil)
        save.clientChangeTokenData = data
        await writer.run(save)
        for (database, expected) in [(reader, data), (home.laptop.privateDatabase, data)] {
            let log = Log<Data?>()
            let fetch = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: [Household.feed],
                configurationsByRecordZoneID: [:]
            )
            fetch.recordZoneFetchResultBlock = { _, result in
                if case .success(let (_, client, _)) = result { log.append(client) }
            }
            await database.run(fetch)
            #expect(log.entries == [expected])
        }
    }

    @Test("TOK-26: a zone nobody reported may be fetched and brings whatever is new")
    func unreportedZone() async throws {
        let (writer, reader, _) = try await home()
        let token = try await fetch(reader).token
        #expect(try await fetch(reader, since: token).changed == [])
        try await writer.save(item("a"))
        #expect(try await fetch(reader, since: token).changed == ["a"])
    }

    @Test("T-16, SUB-64: a rolled-back batch moves no token")
    func rolledBackBatch() async throws {
        let (writer, reader, _) = try await home()
        try await writer.save(item("taken"))
        let zone = try await fetch(reader).token
        let database = try await reader.databaseChanges(since: nil).changeToken
        let results = try await writer.modifyRecords(
            saving: [item("new"), item("taken")],
            deleting: []
        )
        #expect(results.saveResults[itemID("new")]?.ckCode == .batchRequestFailed)
        let page = try await fetch(reader, since: zone)
        #expect(page.changed == [] && page.token == zone)
        let changes = try await reader.databaseChanges(since: database)
        #expect(changes.modifications.isEmpty && changes.changeToken == database)
    }
}
