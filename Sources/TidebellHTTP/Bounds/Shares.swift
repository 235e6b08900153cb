// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

/// What callers have of the server now, held to ``ShareLimits``.
package struct Shares: Sendable {
    package let limits: ShareLimits
    /// Counts what was refused.
    package let metrics: HTTPMetrics
    /// Bytes of the bodies of requests and answers.
    package let bodies: BodyBytes
    private let pace: RequestPace?

    /// Creates the shares of nobody yet.
    package init(
        limits: ShareLimits = ShareLimits(), clock: any Clock<Duration>,
        metrics: HTTPMetrics = HTTPMetrics()
    ) {
        self.limits = limits
        self.metrics = metrics
        bodies = BodyBytes(limits: limits)
        pace = RequestPace(limits: limits, clock: clock)
    }

    /// The share a request counts on: the account's, or that of its address.
    package func caller(_ account: AccountID?, of request: WebRequest) -> Caller? {
        if let account { return .account(account) }
        return request.origin.sharing.map(Caller.address)
    }

    /// Fails with `THROTTLED` where the caller may make no request now; counts nothing.
    func checkPace(of caller: Caller?) throws {
        guard let pace, let caller else { return }
        try pace.check(caller)
    }

    /// Counts a request, or fails with `THROTTLED`.
    package func countRequest(_ caller: Caller?) throws {
        guard let pace, let caller else { return }
        try pace.count(caller)
    }
}
