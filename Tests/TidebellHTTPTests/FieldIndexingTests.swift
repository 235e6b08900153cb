// SPDX-License-Identifier: Apache-2.0
import GRDB
import TestSupport
import Testing
import TidebellCore
@testable import TidebellSQL
@testable import TidebellSQLite
import TidebellScheduling
import TidebellServer
import TidebellTestStores
import TidebellWire

@Suite("Indexes of queries", .hangs) struct FieldIndexingTests {
    private let question = """
        {"query":{"recordType":"Note","filterBy":[{"comparator":"EQUALS","fieldName":"number",\
        "fieldValue":{"value":1111}}]},"desiredKeys":[]}
        """

    /// A cloud with 1200 notes in the default zone.
    private func makeAPI(limits: Limits = Limits()) async throws -> TestAPI {
        let api = try await TestAPI(limits: limits)
        for start in stride(from: 0, to: 1200, by: 200) {
            let operations = (start..<start + 200).map { number in
                #"{"operationType":"create","record":{"recordName":"n\#(number)","#
                    + #""recordType":"Note","fields":{"number":{"value":\#(number)}}}}"#
            }
            let answer = try await api.post(
                "private/records/modify",
                #"{"operations":[\#(operations.joined(separator: ","))]}"#)
            try #require(answer.status == 200)
        }
        return api
    }

    private func ask(_ api: TestAPI) async throws {
        let answer = try await api.post("private/records/query", question)
        #expect(answer.status == 200)
        #expect(answer.text.contains(#""recordName":"n1111""#))
        #expect(answer.text.matches(of: /recordChangeTag/).count == 1)
    }

    private func indexes(_ api: TestAPI) async throws -> [StoredFieldIndex] {
        try await api.cloud.store.read {
            try $0.fieldIndexes(unusedSince: Instant(rawValue: .max), limit: 100)
        }
    }

    /// Whether there is one index, and it has every record.
    private func isReady(_ api: TestAPI) async throws -> Bool {
        let states = try await indexes(api).map(\.state)
        return states == [.ready]
    }

    /// What the operator is told of the query.
    private func explanation(_ api: TestAPI) async throws -> String {
        let request = try JSONReader.read(
            Array(question.utf8), QueryRecords.Request.init(from:))
        let (now, identity) = (api.clock.instant, api.cloud.store.identity)
        return try await api.cloud.store.read { reader in
            let key = ContainerKey(container: TestAPI.container, environment: .development)
            let question = ExplainQuery.Request(user: "me", request: request)
            return try ExplainQuery.run(
                question, in: key, at: now, of: identity, in: reader
            ).text
        }
    }

    @Test("A query of many records has its index built, and uses it; one that explains builds none")
    func built() async throws {
        let api = try await makeAPI()
        let scan = """
            zone _defaultZone: all records of the type, one by one: no index is there; one is made \
            when a query looks at many records and finds few, unless the zone has as many as it may
              looked at 1200 records, 1 passed
            An index of values of 'number' would help; a server that runs makes it when it is asked \
            this.
            """
        #expect(try await explanation(api) == scan)
        await api.cloud.indexing.settle()
        #expect(try await indexes(api) == [])
        try await ask(api)
        await api.cloud.indexing.settle()
        #expect(try await isReady(api))
        #expect(
            try await explanation(api) == """
                zone _defaultZone: the index of values of 'number': 1 entry can pass the filters
                  looked at 1 entry and 1 record, 1 passed
                """)
        try await ask(api)
    }

