// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore
import TidebellHTTP

@testable import TidebellSQL
@testable import TidebellSQLite
@testable import TidebellServer

/// What looks at a cloud looks at all of it, and leaves it as it is.
extension BackupTests {
    /// What the files of a folder hold, by their paths. SQLite's index of its log is none of
    /// what is kept: it is made anew from the log.
    private func contents(of folder: URL) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for path in try files(folder) where !path.hasSuffix("-shm") {
            contents[path] = try Data(contentsOf: folder.appendingPathComponent(path))
        }
        return contents
    }

    @Test("Checks and backups leave what a server that was killed left as it is, its log too")
    func killed() async throws {
        let home = try await Home(data)
        for name in ["a", "b"] { try await home.save(name) }
        let killed = DataFolder(root.appendingPathComponent("killed"))
        try FileManager.default.copyItem(at: data.url, to: killed.url)
        try await home.store.close()
        let before = try contents(of: killed.url)
        let log = try #require(before["\(DataFolder.databaseName)-wal"])
        #expect(!log.isEmpty)
        func expectUntouched(_ what: String) throws {
            let after = try contents(of: killed.url)
            #expect(after.keys.sorted() == before.keys.sorted(), "\(what)")
            #expect(after == before, "\(what)")
        }
        #expect(try check(killed) == [])
        try expectUntouched("check")
        #expect(try StoreCheck.refusals(ofStoreAt: killed.database.path) == [])
        try expectUntouched("refusals")
        #expect(try StoreCheck.holders(of: ["x"], at: killed.database.path)["x"]?.count == 0)
        try expectUntouched("holders")
        let manifest = try Backup.make(of: killed, to: backup, at: Self.moment)
        #expect(manifest.records == 2)
        try expectUntouched("backup")
    }

    @Test("Checks and backups leave a cloud as it is that was closed")
    func closed() async throws {
        try await makeCloud()
        let before = try contents(of: data.url)
        #expect(try check(data) == [])
        _ = try Backup.make(of: data, to: backup, at: Self.moment)
        #expect(try contents(of: data.url) == before)
    }

    @Test("Beyond what is listed everything is looked at and counted; damage is listed first")
    func manyProblems() async throws {
        try await makeCloud()
        let many = StoreCheck.mostProblems + 100
        func change(_ sql: String) async throws {
            let store = try data.openStore(for: .administering)
            try await store.write(.everything) { transaction in
                let transaction = try #require(transaction as? SQLTransaction)
                try transaction.connection.run(sql)
            }
            try await store.close()
        }
        let numbers = """
            WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(many))
            """
        try await change("INSERT INTO lost_asset \(numbers) SELECT 'c' || i FROM n")
        try await change(
            """
            INSERT INTO asset_use (zone, record, content)
            \(numbers) SELECT (SELECT key FROM zone), 'a', 'c' || i FROM n
            """)
        try await change("UPDATE record SET fields = x'7b22783a7d'")
        let found = try CloudCheck.run(data, at: Self.moment)
        #expect(found.records == 2)
        #expect(found.damages == 2)
        #expect(found.warnings == many)
        #expect(found.hasMore)
        #expect(found.problems.count == StoreCheck.mostProblems)
        #expect(
            found.problems.filter { $0.severity == .damage }.compactMap(\.record) == ["a", "b"])

        // As many records that are damaged.
        try await change("DELETE FROM lost_asset")
        try await change("DELETE FROM asset_use")
        try await change(
            """
            INSERT INTO record (zone, position, name, type, created_at, created_by, created_device,
                modified_at, modified_by, modified_device, deleted, fields)
            \(numbers) SELECT (SELECT key FROM zone), i, 'n' || i, 'Note', 1, '', '', 1, '', '', 0,
                x'7b22783a7d' FROM n
            """)
        let damaged = try CloudCheck.run(data, at: Self.moment)
        #expect(damaged.records == many + 2)
        #expect(damaged.damages >= many + 2)
        #expect(damaged.problems.count == StoreCheck.mostProblems)
        #expect(damaged.problems.allSatisfy { $0.zone == nil || $0.zone == "_defaultZone" })
        #expect(!damaged.problems.contains { $0.problem.contains("cannot be read") })
    }
}
