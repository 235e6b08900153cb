// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Fetching a database's changes")
struct DatabaseChangesTests {
    private func zoneID(_ name: String) -> CKRecordZone.ID {
        CKRecordZone.ID(zoneName: name)
    }

    private func names(_ zoneIDs: [CKRecordZone.ID]) -> [String] {
        zoneIDs.map(\.zoneName).sorted()
    }

    /// A cloud with one device that writes and one that fetches.
    private func devices() async throws -> (writer: CKDatabase, reader: CKDatabase, TestDevice) {
        let cloud = try await TestCloud()
        let writer = try await cloud.device(user: "anna")
        let reader = try await cloud.device(user: "anna")
        return (writer.privateDatabase, reader.privateDatabase, reader)
    }

    @Test("TOK-6: without a token all living zones come and no deletions")
    func initialFetch() async throws {
        let (writer, reader, _) = try await devices()
        for name in ["A", "B", "C"] { try await writer.save(CKRecordZone(zoneName: name)) }
        try await writer.deleteRecordZone(withID: zoneID("B"))
        let changes = try await reader.databaseChanges(since: nil)
        #expect(names(changes.modifications.map(\.zoneID)) == ["A", "C"])
        #expect(changes.deletions.isEmpty)
        #expect(changes.moreComing == false)
    }

    @Test("TOK-7: new, changed and deleted zones come once each; untouched ones do not")
    func changes() async throws {
        let (writer, reader, _) = try await devices()
        for name in ["A", "B", "C"] { try await writer.save(CKRecordZone(zoneName: name)) }
        let token = try await reader.databaseChanges(since: nil).changeToken
        for index in 0..<3 { try await writer.save(item("r\(index)", zone: zoneID("A"))) }
        try await writer.deleteRecord(withID: itemID("r0", zone: zoneID("A")))
        try await writer.deleteRecordZone(withID: zoneID("B"))
        try await writer.save(CKRecordZone(zoneName: "D"))
        let changes = try await reader.databaseChanges(since: token)
        #expect(names(changes.modifications.map(\.zoneID)) == ["A", "D"])
        #expect(names(changes.deletions.map(\.zoneID)) == ["B"])
        #expect(changes.deletions.map(\.reason) == [.deleted])
        let again = try await reader.databaseChanges(since: changes.changeToken)
        #expect(again.modifications.isEmpty && again.deletions.isEmpty)
    }

    @Test("TOK-7: a zone deleted and made again between two fetches is a changed zone")
    func recreatedZone() async throws {
        let (writer, reader, _) = try await devices()
        try await writer.save(CKRecordZone(zoneName: "A"))
        let token = try await reader.databaseChanges(since: nil).changeToken
        try await writer.deleteRecordZone(withID: zoneID("A"))
        try await writer.save(CKRecordZone(zoneName: "A"))
        let changes = try await reader.databaseChanges(since: token)
        #expect(names(changes.modifications.map(\.zoneID)) == ["A"])
        #expect(changes.deletions.isEmpty)
    }

    @Test("TOK-8: without blocks of their own, every deletion goes to the deleted block")
    func deletedBlock() async throws {
        let (writer, reader, device) = try await devices()
        try await writer.save(CKRecordZone(zoneName: "A"))
        let token = try await reader.databaseChanges(since: nil).changeToken
        try await writer.deleteRecordZone(withID: zoneID("A"))
        let log = Log<String>()
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
        operation.recordZoneWithIDWasDeletedBlock = { log.append("deleted \($0.zoneName)") }
        await device.privateDatabase.run(operation)
        #expect(log.entries == ["deleted A"])
    }

    @available(*, deprecated)
    @Test("TOK-11, TOK-20: fetching all pages through them, token and error excluding one another")
    func allPages() async throws {
        let (writer, reader, _) = try await devices()
        for index in 0..<7 { try await writer.save(CKRecordZone(zoneName: "Z\(index)")) }
        let zones = Log<String>()
        let log = Log<String>()
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
        operation.resultsLimit = 3
        operation.recordZoneWithIDChangedBlock = { zones.append($0.zoneName) }
        operation.changeTokenUpdatedBlock = { _ in log.append("token") }
        operation.fetchDatabaseChangesCompletionBlock = { token, moreComing, error in
            log.append("done \(token != nil) \(moreComing) \(error == nil)")
        }
        await reader.run(operation)
        #expect(zones.entries.sorted() == (0..<7).map { "Z\($0)" })
        // Between pages, not after the last one.
        #expect(log.entries == ["token", "token", "done true false true"])
    }

    @Test("TOK-11, TOK-27: a single request brings one page and returns whether more is coming")
    func singleRequest() async throws {
        let (writer, reader, _) = try await devices()
        for index in 0..<5 { try await writer.save(CKRecordZone(zoneName: "Z\(index)")) }
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
        operation.resultsLimit = 3
        operation.fetchAllChanges = false
        let zones = Log<String>()
        let log = Log<Bool>()
        operation.recordZoneWithIDChangedBlock = { zones.append($0.zoneName) }
        operation.fetchDatabaseChangesResultBlock = { result in
            if case .success(let (_, moreComing)) = result { log.append(moreComing) }
        }
        await reader.run(operation)
        #expect(zones.entries.count == 3)
        #expect(log.entries == [true])

        var names: [String] = []
        var token: CKServerChangeToken?
        var moreComing = true
        while moreComing {
            let page = try await reader.databaseChanges(since: token, resultsLimit: 2)
            names += page.modifications.map(\.zoneID.zoneName)
            (token, moreComing) = (page.changeToken, page.moreComing)
        }
        #expect(names.sorted() == (0..<5).map { "Z\($0)" })
    }

    @available(*, deprecated)
    @Test("TOK-20, TOK-21: an expired token gives the error alone")
    func expired() async throws {
        let (writer, reader, _) = try await devices()
        try await writer.save(CKRecordZone(zoneName: "A"))
        let wrong = try await reader.recordZoneChanges(inZoneWith: zoneID("A"), since: nil)
            .changeToken
        let log = Log<String>()
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: wrong)
        operation.fetchDatabaseChangesCompletionBlock = { token, _, error in
            log.append("\(token == nil) \((error as? CKError)?.code.rawValue ?? 0)")
        }
        await reader.run(operation)
        #expect(log.entries == ["true 21"])
    }
}
