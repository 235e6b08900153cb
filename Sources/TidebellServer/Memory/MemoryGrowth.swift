// SPDX-License-Identifier: Apache-2.0

/// When memory may be free that a crowd needed: while a process has clearly more than it once had.
///
/// Nobody knows when the crowd has gone, so it is tried again and again, at first soon.
struct MemoryGrowth {
    /// Between two looks at the memory.
    static let interval = Duration.seconds(15)
    /// Growth that is let be: it is used again soon.
    static let ordinaryBytes = 32 << 20
    /// The part of the memory that is let be, likewise.
    static let ordinaryPart = 4
    /// The most looks between two tries: two minutes.
    static let longestPause = 8

    /// The least that was seen.
    private var least: Int?
    /// Looks from one try to the next.
    private var pause = 1
    private var looks = 0

    /// Whether to give memory back now, of a process that has so much; to be asked at intervals.
    mutating func isWorthATry(at bytes: Int) -> Bool {
        least = min(least ?? bytes, bytes)
        guard isGrown(bytes) else {
            (pause, looks) = (1, 0)
            return false
        }
        looks += 1
        return looks >= pause
    }

    /// Notes what the process has after it gave memory back.
    mutating func gaveBack(leaving bytes: Int) {
        looks = 0
        pause = isGrown(bytes) ? min(2 * pause, Self.longestPause) : 1
    }

    private func isGrown(_ bytes: Int) -> Bool {
        guard let least else { return false }
        return bytes > least + least / Self.ordinaryPart + Self.ordinaryBytes
    }
}
