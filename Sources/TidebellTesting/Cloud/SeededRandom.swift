// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// Chance that can be repeated: the same seed gives the same UUIDs and tokens in
/// the same order (SplitMix64).
final class SeededRandom: Sendable {
    private let state: Mutex<UInt64>

    init(seed: UInt64) {
        state = Mutex(seed)
    }

    /// Returns the next 64 bits.
    func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    /// Returns chance of its own, which the next 64 bits decide: drawing from one takes nothing from
    /// the other.
    func branch() -> SeededRandom { SeededRandom(seed: next()) }

    /// Returns the next `count` bytes.
    func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 32) }
    }

    /// Returns the next UUID, marked as a random one (version 4).
    func uuid() -> UUID {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.load(as: uuid_t.self)) }
    }
}
