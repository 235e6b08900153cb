// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// Where UUIDs and secrets come from; handed in, so that a seed decides a test.
///
/// The machine's is ``system``; what ``Time`` documents of its own holds for it too.
package struct Randomness: Sendable {
    package var makeUUID: @Sendable () -> UUID
    /// Makes bytes that nobody can guess.
    package var makeBytes: @Sendable (_ count: Int) -> [UInt8]

    /// Creates a source.
    package init(
        makeUUID: @escaping @Sendable () -> UUID,
        makeBytes: @escaping @Sendable (_ count: Int) -> [UInt8]
    ) {
        self.makeUUID = makeUUID
        self.makeBytes = makeBytes
    }

    /// Makes a number from 0 to 1, for waits that shall not all end at once.
    package func makeFraction() -> Double {
        let value = makeBytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Double(value) / Double(UInt32.max)
    }

    /// Makes a number, each as likely as any other.
    package func makeNumber() -> UInt64 {
        makeBytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
