// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellTestStores
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP

@testable import TidebellSQL
@testable import TidebellSQLite
import TidebellServer
import GRDB

/// Pages that can be read and contradict others: of long ago, because a disk lost a write, or
/// with a bit that flipped.
extension DamagedPageTests {
    /// A cloud at two moments, between which records moved, were deleted and were made.
    struct Moments: Sendable {
        var before: StorePages
        /// Its pages are those at the later moment.
        var closed: Closed
        /// What there is at the later moment; nil for what was deleted.
        var titles: [String: [String: String?]]
    }

    static let moments = Task { () -> Moments in
        let first = try await close(["A": 12, "B": 110, "C": 12])
        let api = try first.open(first.pages)
        var titles: [String: [String: String?]] = [:]
        for (zone, names) in first.records.sorted(by: { $0.key < $1.key }) {
            var now = Dictionary(uniqueKeysWithValues: names.map { ($0, Optional(title(of: $0))) })
            var operations: [String] = []
            for (index, name) in names.sorted().enumerated() where name != "B-1" {
                if index % 7 == 3 {
                    operations.append(operation("forceDelete", name))
                    now[name] = .some(nil)
                } else if index % 3 == 1 {
                    let title = "moved " + title(of: name)
                    operations.append(operation("forceReplace", name, title))
                    now[name] = title
                }
            }
            for number in 1...3 {
                let name = "\(zone)-new\(number)"
                operations.append(operation("create", name))
                now[name] = title(of: name)
            }
            let answer = try await api.post("private/records/modify", modify(zone, operations))
            try #require(answer.status == 200 && !answer.text.contains("serverErrorCode"))
            titles[zone] = now
        }
        let closed = Closed(
            callers: first.callers, pages: try await StorePages(closing: api.cloud.store),
            records: titles.mapValues { Set($0.keys) })
        return Moments(before: first.pages, closed: closed, titles: titles)
    }

    /// Mends a store whatever calls met, and returns what became of it.
    func mended(_ api: TestAPI) async throws -> StoreMend? {
        let store = try #require(api.cloud.store.engine as? SQLiteStore)
        return try await store.writeAlone { transaction in
            try SQLiteStore.mended(transaction.connection.sqlite, at: store.pool.path)
        }
    }

    /// Expects everything to be as it was at last, or to be reported as damaged; returns what is
    /// damaged.
    private func expectNothingOld(
        _ moments: Moments, _ api: TestAPI, affected: Set<String>, mayLack: Set<String> = [],
        _ comment: Comment
    ) async throws -> [String: Set<String>] {
        var damaged: [String: Set<String>] = [:]
        for (zone, titles) in moments.titles.sorted(by: { $0.key < $1.key }) {
            let looked = try await lookedUp(Set(titles.keys), in: zone, api)
            let changed = try await changed(in: zone, api)
            #expect(Set(looked.keys) == Set(titles.keys), comment)
            for (name, title) in titles {
                let detail: Comment = "\(comment): \(name)"
                if case .failed(let reason) = looked[name], reason.contains("is damaged") {
                    #expect(affected.contains(name), detail)
                    #expect(changed[name] == looked[name], detail)
                    damaged[zone, default: []].insert(name)
                } else if mayLack.contains(name), changed[name] == nil {
                    continue
                } else if let title {
                    #expect(looked[name] == .title(title), detail)
                    #expect(changed[name] == .title(title), detail)
                } else {
                    guard case .failed = looked[name] else {
                        Issue.record("deleted, and there again: \(detail)")
                        continue
                    }
                    #expect(changed[name] ?? .deleted == .deleted, detail)
                }
            }
            for (name, outcome) in changed where titles[name] == nil {
                guard case .failed = outcome else {
                    #expect(!mayLack.isEmpty, "made up: \(name), \(comment)")
                    continue
                }
            }
        }
        return damaged
    }

    @Test(
        "M6: a page of an earlier moment brings nothing back that was changed or deleted",
        arguments: 0..<24)
    func stalePage(seed: UInt64) async throws {
        let moments = try await Self.moments.value
        var pages = moments.closed.pages
        var chance = SeededGenerator(seed: seed)
        let tree = chance.oneIn(4) ? "record_name" : "record"
        let earlier = Dictionary(
            try moments.before.pages(of: tree).map { ($0.number, moments.before.content(of: $0)) }
        ) { first, _ in first }
        let stale = try pages.pages(of: tree).filter {
            earlier[$0.number] != nil && earlier[$0.number] != pages.content(of: $0)
        }
        let page = chance.pick(stale)
        pages.overwrite(page, with: try #require(earlier[page.number]))
        let api = try moments.closed.open(pages)
        let comment: Comment = "seed \(seed): page \(page.number), \(page.kind) of \(tree)"
        // Of another content only the checksum of the fields shows it.
        #expect(try await mended(api) != nil || page.kind == .overflow, comment)
        let damaged = try await expectNothingOld(
            moments, api, affected: page.names, comment)
        for (zone, names) in damaged {
            let operations = names.sorted().enumerated().map { index, name in
                // The others have B-1 as their parent.
                Self.operation(
                    index % 2 == 0 || name == "B-1" ? "forceReplace" : "forceDelete", name)
            }
            let answer = try await api.post(
                "private/records/modify", Self.modify(zone, operations))
            #expect(answer.status == 200 && !answer.text.contains("serverErrorCode"), comment)
        }
        #expect(try check(api) == [], comment)
        try await api.cloud.store.close()
    }

    @Test("M6: a name of which a bit flipped in the table is the one that the index has")
    func flippedName() async throws {
        let moments = try await Self.moments.value
        var pages = moments.closed.pages
        // Its name stands before its type.
        #expect(pages.flip(0x10, ofLastByteOf: "A-1", before: "Note") > 0)
        let api = try moments.closed.open(pages)
        // The call that meets it mends it.
        _ = try await lookedUp(["A-1"], in: "A", api)
        #expect(
            try await expectNothingOld(moments, api, affected: [], "A-1 is A-!") == [:])
        #expect(try check(api) == [])
        try await api.cloud.store.close()
    }

    @Test(
        "M6: whatever bit flips in records or their names, nothing is lost or made up silently",
        arguments: 0..<48)
    func flippedBit(seed: UInt64) async throws {
        let moments = try await Self.moments.value
        var pages = moments.closed.pages
        var chance = SeededGenerator(seed: seed)
        let tree = chance.oneIn(3) ? "record_name" : "record"
        let page = chance.pick(try pages.pages(of: tree).filter { $0.kind != .overflow })
        var content = pages.content(of: page)
        // Where cells stand, rather than what is free.
        let first = Int(content[5]) << 8 | Int(content[6])
        let (offset, bit) = (
            chance.oneIn(4) ? chance.below(content.count) : first + chance.below(64),
            UInt8(1) << UInt8(chance.below(8))
        )
        guard offset < content.count else { return }
        content[offset] ^= bit
        pages.overwrite(page, with: content)
        let api = try moments.closed.open(pages)
        let comment: Comment =
            "seed \(seed): bit \(bit) of byte \(offset), page \(page.number) of \(tree)"
        let mend = try await mended(api)
        // Of names that differ in the index alone, one is not the right one.
        let all = moments.closed.records.values.reduce(into: Set()) { $0.formUnion($1) }
        let names = tree == "record" ? page.names : all
        _ = try await expectNothingOld(
            moments, api, affected: names,
            mayLack: (mend?.renamedRecords ?? 0) > 0 && tree != "record" ? all : [], comment)
        try await api.cloud.store.close()
    }
}
