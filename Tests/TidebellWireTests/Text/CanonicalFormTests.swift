// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellWire

@Suite("Canonical form")
struct CanonicalFormTests {
    /// What Foundation makes of a text without its letter cases.
    private func caseless(_ text: String) -> String {
        text.decomposedStringWithCanonicalMapping.uppercased().lowercased()
            .decomposedStringWithCanonicalMapping
    }

    private func check(_ text: String) {
        let comment = Comment(
            rawValue: text.unicodeScalars.map { String($0.value, radix: 16) }
                .joined(separator: " "))
        #expect(
            CanonicalForm.utf8(of: text) == Array(text.decomposedStringWithCanonicalMapping.utf8),
            comment)
        #expect(CanonicalForm.caselessUTF8(of: text) == Array(caseless(text).utf8), comment)
    }

    @Test("QUERY-8: it is Foundation's, of every scalar with a case, marks or parts")
    func everyScalar() {
        for value in [0..<0x3400, 0xA640..<0xABC0, 0xAC00..<0xAC80, 0xF900..<0x10000]
            .map({ $0 as Range<UInt32> }).joined()
        {
            guard let scalar = Unicode.Scalar(value) else { continue }
            check(String(scalar))
        }
        for value in UInt32(0x10000)..<0x1F000 where value % 7 == 0 {
            if let scalar = Unicode.Scalar(value) { check(String(scalar)) }
        }
    }

    @Test("QUERY-8: it is Foundation's, of letters and marks in any order", arguments: [1, 2, 3])
    func anyOrder(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pool = [0x41..<0x5B, 0xC0..<0x180, 0x300..<0x400, 0x1F00..<0x2000, 0xAC00..<0xAC40]
            .map { $0 as Range<UInt32> }.joined().compactMap(Unicode.Scalar.init)
        for _ in 0..<3000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                text.append(try #require(pool.randomElement(using: &random)))
            }
            check(String(text))
        }
    }

    /// Only a form that is made in linear time comes to an end of these soon; how soon is no
    /// test's business.
    @Test("A text of a million accented letters has one canonical form")
    func long() {
        for unit in ["\u{E9}", "\u{344}", "\u{301}\u{316}", "l\u{E9}s \u{3AC}"] {
            let text = "e" + String(repeating: unit, count: 1_000_000)
            let canonical = CanonicalForm.utf8(of: text)
            #expect(CanonicalForm.utf8(of: String(decoding: canonical, as: UTF8.self)) == canonical)
        }
    }
}
