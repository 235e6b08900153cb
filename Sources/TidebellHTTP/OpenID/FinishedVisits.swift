// SPDX-License-Identifier: Apache-2.0
import TidebellScheduling

/// The sign-ins by a provider whose browser came back: each is good once, however often a link in its history is
/// followed. Kept in memory: a provider takes no code twice either.
struct FinishedVisits {
    /// The most that are remembered; beyond them the ones that came back first are forgotten.
    static let most = 10_000

    /// By the hash of their states, with the moment when those are good no more.
    private var ends: [[UInt8]: Duration] = [:]
    private var order: [[UInt8]] = []

    /// Notes one that came back; false for one that did before.
    mutating func note(_ hash: [UInt8], at now: Duration) -> Bool {
        forget(order.prefix { ends[$0].map { $0 <= now } ?? true }.count)
        guard ends[hash] == nil else { return false }
        forget(order.count - Self.most + 1)
        ends[hash] = now + OpenIDVisit.lifetime
        order.append(hash)
        return true
    }

    private mutating func forget(_ count: Int) {
        guard count > 0 else { return }
        for hash in order.prefix(count) { ends[hash] = nil }
        order.removeFirst(count)
    }
}
