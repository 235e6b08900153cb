// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellWire

@Suite("Base64 for URLs")
struct Base64URLTests {
    @Test("writes what Foundation writes, and reads it again", arguments: 0..<70 as Range<Int>)
    func model(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count &* 89) }
        let text = Base64URL.text(bytes)
        let model = Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
        #expect(text == model)
        #expect(Base64URL.bytes(text) == bytes)
    }

    @Test("writes the common alphabet too, and reads either", arguments: 0..<70 as Range<Int>)
    func common(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count &* 89) }
        let text = Base64URL.commonText(bytes)
        #expect(text == Data(bytes).base64EncodedString())
        #expect(Base64URL.bytes(ofEither: text) == bytes)
        #expect(Base64URL.bytes(ofEither: Base64URL.text(bytes)) == bytes)
    }

    @Test(
        "refuses what is of neither alphabet, or padded otherwise",
        arguments: ["A", "A===", "AA=", "AAA=A", "AB==", "AAB=", "A+A", "A.AA", "AA+ä"]
    )
    func strangeCommonTexts(text: String) {
        #expect(Base64URL.bytes(ofEither: text) == nil)
    }

    @Test(
        "refuses what it never writes",
        arguments: ["A", "AAAAA", "AA==", "A+AA", "A/AA", "AA A", "AB", "AAB", "ää"]
    )
    func strangeTexts(text: String) {
        #expect(Base64URL.bytes(text) == nil)
    }
}
