// SPDX-License-Identifier: Apache-2.0

/// Whether a request that failed is sent again, and when (OP-5, ERR-6).
///
/// | failure | as a rule | utility, background and long-lived |
/// |---|---|---|
/// | connection lost, an upload path gone | three attempts | until the operation's time is over |
/// | no route, no answer in time | reported at once | likewise |
/// | the server is busy or throttles: reads | three attempts, waits up to 10 s | likewise |
/// | the server is busy or throttles: writes | reported at once | likewise |
/// | anything else | reported at once | reported at once |
///
/// Only what the server does once is sent again: reads, and writes that have a request
/// ID. Never earlier than the server asks for; each wait is longer by chance, so that
/// devices that failed together do not come back together.
struct RequestRetry {
    /// The most attempts of an operation that does not wait for the network.
    static let maximumAttempts = 3
    /// The longest wait such an operation takes upon itself; when the server asks for
    /// more, the app gets the error and decides (ERR-6).
    static let longestDelay = Duration.seconds(10)
    /// How long a write is repeated whose first attempt may have been done: an hour less
    /// than the server remembers answers.
    static let longestRepetition = Duration.seconds(23 * 3600)
    /// The waits, unless the server asks for longer ones; only operations that wait for the
    /// network come near the longest.
    static let backoff = Backoff(
        first: .milliseconds(500), longest: .seconds(300),
        spread: .longer(by: 0.5, atMost: .seconds(60))
    )

    /// Whether the request changes nothing.
    var isRead: Bool
    /// Whether the server does the same once only, however often it is sent.
    var isRepeatable: Bool
    /// Whether the operation waits for the network (OP-5).
    var waitsForNetwork: Bool

    /// Returns the wait after `attempt` attempts; nil when the error is to be shown.
    ///
    /// - Parameter jitter: A random number from 0 to 1: how much of its spread is waited
    ///   beyond the wait itself.
    func delay(after attempt: Int, _ failure: RequestFailure, jitter: Double) -> Duration? {
        let seconds = failure.error.retryAfterSeconds ?? 0
        let asked = Duration.seconds(max(0, min(seconds, 1e9)))
        return leastDelay(after: attempt, failure.cause, asked: asked).map { least in
            Self.backoff.wait(after: attempt, atLeast: least, jitter: jitter)
        }
    }

    /// The wait that is kept to at least; nil when the error is to be shown.
    private func leastDelay(
        after attempt: Int, _ cause: RequestFailure.Cause, asked: Duration
    ) -> Duration? {
        guard isRepeatable else { return nil }
        if waitsForNetwork { return cause == .other ? nil : asked }
        guard attempt < Self.maximumAttempts else { return nil }
        switch cause {
        case .connectionLost, .uploadPathGone: return .zero
        case .busy where isRead && asked <= Self.longestDelay: return asked
        default: return nil
        }
    }
}

extension RequestRetry {
    /// The rule for the transfer of a file, which may begin again at any time.
    static func ofFiles(_ options: RequestOptions) -> RequestRetry {
        RequestRetry(isRead: true, isRepeatable: true, waitsForNetwork: options.waitsForNetwork)
    }
}

extension RequestOptions {
    /// Returns the wait before the next attempt; nil when the error is to be shown, or
    /// the operation's time is over before.
    func wait(
        after attempt: Int, _ failure: RequestFailure, by retry: RequestRetry, jitter: Double
    ) -> Duration? {
        guard let delay = retry.delay(after: attempt, failure, jitter: jitter),
            deadline.map({ delay < $0.remaining }) ?? true
        else { return nil }
        return delay
    }
}

/// A request without an answer, and what is known of the cause.
struct RequestFailure: Error {
    /// Why there is no answer, as far as it matters for another attempt.
    enum Cause: Sendable {
        /// The connection broke: the server may have done what was asked.
        case connectionLost
        /// The server was not reached, or did not answer in time: asked again at once it
        /// would not do better.
        case notReached
        /// The server has too much to do at the moment.
        case busy
        /// The server awaits the file elsewhere, or not any more.
        case uploadPathGone
        /// The next attempt would fail alike.
        case other
    }

    /// What the app gets.
    var error: CKError
    /// Why.
    var cause: Cause
    /// What the error shows about the user; nil for nothing.
    var standing: AccountStanding?
    /// Whether the server may have done what was asked.
    var mayBeDone = false

    /// Takes an error the server gave with a status.
    init(_ error: CKError, status: Int = 0) {
        self.error = error
        standing = AccountStanding(error, status: status)
        // A gateway had no answer from the server.
        mayBeDone = status == 502 || status == 504
        switch error.code {
        case .serviceUnavailable, .requestRateLimited, .zoneBusy: cause = .busy
        case .assetNotAvailable where status != 0: cause = .uploadPathGone
        default: cause = .other
        }
    }

    /// Takes an error of the transport.
    init(_ failure: any Error, container: String?, server: URL? = nil) {
        error = .transport(failure, container: container, server: server)
        switch failure as? TransportError {
        case .connectionLost:
            cause = .connectionLost
            mayBeDone = true
        case .timedOut:
            cause = .notReached
            mayBeDone = true
        case .unreachable: cause = .notReached
        case .tooLarge, nil: cause = .other
        }
    }
}
