// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TidebellTestStores
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellPush
import TidebellWire

@testable import TidebellSQL
@testable import TidebellSQLite
import TidebellCore
import TidebellServer

/// What is reported of a subscription that the disk damaged.
@Suite("Damaged subscriptions", .onSQLite)
struct DamagedSubscriptionTests {
    private static func modify(_ type: String, _ ids: [String]) -> String {
        let operations = ids.map { id in
            """
            {"operationType":"\(type)","subscription":{"subscriptionID":"\(id)",\
            "subscriptionType":"query","query":{"recordType":"\(id)"},"firesOn":["create"]}}
            """
        }
        return #"{"operations":[\#(operations.joined(separator: ","))]}"#
    }

    /// IDs with the code of those that failed, in the order of an answer.
    private func outcomes(_ answer: TestAPI.Answer) throws -> [String] {
        try #require(answer.status == 200, "\(answer.text)")
        let response = try JSONReader.read(Array(answer.text.utf8)) {
            try SubscriptionsResponse(from: &$0)
        }
        return response.subscriptions.map { result in
            switch result {
            case .subscription(let subscription): return subscription.subscriptionID
            case .deleted(let id): return "\(id): deleted"
            case .failed(let id, let error):
                if error.code == .internalError {
                    #expect(error.reason.contains("subscription '\(id)' is damaged"))
                    #expect(error.reason.contains("finds it \(DamageHints.ofAnswers);"))
                }
                return "\(id): \(error.code.rawValue)"
            }
        }
    }

