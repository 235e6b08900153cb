// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellScheduling

@Suite("Random UUIDs")
struct RandomUUIDTests {
    /// Counts up, so that a test knows the bits.
    private struct Counter: RandomNumberGenerator {
        var numbers: [UInt64]

        mutating func next() -> UInt64 { numbers.removeFirst() }
    }

    @Test("A UUID holds the generator's bits but for its version, 4, and its variant")
    func bits() {
        var zeros = Counter(numbers: [0, 0])
        #expect(
            UUID.made(with: &zeros).uuidString == "00000000-0000-4000-8000-000000000000"
        )
        var ones = Counter(numbers: [.max, .max])
        #expect(
            UUID.made(with: &ones).uuidString == "FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF"
        )
        var order = Counter(numbers: [0x0123_4567_89AB_CDEF, 0x8899_AABB_CCDD_EEFF])
        #expect(
            UUID.made(with: &order).uuidString == "01234567-89AB-4DEF-8899-AABBCCDDEEFF"
        )
        #expect(Randomness.system.makeUUID() != Randomness.system.makeUUID())
    }

    @Test("H1: no source makes a UUID with Foundation, which repeats one without /dev/urandom")
    func noFoundationUUIDs() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources")
        let files = try #require(
            FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        )
        var checked = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            checked += 1
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            let culprits = lines.filter {
                $0.contains(/(?:^|[^A-Za-z])UUID\(\)/)
                    && !$0.drop(while: \.isWhitespace).hasPrefix("///")
            }
            #expect(culprits.isEmpty, "\(file.lastPathComponent): use Randomness")
        }
        #expect(checked > 100)
    }
}
