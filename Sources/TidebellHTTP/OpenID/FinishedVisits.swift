// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// The sign-ins by a provider whose browser came back: each is good once, however often a link in its history is
/// followed, and to whichever server that leads.
enum FinishedVisits {
    /// The most that are remembered; beyond them the ones that came back first are forgotten.
    static let most = 10_000

    /// Notes one that came back, by the hash of its state; false for one that did before.
    static func note(
        _ hash: [UInt8], at now: Instant, in transaction: some SignInWriting
    ) throws -> Bool {
        // Until the state is good by no clock any more: that of where it began, of here, and of where it comes next.
        let end = now.advanced(by: OpenIDVisit.lifetime + OpenIDVisit.skew * 2)
        return try transaction.noteFinishedVisit(hash, until: end, keeping: most)
    }
}
