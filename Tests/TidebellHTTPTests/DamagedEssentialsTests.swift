// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellTestStores

@testable import TidebellSQL
@testable import TidebellSQLite
import TidebellServer
import GRDB

/// Damage in the tables of people, zones and tokens: it is met when a server starts.
@Suite("Damaged tables of people and zones", .onSQLite) struct DamagedEssentialsTests {
    private static let closed = Task { try await DamagedPageTests.close(["A": 3, "B": 2]) }

    private static let noise = (0..<StorePages.size).map { UInt8($0 % 251) }

    /// The way a page of an index is wrong.
    enum Wrong: CaseIterable { case noise, ofAnother }

    @Test(
        "M6: a start mends an index of users or zones from its table, the upkeep one of sessions, and both report it",
        arguments: ["sqlite_autoindex_user_1", "zone_changes", "web_token_session"], Wrong.allCases)
    func index(name: String, wrong: Wrong) async throws {
        let closed = try await Self.closed.value
        var pages = closed.pages
        let page = try #require(try pages.pages(of: name).first)
        let another = try #require(try pages.pages(of: "sqlite_autoindex_database_1").first)
        pages.overwrite(page, with: wrong == .noise ? Self.noise : pages.content(of: another))
        let api = try closed.open(pages)
        let store = try #require(api.cloud.store.engine as? SQLiteStore)
        let observed = Mutex<[StoreTroubles.News]>([])
        store.troubles.observe { news in observed.withLock { $0.append(news) } }
        if name.hasPrefix("web") {
            #expect(observed.withLock { $0 } == [])
            try await store.inspect()
        }
        var mend = StoreMend()
        mend.tables = [
            name.hasPrefix("zone") ? "zone" : name.hasPrefix("web") ? "web_token" : "user"
        ]
        #expect(observed.withLock { $0 } == [.mended(mend)])
        let caller = try await api.get("public/users/caller")
        #expect(caller.text.contains(closed.callers.user), "\(caller.text)")
        let zones = try await api.get("private/zones/list")
        #expect(zones.text.contains(#""zoneName":"A""#) && zones.text.contains(#""zoneName":"B""#))
        let found = try StoreCheck.run(at: store.pool.path).problems
        #expect(found.filter { $0.severity == .damage } == [])
        try await store.close()
    }

    @Test(
        "M6: a start with a damaged table of zones, keys, the secret or tokens reports which it is",
        arguments: ["zone", "zone_key", "store_secret", "api_token", "account", "user"])
    func table(name: String) async throws {
        let closed = try await Self.closed.value
        var pages = closed.pages
        let start = (try #require(pages.roots[name]) - 1) * StorePages.size
        pages.bytes.replaceSubrange(start..<start + StorePages.size, with: Self.noise)
        let folder = TestAPI.newFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try pages.write(to: folder)
        let error = #expect(throws: StoreOpenError.self) {
            try SQLiteFactory().open(in: folder)
        }
        let sentence = error?.description ?? ""
        #expect(sentence.contains("the table '\(name)' is not whole"), "\(sentence)")
        #expect(sentence.contains("tidebell check") && sentence.contains("--despite-damage"))
        #expect(sentence.contains("restore it from a backup"))
    }

