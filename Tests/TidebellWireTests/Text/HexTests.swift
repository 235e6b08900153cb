// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@Suite("Hexadecimal digits")
struct HexTests {
    @Test("Bytes are written in lower case, and read in either")
    func model() {
        let bytes = (0...255).map { UInt8($0) }
        let text = Hex.text(bytes)
        #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff"))
        #expect(Hex.bytes(text[...]) == bytes)
        #expect(Hex.bytes(text.uppercased()[...]) == bytes)
        #expect(Hex.text([]) == "" && Hex.bytes("") == [])
    }

    @Test("Other texts are refused", arguments: ["0", "0g", "+1", " 0", "0 ", "äa", "٠٠"])
    func otherTexts(text: String) {
        #expect(Hex.bytes(text[...]) == nil)
    }
}
