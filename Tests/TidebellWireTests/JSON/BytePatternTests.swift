// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellWire

@Suite("The search for bytes in bytes")
struct BytePatternTests {
    @Test("finds what the standard library finds", arguments: 1...20 as ClosedRange<UInt64>)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            // Two letters, so that many beginnings are found that do not go on.
            let text = String(random.list(upTo: 40) { $0.pick(["a", "b"]) as Character })
            let pattern = "a" + String(random.list(upTo: 4) { $0.pick(["a", "b"]) as Character })
            #expect(
                BytePattern(pattern).isFound(in: Array(text.utf8))
                    == (text.firstRange(of: pattern) != nil),
                "seed \(seed): '\(pattern)' in '\(text)'"
            )
        }
    }

    @Test("finds at the beginning, at the end, and the whole; nothing in less")
    func ends() {
        let pattern = BytePattern("key")
        #expect(["key...", "...key", "key"].allSatisfy { pattern.isFound(in: Array($0.utf8)) })
        #expect(!["", "ke", "...ke", "ey..."].contains { pattern.isFound(in: Array($0.utf8)) })
    }
}