    @Test(
        "M6: a damaged subscription is an item error that names it; saving or deleting it mends that",
        arguments: ["update", "delete"])
    func damaged(mending: String) async throws {
        let tally = Tally()
        let api = try await TestAPI(metrics: HTTPMetrics(factory: tally))
        let saved = try await api.post(
            "private/subscriptions/modify", Self.modify("create", ["a", "b", "c"]))
        #expect(try outcomes(saved) == ["a", "b", "c"])
        try await api.cloud.store.write(.everything) { transaction in
            let transaction = try #require(transaction as? SQLTransaction)
            try transaction.connection.run(
                "UPDATE subscription SET json = replace(json, 'query', 'que\"y') "
                    + "WHERE subscription_id = 'b'")
        }
        let lookup = """
            {"subscriptions":[{"subscriptionID":"c"},{"subscriptionID":"b"},{"subscriptionID":"no"}]}
            """
        #expect(
            try outcomes(try await api.get("private/subscriptions/list"))
                == ["a", "b: INTERNAL_ERROR", "c"])
        #expect(
            try outcomes(try await api.post("private/subscriptions/lookup", lookup))
                == ["c", "b: INTERNAL_ERROR", "no: NOT_FOUND"])
        // Others have theirs.
        #expect(try outcomes(try await api.get("public/subscriptions/list")) == [])
        #expect(
            api.log.detailedLines == [
                "a subscription is damaged and does not fire any more; \(DamageHints.ofTheLog) "
                    + #"["container=\#(TestAPI.container)", "database=private", "#
                    + #""environment=development", "subscription=b"]"#
            ])
        #expect(tally.values["tidebell.answers.subscriptions.damaged"] == 2)
        let mended = try await api.post(
            "private/subscriptions/modify", Self.modify(mending, ["b"]))
        #expect(try outcomes(mended) == [mending == "delete" ? "b: deleted" : "b"])
        #expect(
            try outcomes(try await api.get("private/subscriptions/list"))
                == (mending == "delete" ? ["a", "c"] : ["a", "b", "c"]))
    }

    @Test("M6: a subscription on a lost page is named, and who saves or deletes it mends that")
    func lostPage() async throws {
        let first = try await TestAPI()
        let saved = try await first.post(
            "private/subscriptions/modify", Self.modify("create", ["a", "b", "c"]))
        #expect(try outcomes(saved) == ["a", "b", "c"])
        var pages = try await StorePages(closing: first.cloud.store)
        let start = (try #require(pages.roots["subscription"]) - 1) * StorePages.size
        pages.bytes.replaceSubrange(
            start..<start + StorePages.size, with: Array(repeating: 0xA5, count: StorePages.size))
        let folder = TestAPI.newFolder()
        try pages.write(to: folder)
        let api = try TestAPI(on: folder, knowing: first.callers)
        let store = try #require(api.cloud.store.engine as? SQLiteStore)
        let received = Mutex<[StoreTroubles.News]>([])
        store.troubles.observe { news in received.withLock { $0.append(news) } }
        #expect(
            try outcomes(try await api.get("private/subscriptions/list"))
                == ["a: INTERNAL_ERROR", "b: INTERNAL_ERROR", "c: INTERNAL_ERROR"])
        let deleted = try await api.post(
            "private/subscriptions/modify", Self.modify("delete", ["b"]))
        #expect(try outcomes(deleted) == ["b: deleted"])
        var mend = StoreMend()
        mend.tables = ["subscription"]
        mend.damagedSubscriptions = 3
        #expect(received.withLock { $0 } == [.mended(mend)])
        let updated = try await api.post(
            "private/subscriptions/modify", Self.modify("update", ["a"]))
        #expect(try outcomes(updated) == ["a"])
        #expect(
            try outcomes(try await api.get("private/subscriptions/list"))
                == ["a", "c: INTERNAL_ERROR"])
        try await store.close()
    }

    @Test("M6: terms on a lost page are made anew from the subscriptions that have them")
    func lostTerms() async throws {
        let first = try await TestAPI()
        let saved = try await first.post(
            "private/subscriptions/modify",
            """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"a",\
            "subscriptionType":"query","firesOn":["create"],"query":{"recordType":"Note",\
            "filterBy":[{"comparator":"IN","fieldName":"title","fieldValue":\
            {"type":"STRING_LIST","value":["x","y","z"]}}]}}}]}
            """)
        #expect(try outcomes(saved) == ["a"])
        // Those of a database that has few are found without their terms.
        for number in 0..<PushConfiguration().subscriptionsReadAtOnce {
            let other = try await first.post(
                "private/subscriptions/modify",
                """
                {"operations":[{"operationType":"create","subscription":{"subscriptionID":"\(number)",\
                "subscriptionType":"query","firesOn":["create"],"query":{"recordType":"Note",\
                "filterBy":[{"comparator":"EQUALS","fieldName":"title","fieldValue":\
                {"value":"\(number)"}}]}}}]}
                """)
            #expect(try outcomes(other) == ["\(number)"])
        }
        var pages = try await StorePages(closing: first.cloud.store)
        for tree in ["subscription_term", "subscription_term_serial"] {
            let page = try #require(try pages.pages(of: tree).first)
            pages.overwrite(page, with: Array(repeating: 0xA5, count: StorePages.size))
        }
        let folder = TestAPI.newFolder()
        try pages.write(to: folder)
        let api = try TestAPI(on: folder, knowing: first.callers)
        let store = try #require(api.cloud.store.engine as? SQLiteStore)
        let received = Mutex<[StoreTroubles.News]>([])
        store.troubles.observe { news in received.withLock { $0.append(news) } }
        let note = try await api.post(
            "private/records/modify",
            """
            {"operations":[{"operationType":"create","record":{"recordName":"n",\
            "recordType":"Note","fields":{"title":{"value":"z"}}}}]}
            """)
        #expect(note.status == 200)
        _ = try await api.cloud.pipeline.drain()
        var mend = StoreMend()
        mend.tables = ["subscription_term"]
        #expect(received.withLock { $0 } == [.mended(mend)])
        let terms = try await store.read { reader in
            let reader = try #require(reader as? SQLReader)
            return try reader.connection.rows("SELECT term FROM subscription_term") { $0.text(0) }
        }
        #expect(terms.sorted() == ["title=sy", "title=sz"])
        #expect(try StoreCheck.run(at: store.pool.path).isDamaged == false)
        try await store.close()
    }

    @Test(
        "M6, SUB-23: subscriptions that an older version filed are sound as they are, and when terms are made anew"
    )
    func filedByOlderVersion() async throws {
        let first = try await TestAPI()
        func filter(_ comparator: String, _ value: String) -> String {
            #"{"comparator":"\#(comparator)","fieldName":"title","fieldValue":\#(value)}"#
        }
        func choice(_ values: String) -> String {
            filter("IN", #"{"type":"STRING_LIST","value":[\#(values)]}"#)
        }
        let asked = [
            "none": choice(#""x","y""#),
            "other": choice(#""x","z""#) + "," + filter("EQUALS", #"{"value":"x"}"#),
            "new": choice(#""u","v""#),
        ]
        for (id, filters) in asked {
            let saved = try await first.post(
                "private/subscriptions/modify",
                """
                {"operations":[{"operationType":"create","subscription":{"subscriptionID":"\(id)",\
                "subscriptionType":"query","firesOn":["create"],"query":{"recordType":"Note",\
                "filterBy":[\(filters)]}}}]}
                """)
            #expect(try outcomes(saved) == [id])
        }
        try await first.cloud.store.write(.everything) { transaction in
            let transaction = try #require(transaction as? SQLTransaction)
            for (id, term) in [("none", ""), ("other", "title=sx")] {
                try transaction.connection.run(
                    """
                    DELETE FROM subscription_term WHERE serial =
                        (SELECT serial FROM subscription WHERE subscription_id = ?)
                    """, id)
                try transaction.connection.run(
                    "UPDATE subscription SET term = ? WHERE subscription_id = ?", term, id)
            }
        }
        let path = try #require(first.cloud.store.engine as? SQLiteStore).pool.path
        #expect(try StoreCheck.run(at: path).problems == [])
        var pages = try await StorePages(closing: first.cloud.store)
        for tree in ["subscription_term", "subscription_term_serial"] {
            let page = try #require(try pages.pages(of: tree).first)
            pages.overwrite(page, with: Array(repeating: 0xA5, count: StorePages.size))
        }
        let folder = TestAPI.newFolder()
        try pages.write(to: folder)
        let api = try TestAPI(on: folder, knowing: first.callers)
        let store = try #require(api.cloud.store.engine as? SQLiteStore)
        let note = try await api.post(
            "private/records/modify",
            """
            {"operations":[{"operationType":"create","record":{"recordName":"n",\
            "recordType":"Note","fields":{"title":{"value":"z"}}}}]}
            """)
        #expect(note.status == 200)
        _ = try await api.cloud.pipeline.drain()
        let terms = try await store.read { reader in
            let connection = try #require(reader as? SQLReader).connection
            return try connection.rows(
                """
                SELECT subscription_id, term FROM subscription
                UNION ALL SELECT subscription_id, subscription_term.term
                FROM subscription_term JOIN subscription USING (serial)
                """
            ) { "\($0.text(0)): \($0.text(1))" }
        }
        #expect(
            terms.sorted() == [
                "new: title=su", "new: title=sv", "none: title=sx", "none: title=sy",
                "other: title=sx",
            ])
        // What the mending left of the old pages is a warning.
        #expect(try StoreCheck.run(at: store.pool.path).isDamaged == false)
        try await store.close()
    }
}
