// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellScheduling

@Suite("Back-off")
struct BackoffTests {
    private static let failures = [Int.min, 0, 1, 2, 3, 4, 5, 100, Int.max]

    @Test("A wait doubles with each failure up to the longest, however many there were")
    func doubles() {
        let backoff = Backoff(first: .seconds(1), longest: .seconds(10))
        #expect(
            Self.failures.map { backoff.wait(after: $0, jitter: 1) }
                == [1, 1, 1, 2, 4, 8, 10, 10, 10].map { .seconds($0) }
        )
    }

    @Test("A wait that was asked for is kept to, and lengthens what chance adds but no other wait")
    func asked() {
        let plain = Backoff(first: .seconds(1), longest: .seconds(10))
        #expect(plain.wait(after: 9, atLeast: .seconds(60)) == .seconds(60))
        #expect(plain.wait(after: 9, atLeast: .seconds(6)) == .seconds(10))
        let shorter = Backoff(first: .seconds(1), longest: .seconds(10), spread: .shorter)
        #expect(shorter.wait(after: 9, atLeast: .seconds(60), jitter: 0) == .seconds(60))
        #expect(shorter.wait(after: 9, atLeast: .seconds(6), jitter: 0) == .seconds(6))
        let longer = Backoff(
            first: .seconds(1), longest: .seconds(10), spread: .longer(by: 0.5)
        )
        #expect(longer.wait(after: 1, atLeast: .seconds(60), jitter: 1) == .seconds(90))
    }

    @Test(
        "Chance takes up to half of a wait, or adds up to its part and bound; it is held to 0 to 1",
        arguments: [-3.0, 0, 0.5, 1, 7]
    )
    func spread(jitter: Double) {
        let part = min(max(jitter, 0), 1)
        let shorter = Backoff(first: .seconds(8), longest: .seconds(8), spread: .shorter)
        #expect(shorter.wait(after: 1, jitter: jitter) == .seconds(4 + 4 * part))
        let longer = Backoff(
            first: .seconds(8), longest: .seconds(8),
            spread: .longer(by: 0.25, atMost: .seconds(1))
        )
        #expect(longer.wait(after: 1, jitter: jitter) == .seconds(8 + part))
        #expect(longer.wait(after: 1, atLeast: .seconds(2), jitter: jitter) == .seconds(8 + part))
    }
}
