// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellWire

@Suite("JSONWriter")
struct JSONWriterTests {
    @Test("writes compact JSON in the order of the calls")
    func literalOutput() {
        let text = written { writer in
            writer.object { writer in
                writer.member("b", "x")
                writer.member("a", Int64.min)
                writer.key("list")
                writer.array([1, 2]) { $0.number($1) }
                writer.key("nested")
                writer.array { writer in
                    writer.object { _ in }
                    writer.array { _ in }
                    writer.null()
                    writer.raw(Array("[1]".utf8))
                    writer.number(2.5)
                }
                writer.member("yes", true)
                writer.member("absent", nil as String?)
                writer.member("names", ["p", "q"])
                writer.key("dynamic \"name\"")
                writer.bool(false)
            }
        }
        #expect(
            text
                == #"{"b":"x","a":-9223372036854775808,"list":[1,2],"nested":[{},[],null,[1],2.5],"#
                + #""yes":true,"names":["p","q"],"dynamic \"name\"":false}"#
        )
    }

    @Test("escapes exactly what JSON demands")
    func escapes() {
        let text = written { $0.string("\u{0}\u{1F}\u{8}\n\r\t\"\\/\u{7F}é🔔") }
        #expect(text == "\"\\u0000\\u001f\\u0008\\n\\r\\t\\\"\\\\/\u{7F}é🔔\"")
    }

    @Test("writes null for what JSON cannot express")
    func nonFinite() {
        #expect(written { $0.number(Double.infinity) } == "null")
        #expect(written { $0.number(Double.nan) } == "null")
    }

    @Test(
        "writes what both readers read back to the same value",
        arguments: [21, 22, 23, 24] as [UInt64]
    )
    func alwaysParses(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<500 {
            let tree = JSONTree.random(depth: 5, using: &random)
            let bytes = JSONWriter.write { tree.write(to: &$0) }
            #expect(try JSONTree.read(bytes) == tree, "seed \(seed), round \(round)")
            #expect(
                try JSONTree.readByFoundation(bytes).normalized.matches(tree.normalized),
                "seed \(seed), round \(round)"
            )
        }
    }
}

extension JSONTree {
    func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .boolean(let value): writer.bool(value)
        case .integer(let value): writer.number(value)
        case .double(let value): writer.number(value)
        case .string(let text): writer.string(text)
        case .array(let list): writer.array(list) { $1.write(to: &$0) }
        case .object(let members):
            writer.object { writer in
                for (name, value) in members {
                    writer.key(name)
                    value.write(to: &writer)
                }
            }
        }
    }

    /// Returns a value nested at most `depth` deep.
    static func random(depth: Int, using random: inout SeededGenerator) -> JSONTree {
        switch random.below(depth > 0 ? 8 : 6) {
        case 0: return .null
        case 1: return .boolean(random.oneIn(2))
        case 2: return .integer(Int64(truncatingIfNeeded: random.next()) >> random.below(64))
        case 3: return .double(random.double())
        case 4, 5: return .string(random.text())
        case 6: return .array(random.list(upTo: 4) { Self.random(depth: depth - 1, using: &$0) })
        default:
            let members = random.list(upTo: 4) { random in
                (random.text(), Self.random(depth: depth - 1, using: &random))
            }
            return .object(Dictionary(members) { $1 })
        }
    }
}

extension SeededGenerator {
    /// Returns a finite number that is no whole one.
    mutating func double() -> Double {
        let value = Double(bitPattern: next())
        guard value.isFinite, Int64(exactly: value) == nil else { return 0.5 }
        return value
    }

    /// Returns a short text from all of Unicode, control characters included.
    mutating func text() -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<below(12) {
            let bound = pick([0x20, 0x80, 0x800, 0x10000, 0x110000])
            // Foundation on Linux drops a byte order mark that begins a string.
            guard let scalar = Unicode.Scalar(UInt32(below(bound))), scalar != "\u{FEFF}" else {
                continue
            }
            text.append(scalar)
        }
        return String(text)
    }
}
