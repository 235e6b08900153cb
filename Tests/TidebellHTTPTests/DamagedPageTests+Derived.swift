// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire

@testable import TidebellSQLite
import TidebellServer

/// Damaged tables that repeat what records have.
extension DamagedPageTests {
    /// What becomes of the pages of a table and its index.
    enum Loss: String, CaseIterable {
        case tableOfEarlier, indexOfEarlier, zeroes
    }

    /// A cloud at a later moment, with pages of the earlier one.
    private func damaged(
        _ loss: Loss, _ table: String, index: String, from earlier: StorePages, _ closed: Closed
    ) throws -> TestAPI {
        var pages = closed.pages
        func root(_ tree: String) throws -> StorePages.Page {
            let all = try pages.pages(of: tree)
            return try #require(all.count == 1 ? all.first : nil)
        }
        switch loss {
        case .tableOfEarlier, .indexOfEarlier:
            let page = try root(loss == .tableOfEarlier ? table : index)
            let content = earlier.content(of: page)
            try #require(content != pages.content(of: page))
            pages.overwrite(page, with: content)
        case .zeroes:
            for tree in [table, index] {
                pages.overwrite(try root(tree), with: Array(repeating: 0, count: StorePages.size))
            }
        }
        return try closed.open(pages)
    }

    private func modify(_ operations: [String], _ api: TestAPI) async throws {
        let answer = try await api.post(
            "private/records/modify", Self.modify("Z", operations))
        try #require(answer.status == 200 && !answer.text.contains("serverErrorCode"))
    }

    private static func referring(_ name: String, to target: String) -> String {
        """
        {"operationType":"forceReplace","record":{"recordName":"\(name)","recordType":"Note",\
        "parent":{"recordName":"P"},"fields":{"title":{"value":"\(title(of: name))"},\
        "to":{"value":{"recordName":"\(target)","action":"DELETE_SELF"},"type":"REFERENCE"}}}}
        """
    }

    @Test(
        "M6: references are mended to what records have: no old one deletes a sound record",
        arguments: Loss.allCases)
    func references(loss: Loss) async throws {
        let api = try await TestAPI()
        try await api.makeZone("Z")
        let targets = ["P", "T1", "T2"].map { Self.operation("create", $0) }
        try await modify(targets, api)
        try await modify((0..<12).map { Self.referring("s\($0)", to: "T1") }, api)
        let before = Closed(
            callers: api.callers, pages: try await StorePages(closing: api.cloud.store),
            records: [:])
        let later = try before.open(before.pages)
        try await modify((0..<6).map { Self.referring("s\($0)", to: "T2") }, later)
        try await modify((6..<9).map { Self.operation("forceDelete", "s\($0)") }, later)
        let closed = Closed(
            callers: api.callers, pages: try await StorePages(closing: later.cloud.store),
            records: [:])

        let mendedAPI = try damaged(
            loss, "reference", index: "reference_target", from: before.pages, closed)
        let mend = try #require(try await mended(mendedAPI))
        #expect(mend.tables == ["reference"])
        // Six that name T2 now, and two rows of each of the three that were deleted.
        #expect(mend.droppedRows == (loss == .zeroes ? 0 : 12))
        // Nine live, each with a reference and a parent.
        #expect(mend.addedRows == (loss == .zeroes ? 18 : 0))
        #expect(try check(mendedAPI) == [])
        try await modify([Self.operation("forceDelete", "T1")], mendedAPI)
        let left = try await lookedUp(Set((0..<12).map { "s\($0)" }), in: "Z", mendedAPI)
        let living = left.filter { if case .title = $0.value { true } else { false } }
        #expect(Set(living.keys) == Set((0..<6).map { "s\($0)" }))
        // What has a child stays (SAVE-24).
        let answer = try await mendedAPI.post(
            "private/records/modify", Self.modify("Z", [Self.operation("forceDelete", "P")]))
        #expect(answer.text.contains("serverErrorCode"))
        #expect(try check(mendedAPI) == [])
        try await mendedAPI.cloud.store.close()
    }

