// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellWire

@Suite("JSONReader")
struct JSONReaderTests {
    @Test("reads every kind of value")
    func readsEveryKind() throws {
        let document = #"""
             {"null": null, "yes": true, "no": false, "whole": -12, "half": 0.5, "big": 1E+2,
              "text": "a\"\\\/\b\f\n\r\té\u20AC", "list": [ 1 , [ ] , { } ], "": {}}
            """#
        let expected = JSONTree.object([
            "null": .null, "yes": .boolean(true), "no": .boolean(false),
            "whole": .integer(-12), "half": .double(0.5), "big": .double(100),
            "text": .string("a\"\\/\u{8}\u{C}\n\r\t\u{E9}\u{20AC}"),
            "list": .array([.integer(1), .array([]), .object([:])]), "": .object([:]),
        ])
        #expect(try JSONTree.read(utf8(document)) == expected)
    }

    @Test(
        "reads and passes over a text in which one character is another kind, wherever that stands",
        arguments: [
            ("\\\"", "\""), ("\\\\", "\\"), ("\\u0041", "A"), ("é", "é"), ("\u{7F}", "\u{7F}"),
            ("!", "!"),
            ("[", "["), ("]", "]"), ("#", "#"), ("\u{1F600}", "\u{1F600}"),
        ]
    )
    func readsLongTexts(written: String, read: String) throws {
        for before in 0..<20 {
            for after in [0, 1, 7, 8, 9, 17] {
                let (start, end) = (
                    String(repeating: "a", count: before), String(repeating: "z", count: after)
                )
                let document = utf8("[\"\(start)\(written)\(end)\",1]")
                #expect(
                    try JSONTree.read(document)
                        == .array([.string(start + read + end), .integer(1)]))
                #expect(try JSONReader.read(document) { try $0.readRaw() } == document)
                try JSONReader.read(document) { reader in
                    try reader.readArray { reader in
                        if try reader.kind() == .number { return try reader.skipValue() }
                        #expect(try reader.readName() == start + read + end)
                    }
                }
            }
        }
    }

    @Test("refuses a control character in a text, wherever it stands")
    func refusesControlCharacters() {
        for before in 0..<20 {
            for control in ["\u{0}", "\n", "\u{1F}"] {
                let text = String(repeating: "a", count: before) + control + "zzzzzzzzz"
                let reason = "control character in a string at byte \(before + 1)"
                #expect(failure(reading: "\"\(text)\"") { _ = try $0.readString() } == reason)
                #expect(failure(reading: "\"\(text)\"") { try $0.skipValue() } == reason)
            }
        }
    }

    @Test(
        "accepts a number of the strict grammar",
        arguments: [
            ("0", JSONNumber.integer(0)), ("-0", .integer(0)), ("10", .integer(10)),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .double(0x1p63)), ("1.0", .double(1)),
            ("-0.25e2", .double(-25)), ("1e3", .double(1000)), ("1E-2", .double(0.01)),
            ("1e-400", .double(0)),
        ]
    )
    func acceptsNumbers(text: String, expected: JSONNumber) throws {
        #expect(try JSONReader.read(utf8(text)) { try $0.readNumber() } == expected)
    }

    @Test(
        "refuses what only looks like a number",
        arguments: [
            "01", "-01", "00", "-", "+1", ".5", "1.", "1.e5", "1e", "1e+", "-e1", "0x10", "1_000",
            "NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1 2", "--1", "1.2.3", "٣",
        ]
    )
    func refusesNumbers(text: String) {
        #expect(throws: JSONError.self) { try JSONTree.read(utf8(text)) }
    }

    @Test("a whole number written with a point is a whole number; a fraction is not")
    func readsWholeNumbers() throws {
        #expect(try JSONReader.read(utf8("3.0")) { try $0.readInt64() } == 3)
        #expect(
            failure(reading: "3.5") { _ = try $0.readInt64() }
                == "expected a whole number, found 3.5"
        )
        #expect(
            failure(reading: "1e300") { _ = try $0.readInt64() }
                == "expected a whole number, found 1e+300"
        )
        #expect(try JSONReader.read(utf8("3")) { try $0.readDouble() } == 3)
    }

    @Test(
        "refuses a broken document",
        arguments: [
            "", " ", "{", "[", "}", "]", "{]", "[}", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{\"a\"",
            "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{\"a\" 1}", "{a:1}",
            "{'a':1}",
            "{1:1}", "{\"a\":1 \"b\":2}", "tru", "True", "truex", "nul", "null0", "fals",
            "undefined",
            "1 // one", "/* */ 1", "\u{FEFF}\u{FEFF}1", "[1]]", "{}{}", "\"", "\"\\", "\"\\\"",
            "\"\\u12\"",
            "\"\\u12G4\"", "\"\\x41\"", "\"\\'\"", "\"a\nb\"", "\"a\tb\"", "\"a\u{0}b\"", "'a'",
            "\u{A0}1", "[1]\u{0}",
        ]
    )
    func refusesBrokenDocuments(text: String) {
        #expect(throws: JSONError.self) { try JSONTree.read(utf8(text)) }
    }

    @Test("joins a surrogate pair and refuses half of one")
    func surrogates() throws {
        let pair = #""\uD83D\uDD14\ud83d\udd14""#
        #expect(try JSONTree.read(utf8(pair)) == .string("\u{1F514}\u{1F514}"))
        for half in [
            #""\uD83D""#, #""\uDD14""#, #""\uD83Dx""#, #""\uD83D\n""#, #""\uD83D\u0041""#,
            #""\uD83D\uD83D""#, #""\uDD14\uD83D""#, #""\uD83D\u""#, #""\uD83D\"#,
        ] {
            #expect(throws: JSONError.self, "\(half)") { try JSONTree.read(utf8(half)) }
        }
    }

    @Test(
        "refuses bytes that are not UTF-8",
        arguments: [
            [0xFF], [0x80], [0xC3], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80],
            [0xF0, 0x9F, 0x94], [0xF5, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80],
        ] as [[UInt8]]
    )
    func refusesInvalidUTF8(bytes: [UInt8]) {
        for prefix in ["", "\\n"] {
            let document = utf8("{\"text\":\"\(prefix)") + bytes + utf8("\"}")
            #expect(throws: JSONError("a string is not valid UTF-8", path: ["text"])) {
                try JSONTree.read(document)
            }
        }
        #expect(throws: JSONError("a string is not valid UTF-8")) {
            try JSONTree.read(utf8("{\"") + bytes + utf8("\":1}"))
        }
    }

    @Test("nests as deep as its limit and not one level deeper")
    func depthLimit() throws {
        let limit = JSONReader.maximumDepth
        func nested(_ depth: Int, _ open: String, _ close: String) -> [UInt8] {
            utf8(
                String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
            )
        }
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            _ = try JSONTree.read(nested(limit, open, close))
            #expect(throws: JSONError.self) {
                try JSONReader.read(nested(limit + 1, open, close)) { try $0.skipValue() }
            }
            #expect(throws: JSONError.self) {
                try JSONReader.read(nested(1_000_000, open, close)) { try $0.skipValue() }
            }
        }
        // Siblings do not add up.
        _ = try JSONTree.read(utf8("[" + String(repeating: "[],{},", count: 500) + "[]]"))
    }

    @Test("names the culprit by its way from the root")
    func errorPath() {
        let document = #"{"zones":[{},{"zoneID":{"zoneName":7}}]}"#
        let text = failure(reading: document) { reader in
            try reader.readObject { reader, _ in
                try reader.readArray { reader in
                    try reader.readObject { reader, _ in _ = try ZoneID(from: &reader) }
                }
            }
        }
        #expect(text == "zones[1].zoneID.zoneName: expected a string, found a number")
    }

    @Test("reports what it wanted and what it found")
    func expectations() {
        #expect(
            failure(reading: "{}") { _ = try $0.readString() }
                == "expected a string, found an object"
        )
        #expect(
            failure(reading: "\"1\"") { _ = try $0.readNumber() }
                == "expected a number, found a string"
        )
        #expect(
            failure(reading: "2") { _ = try $0.readBool() } == "expected a boolean, found a number"
        )
        #expect(
            failure(reading: "null") { try $0.readArray { try $0.skipValue() } }
                == "expected an array, found null"
        )
        #expect(
            failure(reading: "[true]") { _ = try $0.readList(limit: 0) { try $0.skipValue() } }
                == "[0]: more than 0 items"
        )
        #expect(failure(reading: "") { try $0.skipValue() } == "unexpected end of the document")
    }

    @Test("reading past a document finds the same fault in it as reading it, or none")
    func skippingChecks() {
        let document = utf8(#"{"a":[1,-2.5e3,"é💌\u00e9\\"],"bé":{"c":null,"\n":true},"d":""}"#)
        var generator = SeededGenerator(seed: 41)
        for _ in 0..<5000 {
            var damaged = document
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                let index = damaged.indices.randomElement(using: &generator) ?? 0
                damaged[index] = UInt8.random(in: 0...255, using: &generator)
            }
            func failure(_ read: () throws -> Void) -> JSONError? {
                do {
                    try read()
                    return nil
                } catch {
                    return error as? JSONError
                }
            }
            let reading = failure { _ = try JSONTree.read(damaged) }
            let skipping = failure { try JSONReader.read(damaged) { try $0.skipValue() } }
            #expect(skipping == reading, "\(damaged), seed 41")
        }
    }

    @Test("hands back the text of a value byte for byte")
    func rawText() throws {
        let document = #" {"a" : [1, {"b":"\u0041"} ] , "c": 2 } "#
        var raw: [String] = []
        try JSONReader.read(utf8(document)) { reader in
            try reader.readObject { reader, _ in
                raw.append(String(decoding: try reader.readRaw(), as: UTF8.self))
            }
        }
        #expect(raw == [#"[1, {"b":"\u0041"} ]"#, "2"])
    }
}
