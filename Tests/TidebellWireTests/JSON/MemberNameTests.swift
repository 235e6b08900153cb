// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@Suite("Names in JSON")
struct MemberNameTests {
    private func members(_ document: String) throws -> [MemberName] {
        var names: [MemberName] = []
        try JSONReader.read(Array(document.utf8)) { reader in
            try reader.readObject {
                names.append($1)
                try $0.skipValue()
            }
        }
        return names
    }

    @Test("A member's name is compared by its code points, escaped or not")
    func codePoints() throws {
        // U+212A, the sign of the kelvin, is canonically equivalent to K.
        let names = try members(#"{"desired\u212Aeys":1,"desired\u004Beys":2,"e\u0301":3}"#)
        #expect(names[0] != "desiredKeys")
        #expect(names[1] == "desiredKeys")
        #expect(names[2] != "\u{E9}")
        #expect(Set(names + ["desiredKeys"]).count == 3)
    }

    @Test("A member's name has a bound, beyond which it is no known one")
    func longMember() throws {
        let longest = String(repeating: "a", count: MemberName.mostBytes)
        let names = try members(#"{"\#(longest)":1,"\#(longest)a":2}"#)
        #expect(names.map(\.text.utf8.count) == [255, 255])
        #expect(names[0].text == longest)
        #expect(names[1].text == longest.dropLast(3) + "...")
    }

    @Test("A name of a megabyte of marks is skipped where it is unknown")
    func marks() throws {
        let name = "a" + String(repeating: "\u{301}\u{316}", count: 250_000)
        let zone = try JSONReader.read(
            Array(#"{"zoneName":"Notes","\#(name)":1}"#.utf8)
        ) { try ZoneID(from: &$0) }
        #expect(zone == ZoneID(zoneName: "Notes"))
    }

    @Test("A name of something has a bound, and the error names it")
    func longName() throws {
        let name = String(repeating: "\u{E9}", count: JSONReader.longestName / 2)
        let read = { (name: String) in
            try JSONReader.read(Array(#"{"zoneName":"\#(name)"}"#.utf8)) {
                try ZoneID(from: &$0).zoneName
            }
        }
        #expect(try read(name) == name)
        let error = #expect(throws: JSONError.self) { try read(name + "x") }
        #expect(error?.pathText == "zoneName")
        let problem = try #require(error?.problem)
        #expect(problem.hasSuffix("...' has 1025 bytes, more than the 1024 of a name"))
        #expect(problem.utf8.count < 120)
    }

    @Test("A text in an error is cut by bytes, between two scalars")
    func shortened() {
        #expect(WireError.shortened("abc", to: 3) == "abc")
        #expect(WireError.shortened("abcdefgh", to: 7) == "abcd...")
        #expect(WireError.shortened("ab\u{1F600}cdefgh", to: 8) == "ab...")
        let marks = "a" + String(repeating: "\u{301}", count: 2_000_000)
        #expect(WireError.shortened(marks).utf8.count == 60)
        #expect(WireError(.badRequest, marks).reason.utf8.count == WireError.longestReason)
    }
}