    @Test("M6: where a table and its only index contradict each other, none is taken for right")
    func contradiction() async throws {
        let closed = try await Self.closed.value
        var pages = closed.pages
        let page = try #require(try pages.pages(of: "sqlite_autoindex_account_1").first)
        let another = try #require(try pages.pages(of: "sqlite_autoindex_zone_1").first)
        pages.overwrite(page, with: pages.content(of: another))
        let folder = TestAPI.newFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try pages.write(to: folder)
        let error = #expect(throws: StoreOpenError.self) {
            try SQLiteFactory().open(in: folder)
        }
        #expect(error?.description.contains("the table 'account' is not whole") == true)
    }

    @Test("M6: sessions that are not whole are named by the upkeep, and known people stay known")
    func sessions() async throws {
        let closed = try await Self.closed.value
        var pages = closed.pages
        func page(of tree: String) throws -> StorePages.Page {
            try #require(try pages.pages(of: tree).first)
        }
        let (account, session, expiry) = (
            try page(of: "web_token_account"), try page(of: "web_token_session"),
            try page(of: "web_token_expiry")
        )
        let contents = [session, expiry, account].map { pages.content(of: $0) }
        // Each can be read, and is another one's.
        for (page, content) in zip([account, session, expiry], contents) {
            pages.overwrite(page, with: content)
        }
        let api = try closed.open(pages)
        let store = try #require(api.cloud.store.engine as? SQLiteStore)
        let error = await #expect(throws: StoreOpenError.self) { try await store.inspect() }
        #expect(error?.description.contains("the table 'web_token' is not whole") == true)
        let caller = try await api.get("public/users/caller")
        #expect(caller.text.contains(closed.callers.user), "\(caller.text)")
        try await store.close()
    }

    // MARK: Pages of an earlier moment

    /// What changed between two moments of a store, by SQL.
    enum Change: String, CaseIterable {
        case disabled = "UPDATE account SET disabled = 1"
        case zoneMoved = "UPDATE zone SET position = position + 1 WHERE name = 'A'"
        case zoneDeleted = """
            UPDATE zone SET deletion = 'deleted', deleted_at = 9, position = position + 1
            WHERE name = 'A'
            """
        case sessionRenewed = "UPDATE web_token SET expires_at = expires_at + 1"
        case sessionReplaced = "UPDATE web_token SET session = 'other'"
        case pageMade = "UPDATE web_token SET origin = 'page'"
        case parentKnown = "UPDATE web_token SET parent = 'other'"

        var table: String {
            switch self {
            case .disabled: "account"
            case .zoneMoved, .zoneDeleted: "zone"
            default: "web_token"
            }
        }

        /// An index that does not show it.
        var another: String? {
            switch self {
            case .disabled: nil
            case .zoneMoved, .zoneDeleted: "sqlite_autoindex_zone_1"
            default: "web_token_account"
            }
        }

        /// Whether no row is changed so in its life: that an index of some rows lacks one shows
        /// nothing then.
        var isOfOneMoment: Bool { self == .pageMade || self == .parentKnown }

        /// The indexes that show it.
        var indexes: [String] {
            switch self {
            case .disabled: ["account_disabled"]
            case .zoneMoved: ["zone_changes"]
            case .zoneDeleted: ["zone_changes", "zone_traces"]
            case .sessionRenewed: ["web_token_expiry"]
            case .sessionReplaced: ["web_token_session"]
            case .pageMade: ["web_token_page_expiry"]
            case .parentKnown: ["web_token_parent"]
            }
        }
    }

    /// A cloud before and after a change.
    private struct Moments {
        var closed: DamagedPageTests.Closed
        var before: StorePages
        var after: StorePages

        init(_ change: Change) async throws {
            closed = try await DamagedEssentialsTests.closed.value
            before = closed.pages
            let api = try closed.open(before)
            try await api.cloud.store.write(.everything) { transaction in
                let connection = try #require(transaction as? SQLTransaction).connection.sqlite
                try connection.run(change.rawValue)
            }
            after = try await StorePages(closing: api.cloud.store)
        }

        /// The pages of one moment, with the only page of a table or index of the other one.
        func pages(_ isAfter: Bool, butOf tree: String) throws -> StorePages {
            var (pages, others) = isAfter ? (after, before) : (before, after)
            let start = (try #require(before.roots[tree]) - 1) * StorePages.size
            let range = start..<start + StorePages.size
            try #require(others.bytes[range] != pages.bytes[range])
            pages.bytes.replaceSubrange(range, with: others.bytes[range])
            return pages
        }
    }

    /// Expects the store to name a table that is not whole, where it is looked through.
    private func expectNotWhole(
        _ table: String, _ moments: Moments, _ pages: StorePages, _ comment: Comment
    ) async throws {
        let error: StoreOpenError?
        if table == "web_token" {
            let api = try moments.closed.open(pages)
            let store = try #require(api.cloud.store.engine as? SQLiteStore)
            error = await #expect(throws: StoreOpenError.self, comment) {
                try await store.inspect()
            }
            try await store.close()
        } else {
            let folder = TestAPI.newFolder()
            defer { try? FileManager.default.removeItem(at: folder) }
            try pages.write(to: folder)
            error = #expect(throws: StoreOpenError.self, comment) {
                try SQLiteFactory().open(in: folder)
            }
        }
        #expect(
            error?.description.contains("the table '\(table)' is not whole") == true, comment)
    }

    @Test(
        "M6: a page of an earlier moment is not taken for the table: nobody is enabled, no zone back",
        arguments: Change.allCases)
    func staleTable(change: Change) async throws {
        let moments = try await Moments(change)
        try await expectNotWhole(
            change.table, moments, try moments.pages(true, butOf: change.table), "the table")
        // Nor is it where another index is lost.
        guard let another = change.another else { return }
        var pages = try moments.pages(true, butOf: change.table)
        pages.overwrite(try #require(try pages.pages(of: another).first), with: Self.noise)
        try await expectNotWhole(change.table, moments, pages, "without \(another)")
    }

    @Test(
        "M6: where an index of an earlier moment is sound and not the table's, none is taken for right",
        arguments: Change.allCases.filter { !$0.isOfOneMoment })
    func staleIndex(change: Change) async throws {
        let moments = try await Moments(change)
        for index in change.indexes {
            try await expectNotWhole(
                change.table, moments, try moments.pages(true, butOf: index), "\(index)")
        }
    }

    @Test(
        "M6: an index of some rows that is lost is made anew: who is disabled stays so",
        arguments: [Change.disabled, .zoneDeleted, .pageMade, .parentKnown], Wrong.allCases)
    func lostIndex(change: Change, wrong: Wrong) async throws {
        let moments = try await Moments(change)
        var pages = moments.after
        let index = try #require(change.indexes.last)
        let page = try #require(try pages.pages(of: index).first)
        // Of another type in the first column.
        let another = try #require(
            try pages.pages(
                of: change.table == "zone"
                    ? "sqlite_autoindex_account_1" : "sqlite_autoindex_database_1"
            ).first)
        pages.overwrite(page, with: wrong == .noise ? Self.noise : pages.content(of: another))
        let api = try moments.closed.open(pages)
        let store = try #require(api.cloud.store.engine as? SQLiteStore)
        if change.table == "web_token" { try await store.inspect() }
        let found = try StoreCheck.run(at: store.pool.path).problems.map(\.description)
        #expect(found.filter { $0.contains("index") } == [])
        let unsound = try await store.read { reader in
            let connection = try #require(reader as? SQLReader).connection.sqlite
            return try EssentialTables.unsound(among: [change.table], on: connection)
        }
        #expect(unsound == [])
        if change == .disabled {
            let account = try await store.read { try $0.account(named: "me") }
            #expect(account != nil)
            #expect(try await api.get("public/users/caller").status == 421)
        }
        try await store.close()
    }
}
