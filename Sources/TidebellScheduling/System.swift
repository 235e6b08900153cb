// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Time {
    /// The machine's time.
    package static let system = Time(
        now: { Instant(Date()) },
        clock: ContinuousClock()
    )
}

extension Randomness {
    /// The machine's secure source.
    package static let system = Randomness(
        makeUUID: {
            var generator = SystemRandomNumberGenerator()
            return UUID.made(with: &generator)
        },
        makeBytes: { count in
            var generator = SystemRandomNumberGenerator()
            return (0..<count).map { _ in generator.next() }
        }
    )
}
