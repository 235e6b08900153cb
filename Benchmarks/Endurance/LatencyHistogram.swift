// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How long many things took, in buckets that are a sixteenth of their value wide.
struct LatencyHistogram {
    /// Buckets of each doubling.
    private static let steps = 16
    /// Of all values that 64 bits of microseconds have.
    private var counts = [Int](repeating: 0, count: 61 * steps)
    private(set) var count = 0
    private var longest: UInt64 = 0

    /// Counts something that took so many nanoseconds.
    mutating func record(_ nanoseconds: UInt64) {
        counts[Self.bucket(of: nanoseconds / 1000)] += 1
        count += 1
        longest = max(longest, nanoseconds)
    }

    /// Adds what another one counted.
    mutating func add(_ other: LatencyHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        count += other.count
        longest = max(longest, other.longest)
    }

    /// The milliseconds that a share of all took at most, to a sixteenth; zero where nothing was counted.
    func percentile(_ share: Double) -> Double {
        var left = Int((Double(count) * share).rounded(.up))
        for (bucket, count) in counts.enumerated() where count > 0 {
            left -= count
            if left <= 0 { return min(maximum, Double(Self.end(of: bucket)) / 1000) }
        }
        return 0
    }

    /// The longest, in milliseconds.
    var maximum: Double { Double(longest) / 1e6 }

    /// Median, 99th percentile and the longest, as text.
    var summary: String {
        [percentile(0.5), percentile(0.99), maximum]
            .map { String(format: $0 < 100 ? "%.1f" : "%.0f", $0) }.joined(separator: " / ")
    }

    private static func bucket(of microseconds: UInt64) -> Int {
        guard microseconds >= UInt64(steps) else { return Int(microseconds) }
        let doublings = UInt64.bitWidth - 1 - microseconds.leadingZeroBitCount - 4
        return (doublings + 1) * steps + Int(microseconds >> doublings) - steps
    }

    /// The first value behind a bucket.
    private static func end(of bucket: Int) -> UInt64 {
        guard bucket >= steps else { return UInt64(bucket + 1) }
        let doublings = bucket / steps - 1
        return UInt64(bucket % steps + steps + 1) << doublings
    }
}