    @Test("An index is built by a server that starts, where the one before was stopped")
    func resumed() async throws {
        let api = try await makeAPI()
        try await ask(api)
        let indexing = FieldIndexing(
            store: api.cloud.store, limits: Limits(),
            time: Time(now: { api.clock.instant }, clock: api.clock), logger: api.log.logger)
        try await api.cloud.store.write(.everything) { transaction in
            let user = try #require(try transaction.account(named: "me"))
            let container = ContainerKey(
                container: TestAPI.container, environment: .development)
            let owner = try transaction.user(of: user, in: container)
            let key = DatabaseKey(container: container, scope: .private, owner: owner?.id)
            let database = try #require(try transaction.database(key))
            let zone = try #require(try transaction.zones(nil, in: database.id).first)
            let wish = IndexInterest.Wish(
                database: database.id, zone: zone.key, recordType: "Note", name: "value number")
            try BuildFieldIndex.begin(wish, limits: Limits(), at: TestAPI.start, in: transaction)
            let index = try #require(try transaction.fieldIndexes(in: zone.key, of: nil).first)
            let isDone = try BuildFieldIndex.step(index.id, limit: 10, in: transaction)
            #expect(!isDone)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Its clock stands still, and nobody asks it for anything.
            group.addTask { try await indexing.run() }
            let isBuilt = try await eventually { try await isReady(api) }
            #expect(isBuilt)
            group.cancelAll()
        }
        try await ask(api)
    }

    @Test("An index that no query uses goes, one that is used stays")
    func dropped() async throws {
        var limits = Limits()
        limits.indexRetention = .seconds(10 * 86_400)
        let api = try await makeAPI(limits: limits)
        try await ask(api)
        await api.cloud.indexing.settle()
        for _ in 0..<3 {
            api.clock.advance(by: .seconds(8 * 86_400))
            try await use(api)
            await api.cloud.indexing.settle()
            #expect(try await indexes(api).count == 1)
        }
        api.clock.advance(by: .seconds(11 * 86_400))
        await api.cloud.indexing.settle()
        #expect(try await indexes(api) == [])
        #expect(try await explanation(api).contains("one by one"))
    }

    /// Asks without a token, which is too old by then.
    private func use(_ api: TestAPI) async throws {
        let index = try #require(try await indexes(api).first)
        var report = QueryReport()
        report.uses = [index.id]
        api.cloud.indexing.note(report)
    }

    @Test("A server that may have no indexes builds none")
    func none() async throws {
        var limits = Limits()
        limits.indexesPerZone = 0
        let api = try await makeAPI(limits: limits)
        try await ask(api)
        await api.cloud.indexing.settle()
        #expect(try await indexes(api) == [])
        try await ask(api)
    }

    @Test(
        "An index that disagrees with its records is found by a check, and right again once dropped and built",
        .onSQLite
    )
    func disagreeing() async throws {
        let api = try await makeAPI()
        try await ask(api)
        await api.cloud.indexing.settle()
        try #require(try await isReady(api))
        let engine = try #require(api.cloud.store.engine as? SQLiteStore)
        func problems() throws -> [String] {
            try StoreCheck.run(at: engine.pool.path).problems.map(\.problem)
        }
        #expect(try problems() == [])
        let index = try #require(try await indexes(api).first)
        try await api.cloud.store.write(.everything) { transaction in
            let transaction = try #require(transaction as? SQLTransaction)
            try transaction.connection.run(
                """
                DELETE FROM field_index_entry WHERE field_index = ?
                    AND position = (SELECT position FROM record WHERE name = 'n1111')
                """, index.id)
            try transaction.connection.run(
                "INSERT INTO field_index_entry (field_index, key, position) VALUES (?, x'11', 1)",
                index.id)
        }
        let name = "the index 'value number' of records of type 'Note'"
        let command = "remove it with tidebell query drop-indexes"
        #expect(
            try problems() == [
                "\(name) lacks 1 of 1200 entries, so that queries find too little; \(command)",
                "\(name) has 1 entries of no record; \(command)",
            ])
        let store = api.cloud.store
        while let kept = try await store.read({ try DropFieldIndexes.next(in: $0) }) {
            let isGone = {
                try await store.write(.databaseWithID(kept.database)) { transaction in
                    try DropFieldIndexes.step(kept, in: transaction)
                }
            }
            while try await !isGone() {}
        }
        #expect(try problems() == [])
        try await ask(api)
        await api.cloud.indexing.settle()
        #expect(try await isReady(api))
        try await ask(api)
        #expect(try problems() == [])
    }
}
