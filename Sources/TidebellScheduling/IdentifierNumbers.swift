// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// Random numbers for identifiers, of which one call to the system gives many.
///
/// A save needs eight, and a call for each would cost it ten microseconds. Nobody can guess them either,
/// but they lie in memory before they are used, so that secrets are not made of them.
package struct IdentifierNumbers: RandomNumberGenerator {
    /// How many are drawn at a time: 256 bytes, the most that `getentropy` gives at once.
    package static let drawnAtOnce = 32

    /// How often this process has become its own child by `fork`: what the parent has drawn, the
    /// child has too, and only one of them may use it.
    private static let forks = Atomic(0)
    private static let countsForks =
        pthread_atfork(nil, nil, { forks.add(1, ordering: .relaxed) }) == 0

    private let draw: @Sendable (_ count: Int) -> [UInt64]
    private var drawn: [UInt64] = []
    private var forksAtDraw = 0

    /// - Parameter draw: Draws numbers from the system.
    package init(_ draw: @escaping @Sendable (_ count: Int) -> [UInt64]) {
        precondition(Self.countsForks, "the system has no memory left")
        self.draw = draw
    }

    /// The next number, which was never given before.
    package mutating func next() -> UInt64 {
        let forks = Self.forks.load(ordering: .relaxed)
        if forks != forksAtDraw {
            drawn = []
            forksAtDraw = forks
        }
        if drawn.isEmpty { drawn = draw(Self.drawnAtOnce) }
        return drawn.removeLast()
    }
}
