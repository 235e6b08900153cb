// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import TidebellServer

@Suite("Memory goes back to the system")
struct MemoryGrowthTests {
    private static let mebibyte = 1 << 20

    /// Returns at which looks memory was given back, of a process that has so many mebibytes at each look, and
    /// so many when it gave back.
    private func tries(_ sizes: [Int], leaving: (Int) -> Int) -> [Int] {
        var growth = MemoryGrowth()
        var tries: [Int] = []
        for (look, size) in sizes.enumerated()
        where growth.isWorthATry(at: size * Self.mebibyte) {
            tries.append(look)
            growth.gaveBack(leaving: leaving(look) * Self.mebibyte)
        }
        return tries
    }

    @Test("A process that grows little keeps its memory")
    func little() {
        #expect(tries([100, 140, 157, 90, 144], leaving: { _ in 0 }).isEmpty)
    }

    @Test("What a crowd leaves is given back within two minutes, however long it stays")
    func crowd() {
        for stay in [1, 20, 2000] {
            let sizes = [200] + Array(repeating: 460, count: stay + MemoryGrowth.longestPause)
            // From then on all that was its own is free.
            let tries = tries(sizes, leaving: { $0 <= stay ? 460 : 210 })
            #expect(tries.contains { $0 > stay })
        }
        let sizes = [200] + Array(repeating: 460, count: 23) + Array(repeating: 210, count: 23)
        #expect(tries(sizes, leaving: { $0 < 23 ? 460 : 210 }) == [1, 3, 7, 15, 23])
    }

    @Test("It is tried at once when a process grows again that gave back what it had")
    func again() {
        let sizes = [200, 460, 460, 460, 210, 210, 460]
        #expect(tries(sizes, leaving: { $0 < 3 ? 460 : 210 }) == [1, 3, 6])
    }
}
