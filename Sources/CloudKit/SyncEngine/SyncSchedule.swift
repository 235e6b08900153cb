// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What a sync engine does next by itself, and how long it waits before.
///
/// After an error that passes the same work is done again: soon at first, then later and
/// later, and never before the server's retry-after. When the network was missing, a
/// sign that it is back ends the wait; when the server asked for the wait, nothing does.
struct SyncSchedule: Sendable {
    /// What there is to do; in this order, but what failed last comes last.
    enum Work: CaseIterable, Sendable {
        /// Fetch what changed.
        case fetch
        /// Send what is to be sent.
        case send
    }

    /// What to do now.
    enum Step: Equatable, Sendable {
        /// Nothing, until something happens.
        case idle
        /// This work.
        case run(Work)
        /// Nothing for so long.
        case wait(Duration)
    }

    /// Why the engine waits.
    private enum Cause: Sendable {
        /// The network, or the server was not there.
        case network
        /// The server asked for it.
        case retryAfter
        /// The attempt itself failed.
        case other
    }

    /// A wait of one kind of work.
    private struct Pause: Sendable {
        /// When it ends, since the schedule began.
        var end: Duration
        var cause: Cause
    }

    /// The waits the engine decides on itself.
    static let backoff = Backoff(first: .seconds(1), longest: .seconds(300), spread: .shorter)
    /// The longest wait a server can ask for: a week, as operations may take (LIMIT-14).
    static let longestRetryAfter = Duration.seconds(604_800)

    private var wanted: Set<Work> = []
    /// How often each work failed since it last did not.
    private var failures: [Work: Int] = [:]
    private var lastFailed: Work?
    private var pauses: [Work: Pause] = [:]
    private var hasNoAccount = false

    // MARK: - What happens

    /// Notes that there is something to do.
    mutating func want(_ work: Work) {
        wanted.insert(work)
    }

    /// Notes a sign that the server can be reached.
    mutating func networkReturned() {
        pauses = pauses.filter { $1.cause != .network }
    }

    /// Notes that somebody may have signed in or out.
    mutating func accountChanged() {
        self = SyncSchedule()
        wanted = Set(Work.allCases)
    }

    /// Drops all that is wanted, and the waits but those the server asked for (SYNC-8).
    mutating func cancel() {
        wanted = []
        pauses = pauses.filter { $1.cause == .retryAfter }
    }

    /// Returns what to do now; work counts as begun with this.
    ///
    /// - Parameter now: The time since the schedule began.
    mutating func next(at now: Duration) -> Step {
        if hasNoAccount { return .idle }
        pauses = pauses.filter { $1.end > now }
        let waiting = Work.allCases.filter(wanted.contains)
        let ready = waiting.filter { pauses[$0] == nil }
        // What fails again and again must not keep the other from being done.
        guard let work = ready.first(where: { $0 != lastFailed }) ?? ready.first else {
            let end = waiting.compactMap { pauses[$0]?.end }.min()
            return end.map { .wait($0 - now) } ?? .idle
        }
        wanted.remove(work)
        return .run(work)
    }

    /// Notes how work ended.
    ///
    /// What concerns only the items of this work lets the other go on; what concerns the
    /// device, the account or the server has both wait.
    ///
    /// - Parameters:
    ///   - error: Why it failed; nil when it did not.
    ///   - now: The time since the schedule began.
    ///   - isSignedOut: Whether the device has no user.
    ///   - jitter: A random number from 0 to 1: how much of the second half of a wait is
    ///     waited.
    mutating func ended(
        _ work: Work, _ error: CKError?, at now: Duration, isSignedOut: Bool, jitter: Double
    ) {
        guard let error else {
            failures[work] = nil
            if lastFailed == work { lastFailed = nil }
            return
        }
        if error.code == .notAuthenticated, isSignedOut {
            hasNoAccount = true
            wanted.insert(work)
            return
        }
        // Cancelled is what nobody wants any more; other errors are for the app to solve.
        guard error.code != .operationCancelled else { return }
        let passing = error.parts.filter {
            $0.code.passesByItself || $0.code.keepsChangePending || $0.code.isServersFault
        }
        let count = failures[work, default: 0] + 1
        failures[work] = count
        lastFailed = work
        if !passing.isEmpty { wanted.insert(work) }
        // The app may have solved it in the event already: once, it need not wait.
        guard !passing.isEmpty || count > 1 else { return }
        let end = now + Self.delay(count, passing, jitter: jitter)
        let concernsBoth = error.code.passesByItself
        for paused in concernsBoth ? Work.allCases : [work] {
            guard end > pauses[paused]?.end ?? .zero else { continue }
            pauses[paused] = Pause(end: end, cause: Self.cause(of: passing))
        }
    }

    private static func delay(_ count: Int, _ errors: [CKError], jitter: Double) -> Duration {
        // Room is not made in a second: the longest wait at once.
        let isFull = errors.contains { $0.code == .quotaExceeded }
        let asked = errors.compactMap(\.retryAfterSeconds).max() ?? 0
        return backoff.wait(
            after: isFull ? .max : count,
            atLeast: .seconds(min(max(asked, 0), longestRetryAfter.seconds)), jitter: jitter
        )
    }

    private static func cause(of errors: [CKError]) -> Cause {
        if errors.contains(where: { $0.retryAfterSeconds != nil }) { return .retryAfter }
        let areAllNetwork = errors.allSatisfy {
            $0.code == .networkFailure || $0.code == .networkUnavailable
        }
        return areAllNetwork && !errors.isEmpty ? .network : .other
    }
}

extension CKError.Code {
    /// Whether the server failed in a way that has nothing to do with what it was asked.
    fileprivate var isServersFault: Bool {
        self == .internalError || self == .serverRejectedRequest
    }
}

extension CKError {
    /// The errors of the items of a `partialFailure`; else the error itself.
    fileprivate var parts: [CKError] {
        guard code == .partialFailure, let errors = partialErrorsByItemID else { return [self] }
        return errors.values.map(CKError.of).flatMap(\.parts)
    }
}
