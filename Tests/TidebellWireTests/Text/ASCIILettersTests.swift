// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import TidebellWire

@Suite("Letters of ASCII")
struct ASCIILettersTests {
    @Test("What is equal to a text of ASCII is read as that text, what is not stays")
    func letters() throws {
        let ascii = Set((UInt8(0)..<0x80).map { String(Unicode.Scalar($0)) })
        for scalar in (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init) {
            let text = String(scalar).withASCIILetters
            // Equal strings have equal hashes, whatever their form.
            if ascii.contains(text) != (text.utf8.count == 1) || text != String(scalar) {
                Issue.record("U+\(String(scalar.value, radix: 16))")
            }
        }
        let text = "\u{212A}\u{37E}\u{1FEF}caf\u{E9}"
        #expect(text.withASCIILetters.utf8.elementsEqual("K;`caf\u{E9}".utf8))
    }

    @Test("Names are read so")
    func names() throws {
        let name = try JSONReader.read(Array("\"\u{212A}ey\"".utf8)) { try $0.readName() }
        #expect(name.utf8.elementsEqual("Key".utf8))
    }
}
