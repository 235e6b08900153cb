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
        /// Somebody asked for it, or the attempt itself failed.
        case other
    }

    /// The first wait; doubles with each further one.
    static let firstDelay = Duration.seconds(1)
    /// The longest wait the engine decides on itself.
    static let longestDelay = Duration.seconds(300)
    /// The longest wait a server can ask for: a week, as operations may take (LIMIT-14).
    static let longestRetryAfter = Duration.seconds(604_800)

    private var wanted: Set<Work> = []
    /// How often each work failed since it last did not.
    private var failures: [Work: Int] = [:]
    private var lastFailed: Work?
    private var pause: (delay: Duration, cause: Cause)?
    private var hasNoAccount = false

    /// Whether a wait is under way.
    var isPaused: Bool { pause != nil }

    // MARK: - What happens

    /// Notes that there is something to do.
    mutating func want(_ work: Work) {
        wanted.insert(work)
    }

    /// Notes that a wait is over.
    mutating func waited() {
        pause = nil
    }

    /// Notes a sign that the server can be reached.
    mutating func networkReturned() {
        if pause?.cause == .network { pause = nil }
    }

    /// Notes that somebody may have signed in or out.
    mutating func accountChanged() {
        self = SyncSchedule()
        wanted = Set(Work.allCases)
    }

    /// Drops all that is wanted (SYNC-8).
    mutating func cancel() {
        wanted = []
        pause = nil
    }

    /// Returns what to do now; work counts as begun with this.
    mutating func next() -> Step {
        if hasNoAccount { return .idle }
        if let pause { return .wait(pause.delay) }
        let waiting = Work.allCases.filter(wanted.contains)
        // What fails again and again must not keep the other from being done.
        guard let work = waiting.first(where: { $0 != lastFailed }) ?? waiting.first else {
            return .idle
        }
        wanted.remove(work)
        return .run(work)
    }

    /// Notes how work ended.
    ///
    /// - Parameters:
    ///   - error: Why it failed; nil when it did not.
    ///   - isSignedOut: Whether the device has no user.
    ///   - jitter: A random number from 0 to 1: how much of the second half of a wait is
    ///     waited.
    mutating func ended(_ work: Work, _ error: CKError?, isSignedOut: Bool, jitter: Double) {
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
        let errors = error.parts
        let passing = errors.filter { $0.code.passesByItself || $0.code.keepsChangePending }
        // Cancelled is what nobody wants any more; other errors are for the app to solve.
        guard error.code != .operationCancelled else { return }
        let count = failures[work, default: 0] + 1
        failures[work] = count
        lastFailed = work
        if !passing.isEmpty { wanted.insert(work) }
        // The app may have solved it in the event already: once, it need not wait.
        guard !passing.isEmpty || count > 1 else { return }
        pause = (Self.delay(count, passing, jitter: jitter), Self.cause(of: passing))
    }

    private static func delay(_ count: Int, _ errors: [CKError], jitter: Double) -> Duration {
        let doublings = min(count - 1, 20)  // beyond every bound, and no overflow
        var most = min(firstDelay * (1 << doublings), longestDelay)
        // Room is not made in a second.
        if errors.contains(where: { $0.code == .quotaExceeded }) { most = longestDelay }
        let delay = most * (0.5 + 0.5 * min(max(jitter, 0), 1))
        let asked = errors.compactMap(\.retryAfterSeconds).max() ?? 0
        return max(delay, .seconds(min(max(asked, 0), longestRetryAfter.seconds)))
    }

    private static func cause(of errors: [CKError]) -> Cause {
        let areAllNetwork = errors.allSatisfy { error in
            (error.code == .networkFailure || error.code == .networkUnavailable)
                && error.retryAfterSeconds == nil
        }
        return areAllNetwork && !errors.isEmpty ? .network : .other
    }
}

extension CKError {
    /// The errors of the items of a `partialFailure`; else the error itself.
    fileprivate var parts: [CKError] {
        guard code == .partialFailure, let errors = partialErrorsByItemID else { return [self] }
        return errors.values.map(CKError.of).flatMap(\.parts)
    }
}
