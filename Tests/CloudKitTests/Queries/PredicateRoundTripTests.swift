// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite("Random predicates")
struct PredicateRoundTripTests {
    static let seeds: [UInt64] = [1, 2, 3, 4]

    /// The format of a tree, with `%@` where only an argument can express the value.
    private func format(_ tree: PredicateTree) -> (String, arguments: [Any]) {
        var arguments: [Any] = []
        let text = tree.format { value in
            switch value {
            case .null, .scalar(.string), .scalar(.int64), .scalar(.double), .scalar(.date):
                return value.description
            default:
                arguments.append(value)
                return "%@"
            }
        }
        return (text, arguments)
    }

    @Test("QUERY-2: a predicate that is written and read again is the same", arguments: seeds)
    func formats(seed: UInt64) throws {
        var random = RandomPredicates(seed: seed)
        for round in 0..<500 {
            let tree = random.tree()
            let (text, arguments) = format(tree)
            let read = try PredicateParser.parse(text, arguments)
            #expect(read == tree, "seed \(seed), round \(round): \(text)")
        }
    }

    @Test("SUB-70: a predicate that is archived and read again is the same", arguments: seeds)
    func archives(seed: UInt64) throws {
        var random = RandomPredicates(seed: seed)
        for round in 0..<500 {
            let tree = random.tree()
            var writer = BlobWriter()
            writer.write(tree)
            var reader = BlobReader(writer.bytes)
            #expect(try reader.predicateTree() == tree, "seed \(seed), round \(round)")
            try reader.finish()
        }
    }

    @Test("A predicate of Foundation's classes has the tree it was made of", arguments: seeds)
    func predicates(seed: UInt64) {
        var random = RandomPredicates(seed: seed)
        for round in 0..<500 {
            let tree = random.tree()
            #expect(PredicateTree(tree.predicate) == tree, "seed \(seed), round \(round)")
        }
    }

    @Test("SUB-22: what is asked of the server and shown again asks the same", arguments: seeds)
    func terms(seed: UInt64) throws {
        var random = RandomPredicates(seed: seed)
        var taken = 0
        for round in 0..<2_000 {
            guard let terms = try? random.tree().terms() else { continue }
            taken += 1
            let shown = PredicateTree(terms)
            #expect(try shown.terms() == terms, "seed \(seed), round \(round): \(shown)")
        }
        #expect(taken > 100)
    }

    @Test(
        "Whatever an archive holds, reading it ends with a predicate or an error", arguments: seeds)
    func damagedArchives(seed: UInt64) {
        var random = RandomPredicates(seed: seed)
        for _ in 0..<500 {
            var writer = BlobWriter()
            writer.write(random.tree())
            var bytes = writer.bytes
            for _ in 0...random.below(3) where !bytes.isEmpty {
                bytes[random.below(bytes.count)] = UInt8(random.below(256))
            }
            var reader = BlobReader(Array(bytes.prefix(random.below(bytes.count + 1))))
            _ = try? reader.predicateTree()
        }
        var nested = BlobReader(Array(repeating: [2, 0, 0, 0, 1], count: 100_000).flatMap { $0 })
        #expect(throws: BlobError.badValue) { try nested.predicateTree() }
    }

    /// A predicate of so many levels: compounds around a comparison of two.
    private func nested(_ levels: Int) -> PredicateTree {
        let comparison = PredicateComparison(
            left: .keyPath("a"), operator: .equal, right: .value(.null))
        return (2..<levels).reduce(.comparison(comparison)) { tree, _ in .not(tree) }
    }

    @Test("SUB-70: a predicate that was read can be written again, however deep it is")
    func deepArchives() throws {
        for levels in [2, 65, 66, 300, 512] {
            let tree = nested(levels)
            var writer = BlobWriter()
            writer.write(tree)
            var reader = BlobReader(writer.bytes)
            let predicate = try PredicateArchive.predicate(from: &reader)
            #expect(PredicateTree(predicate) == tree, "\(levels) levels")
        }
    }

    @Test("SUB-70: what is too deep to be read is too deep to be written")
    func tooDeepArchives() {
        let tree = nested(513)
        var writer = BlobWriter()
        writer.write(tree)
        var reader = BlobReader(writer.bytes)
        #expect(throws: BlobError.badValue) { try reader.predicateTree() }
        #expect(PredicateTree(tree.predicate) == nil)
    }

    @Test("The deepest formats can be archived and read")
    func deepFormats() throws {
        let formats = [
            String(repeating: "(a == 1 OR b == 1 AND ", count: 62) + "c == 1"
                + String(repeating: ")", count: 62),
            String(repeating: "SUBQUERY(a, $x, ", count: 31) + "b == 1"
                + String(repeating: ") == 1", count: 31),
        ]
        for format in formats {
            let tree = try PredicateParser.parse(format)
            var writer = BlobWriter()
            PredicateArchive.write(NSPredicate(tree), to: &writer)
            var reader = BlobReader(writer.bytes)
            let predicate = try PredicateArchive.predicate(from: &reader)
            #expect(PredicateTree(predicate) == tree)
        }
    }

    @Test(
        "Whatever a format contains, reading it ends with a predicate or an error", arguments: seeds
    )
    func fuzz(seed: UInt64) {
        var random = RandomPredicates(seed: seed)
        let pieces = [
            "a", "==", "AND", "OR", "NOT", "(", ")", "{", "}", "[", "]", "%@", "%K", "%d", "%9$@",
            "'", "\"", "\\", "\\u12", "1", ".", "-", "0x", "1e", "$", "#", "@", ":", ",", " ", "ü",
            "SUBQUERY(", "CAST(", "self", "nil", "BETWEEN", "%", "\u{0}", "**", "any ", "f:g:(",
            "sum(", "$x.a", ".b", "[SIZE]", "a.@max.b", "0b", "9223372036854775808",
        ]
        for _ in 0..<5_000 {
            let text: String
            if random.below(2) == 0 {
                text = (0..<random.below(20)).map { _ in random.pick(pieces) }.joined()
            } else {
                let bytes = (0..<random.below(40)).map { _ in UInt8(random.below(256)) }
                text = String(decoding: bytes, as: UTF8.self)
            }
            guard let tree = try? PredicateParser.parse(text, ["k", 5]) else { continue }
            _ = try? tree.terms()
            _ = PredicateEvaluation(["a": 1], variables: [:]).holds(tree)
        }
    }
}
