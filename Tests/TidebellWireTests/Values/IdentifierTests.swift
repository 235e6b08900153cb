// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@Suite("Identifiers")
struct IdentifierTests {
    @Test("REC-3: a field's name is a letter, then letters, digits and underscores")
    func fields() {
        for name in ["a", "Z", "a1_B"] { #expect(Identifier.isField(name), "\(name)") }
        for name in ["", "1a", "_a", "a-b", "a.b", "ä", "aä", "a b", "[", "{a"] {
            #expect(!Identifier.isField(name), "\(name)")
        }
    }

    @Test("A container's identifier has letters, digits, periods and hyphens")
    func containers() {
        for name in [
            "iCloud.org.example-1", "a", ".", "1", String(repeating: "a", count: 255),
        ] {
            #expect(Identifier.isContainer(name), "\(name)")
        }
        for name in [
            "", "a_b", "a/b", "ä", "a b", "a%2F", "@", "[", "`", "{",
            String(repeating: "a", count: 256),
        ] {
            #expect(!Identifier.isContainer(name), "\(name)")
        }
    }
}
