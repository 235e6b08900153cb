// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let assets: [Check] = [
        Check("A file is known until no record has held it for the time of grace (ASSET-4)") {
            store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("Notes")
                let kept = try transaction.putAsset(.file("a"), at: .second(0))
                #expect(kept == .file("a"))
                #expect(
                    try transaction.putAsset(.file("a", named: "again"), at: .second(0)) == kept)
                #expect(
                    try transaction.assets([kept.content, .named("b")]) == [kept.content: kept])
                #expect(try transaction.knownAssetFiles(among: ["file-a", "again"]) == ["file-a"])
                try transaction.putAssetUses(["n": [kept.content]], in: zone.key, at: .second(1))
                #expect(try transaction.unusedFiles(since: .second(9)) == [])
                try transaction.putAssetUses(["m": [kept.content]], in: zone.key, at: .second(2))
                try transaction.putAssetUses(["n": []], in: zone.key, at: .second(3))
                #expect(try transaction.unusedFiles(since: .second(9)) == [])
                try transaction.putAssetUses(["m": []], in: zone.key, at: .second(4))
                #expect(try transaction.unusedFiles(since: .second(4)) == [])
                #expect(try transaction.unusedFiles(since: .second(5)) == ["file-a"])
                #expect(try transaction.assets([kept.content]) == [:])
            }
        },
        Check("A lost file is replaced by another of the same content, which its records hold") {
            store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("Notes")
                for name in ["a", "b"] { _ = try transaction.putAsset(.file(name), at: .second(0)) }
                let again = StoredAsset.file("a", named: "again")
                try transaction.putAssetUses(["n": [again.content]], in: zone.key, at: .second(1))
                try transaction.replaceAsset(by: again)
                #expect(try transaction.assets([again.content]) == [again.content: again])
                #expect(
                    try transaction.knownAssetFiles(among: ["file-a", "again", "file-b"])
                        == ["again", "file-b"])
                #expect(try transaction.unusedFiles(since: .second(9)) == ["file-b"])
            }
        },
        Check("A file that no record ever held goes too, and a zone lets go of all its files") {
            store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("Notes")
                for name in ["a", "b", "c"] {
                    _ = try transaction.putAsset(.file(name), at: .second(0))
                }
                try transaction.putAssetUses(
                    ["n": [.named("a")], "m": [.named("a"), .named("b")]], in: zone.key,
                    at: .second(0)
                )
                #expect(try transaction.unusedFiles(since: .second(1)) == ["file-c"])
                try transaction.delete(zone, at: .second(5))
                #expect(try transaction.unusedFiles(since: .second(5)) == [])
                #expect(try transaction.unusedFiles(since: .second(6)) == ["file-a", "file-b"])
            }
        },
        Check("An upload is awaited until it comes or its time is up") { store in
            try await store.write(.everything) { transaction throws in
                let uploads = (1...3).map { number in
                    AwaitedUpload(
                        tokenHash: [UInt8(number)],
                        field: AssetField(
                            database: .privateNotes(), zoneName: "Notes", recordName: "n",
                            fieldName: "f"
                        ),
                        byteLimit: 5, expiresAt: .second(Int64(number))
                    )
                }
                try transaction.putAwaitedUploads(uploads)
                #expect(try transaction.awaitedUpload(tokenHash: [1]) == uploads[0])
                #expect(try transaction.awaitedUpload(tokenHash: [9]) == nil)
                #expect(try transaction.removeAwaitedUpload(tokenHash: [3]))
                #expect(!(try transaction.removeAwaitedUpload(tokenHash: [3])))
                #expect(
                    try transaction.removeAwaitedUploads(expiredBefore: .second(9), limit: 1) == 1)
                #expect(try transaction.awaitedUpload(tokenHash: [1]) == nil)
                #expect(
                    try transaction.removeAwaitedUploads(expiredBefore: .second(2), limit: 9) == 0)
                #expect(
                    try transaction.removeAwaitedUploads(expiredBefore: .second(3), limit: 9) == 1)
            }
        },
        Check("Random saves, deletions and collections leave exactly the files in use") { store in
            for seed in UInt64(1)...20 {
                try await store.write(.everything) { transaction throws in
                    try AssetWalk(seed: seed).run(in: transaction)
                }
            }
        },
    ]
}

/// A walk over files and records, held against a model of who holds what.
private struct AssetWalk {
    private static let steps = 120
    let seed: UInt64

    func run(in transaction: any StoreTransaction) throws {
        var dice = SeededGenerator(seed: seed)
        var zone = try transaction.makeZone("Walk \(seed)")
        var held: [String: Set<String>] = [:]
        var idle: [String: Int64] = [:]
        for now in 1...Int64(Self.steps) {
            let letter = "\(seed)-\(dice.below(6))"
            let record = "r\(dice.below(5))"
            let before = held.values.reduce(into: Set<String>()) { $0.formUnion($1) }
            switch dice.below(8) {
            case 0, 1, 2:
                _ = try transaction.putAsset(.file(letter), at: .second(now))
                idle[letter] = now
            case 3, 4:
                // Saves name files that are known only.
                let known = Set(idle.keys).union(before)
                held[record] = known.contains(letter) ? [letter] : []
                try put(held[record] ?? [], record, now)
            case 5:
                held[record] = []
                try put([], record, now)
            case 6:
                let moment = now - Int64(dice.below(20))
                let gone = idle.filter { $0.value < moment && !before.contains($0.key) }.keys
                let files = try transaction.unusedFiles(since: .second(moment))
                #expect(files == gone.map { "file-\($0)" }.sorted(), "seed \(seed), step \(now)")
                for name in gone { idle[name] = nil }
            default:
                try transaction.delete(zone, at: .second(now))
                zone = try transaction.makeZone("Walk \(seed)")
                held = [:]
            }
            let after = held.values.reduce(into: Set<String>()) { $0.formUnion($1) }
            for name in before.subtracting(after) { idle[name] = max(idle[name] ?? 0, now) }
        }
        for name in held.keys { try put([], name, 1000) }
        _ = try transaction.unusedFiles(since: .second(2000))
        #expect(
            try transaction.assets(Set((0..<6).map { .named("\(seed)-\($0)") })) == [:],
            "seed \(seed)"
        )
        func put(_ names: Set<String>, _ record: String, _ now: Int64) throws {
            let contents = Set(names.map { AssetContent.named($0) })
            try transaction.putAssetUses([record: contents], in: zone.key, at: .second(now))
        }
    }
}

extension StoreTransaction {
    /// Forgets unused files two at a time, until none is left.
    fileprivate func unusedFiles(since moment: Instant) throws -> [String] {
        var files: [String] = []
        while true {
            let removed = try removeUnusedAssets(since: moment, limit: 2)
            files += removed.files
            if removed.isComplete { return files.sorted() }
        }
    }
}

extension StoredAsset {
    fileprivate static func file(_ name: String, named file: String? = nil) -> StoredAsset {
        StoredAsset(
            content: .named(name), file: file ?? "file-\(name)", size: 3, checksum: "sum-\(name)"
        )
    }
}

extension AssetContent {
    fileprivate static func named(_ name: String) -> AssetContent {
        AssetContent(rawValue: "content-\(name)")
    }
}

extension Instant {
    fileprivate static func second(_ number: Int64) -> Instant {
        noon.advanced(by: .seconds(number))
    }
}
