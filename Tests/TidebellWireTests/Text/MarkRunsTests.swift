// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellWire

@Suite("Long runs of marks")
struct MarkRunsTests {
    /// A letter with 200,000 marks, each pair of which stands in the wrong order: as it is,
    /// comparing it takes hours.
    private static let long = "a" + String(repeating: "\u{301}\u{316}", count: 100_000)

    private func read(_ text: String) throws -> String {
        try JSONReader.read(Array("\"\(text)\"".utf8)) { try $0.readString() }
    }

    private func scalars(_ text: String) -> [Unicode.Scalar] { Array(text.unicodeScalars) }

    @Test("What is read is compared, hashed and normalized in a time that grows with its length")
    func endsSoon() throws {
        let one = try read(Self.long)
        let other = try read("a" + String(repeating: "\u{316}\u{301}", count: 100_000))
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(!(one < other))
        #expect(try read(Self.long + "\u{302}") != one)
        #expect(one.precomposedStringWithCanonicalMapping == one)
        #expect(one.decomposedStringWithCanonicalMapping == one)
        #expect(!one.hasPrefix("_"))
    }

    @Test("The marks of the letter itself, and those that stand for others, are in order too")
    func composed() throws {
        for (text, letter) in [("\u{1F82}\u{316}\u{301}", "ᾂ"), ("e\u{344}\u{316}", "e")] {
            let marks = String(text.unicodeScalars.dropFirst().map(Character.init))
            let read = try read(letter + String(repeating: marks, count: 50_000))
            let classes = scalars(read).dropFirst().map {
                $0.properties.canonicalCombiningClass.rawValue
            }
            #expect(classes == classes.sorted())
            #expect(read == read.decomposedStringWithCanonicalMapping)
        }
    }

    @Test("The order is another spelling of the same text")
    func sameText() throws {
        var random = SystemRandomNumberGenerator()
        let marks = scalars("\u{301}\u{316}\u{345}\u{334}\u{344}\u{327}")
        for _ in 0..<200 {
            var text = String.UnicodeScalarView("x\u{E9}".unicodeScalars)
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                text.append(try #require(marks.randomElement(using: &random)))
            }
            text.append(contentsOf: "\u{E9}y".unicodeScalars)
            #expect(try read(String(text)) == String(text), "\(text)")
        }
    }

    @Test("Up to thirty marks, and marks of many letters, keep their bytes")
    func untouched() throws {
        let thirty = String(repeating: "\u{301}\u{316}", count: 15)
        for text in ["e" + thirty, thirty + "\u{E9}" + thirty, "ÅÅ\u{327}", "\u{1100}\u{1161}"] {
            let many = String(repeating: text + "|", count: 50)
            #expect(scalars(try read(many)) == scalars(many))
            let beside = scalars(try read(many + Self.long))
            #expect(beside.starts(with: scalars(many)))
        }
    }
}