    @Test(
        "M6: uses of files are mended to what records have: none keeps a file for ever, none is lost",
        arguments: Loss.allCases)
    func assetUses(loss: Loss) async throws {
        func save(_ text: String, of name: String, _ api: TestAPI) async throws {
            let asset = try await api.upload(Array(text.utf8), to: "file", of: name)
            let answer = try await api.save(asset, as: "file", of: name)
            try #require(answer.status == 200 && !answer.text.contains("serverErrorCode"))
        }
        let api = try await TestAPI()
        for number in 0..<5 { try await save("first \(number)", of: "r\(number)", api) }
        let before = Closed(
            callers: api.callers, pages: try await StorePages(closing: api.cloud.store),
            records: [:])
        let later = try before.open(before.pages)
        try await save("second", of: "r0", later)
        let answer = try await later.post(
            "private/records/modify",
            #"{"operations":[{"operationType":"forceDelete","record":{"recordName":"r1"}}]}"#)
        try #require(answer.status == 200 && !answer.text.contains("serverErrorCode"))
        let closed = Closed(
            callers: api.callers, pages: try await StorePages(closing: later.cloud.store),
            records: [:])

        let mendedAPI = try damaged(
            loss, "asset_use", index: "asset_use_content", from: before.pages, closed)
        let mend = try #require(try await mended(mendedAPI))
        #expect(mend.tables == ["asset_use"])
        #expect(mend.droppedRows == (loss == .zeroes ? 0 : 2))
        #expect(mend.addedRows == (loss == .zeroes ? 4 : 0))
        #expect(try check(mendedAPI) == [])
        let store = mendedAPI.cloud.store
        let removed = try await store.write(.everything) { transaction in
            try transaction.removeUnusedAssets(since: .init(rawValue: .max), limit: 100)
        }
        // Those of r0 before its second, and of r1.
        #expect(removed.files.count == 2)
        #expect(try check(mendedAPI) == [])
        try await store.close()
    }

    @Test(
        "M6: damaged indexes of fields are forgotten, and queries find what is in records",
        arguments: ["field_index", "field_index_entry"])
    func fieldIndexes(table: String) async throws {
        let api = try await TestAPI()
        try await api.makeZone("Z")
        try await modify((1...9).map { Self.operation("create", "Z-\($0)", "t\($0)") }, api)
        try await api.cloud.store.write(.everything) { transaction in
            let account = try #require(try transaction.account(named: "me"))
            let container = ContainerKey(container: TestAPI.container, environment: .development)
            let owner = try transaction.user(of: account, in: container)
            let key = DatabaseKey(container: container, scope: .private, owner: owner?.id)
            let database = try #require(try transaction.database(key))
            let zone = try #require(try transaction.zones(["Z"], in: database.id).first)
            let wish = IndexInterest.Wish(
                database: database.id, zone: zone.key, recordType: "Note", name: "value title")
            try BuildFieldIndex.begin(wish, limits: Limits(), at: TestAPI.start, in: transaction)
            let index = try #require(try transaction.fieldIndexes(in: zone.key, of: nil).first)
            let isDone = try BuildFieldIndex.step(index.id, limit: 99, in: transaction)
            #expect(isDone)
        }
        let closed = Closed(
            callers: api.callers, pages: try await StorePages(closing: api.cloud.store),
            records: [:])
        var pages = closed.pages
        let page = try #require(try pages.pages(of: table).first)
        pages.overwrite(page, with: Array(repeating: 0, count: StorePages.size))
        let damaged = try closed.open(pages)
        let question = """
            {"zoneID":{"zoneName":"Z"},"query":{"recordType":"Note","filterBy":[{"comparator":\
            "EQUALS","fieldName":"title","fieldValue":{"value":"T4"}}]}}
            """
        let answer = try await damaged.post("private/records/query", question)
        #expect(try contents(answer) == ["Z-4": .title("t4")])
        let left = try await damaged.cloud.store.read {
            try $0.fieldIndexes(unusedSince: Instant(rawValue: .max), limit: 100)
        }
        #expect(left == [])
        #expect(try check(damaged) == [])
        try await damaged.cloud.store.close()
    }
}
