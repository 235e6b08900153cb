// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore
import TidebellWire

@testable import TidebellSQLite
@testable import TidebellServer

/// Clouds whose database has pages that cannot be read.
extension BackupTests {
    private func breakPage(
        of cloud: DataFolder, _ change: (inout StorePages) throws -> Void
    ) async throws {
        var pages = try await StorePages(closing: try cloud.openStore(for: .serving))
        try change(&pages)
        try Data(pages.bytes).write(to: cloud.database)
    }

    /// A cloud of two records, the first of them long.
    private func makeLongCloud() async throws {
        let home = try await Home(data)
        for name in ["a", "b"] { try await home.save(name) }
        try await home.store.write(.everything) { [zone = home.zone] transaction in
            var record = try #require(try transaction.records(["a"], in: zone.key)["a"])
            record.fields = RecordFields([
                "title": Field(.string(String(repeating: "x", count: 20_000)))
            ])
            record.position = try transaction.advance(zone.database, by: 1, at: Self.moment)
            try transaction.putRecords([record], in: zone.key)
            try transaction.touchZone(zone.key, position: record.position, clientChangeToken: nil)
        }
        try await home.store.close()
    }

    @Test("M6: a page number that cannot be is damage, and no full disk: the backup has the rest")
    func numberOfNoPage() async throws {
        try await makeLongCloud()
        try await breakPage(of: data) { pages in
            let lost = try #require(try pages.pages(of: "record").first { $0.kind == .overflow })
            pages.redirect(at: (lost.number - 1) * StorePages.size, to: StorePages.nowhere)
        }
        let damage = "/_defaultZone/a: the fields are damaged"
        let found = try check(data)
        #expect(found.contains { $0.hasSuffix(damage) }, "\(found)")
        let refusal = await sentence {
            _ = try Backup.make(of: data, to: backup, at: Self.moment)
        }
        #expect(refusal.contains("The cloud is damaged") && refusal.contains(damage), "\(refusal)")
        var options = Backup.Options()
        options.despiteDamage = true
        let manifest = try Backup.make(of: data, to: backup, at: Self.moment, options)
        #expect(manifest.problems.map(\.description).filter { $0.hasSuffix(damage) }.count == 1)
        #expect(manifest.records == 2)
        // The pages are sound again: nothing else is found, and nothing is in the way.
        let target = DataFolder(root.appendingPathComponent("restored"))
        _ = try await Restoring.run(backup, to: target, replacing: false, at: Self.moment)
        #expect(try check(target).allSatisfy { $0.hasSuffix(damage) })
        let home = try await Home(target)
        try await home.save("c")
        try await home.store.close()
    }

    @Test("M6: a check goes on past a lost page, and names the records that stood on it")
    func lostPage() async throws {
        try await makeCloud()
        try await breakPage(of: data) { pages in
            let root = try #require(try pages.pages(of: "record").first)
            pages.overwrite(root, with: Array(repeating: 0, count: StorePages.size))
        }
        let found = try check(data)
        for name in ["a", "b"] {
            #expect(
                found.contains {
                    $0.hasSuffix(
                        "/_defaultZone/\(name): the record, or the trace of its deletion, cannot "
                            + "be read")
                }, "\(found)")
        }
        #expect(found.contains("the file is damaged: not all of the table 'record' can be read"))
    }
}
