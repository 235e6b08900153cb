// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellTestStores

@testable import TidebellSQLite
import TidebellServer
import GRDB

/// Damage in the tables of people, zones and tokens: it is met when a server starts.
@Suite("Damaged tables of people and zones") struct DamagedEssentialsTests {
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
        let store = try #require(api.cloud.store as? SQLiteStore)
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
}
