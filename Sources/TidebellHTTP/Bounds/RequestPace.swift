// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellWire

/// Bounds how many requests a second a caller makes.
package final class RequestPace: Sendable {
    private let rates: Mutex<RequestRates<Caller>>
    private let perSecond: Int
    private let uptime: @Sendable () -> Int64

    /// Creates a bound; nil where the limits know none.
    init?(limits: ShareLimits, clock: any Clock<Duration>) {
        guard limits.requestsPerSecond > 0 else { return nil }
        perSecond = limits.requestsPerSecond
        rates = Mutex(
            RequestRates(
                perSecond: perSecond, burst: perSecond * max(1, limits.burstSeconds)
            )
        )
        uptime = clock.nanoseconds()
    }

    /// Counts a request, or fails with `THROTTLED`.
    package func count(_ caller: Caller) throws {
        let now = uptime()
        if let wait = rates.withLock({ $0.count(caller, at: now) }) { throw refusal(wait) }
    }

    /// Fails with `THROTTLED` where a request would be one too many; counts nothing.
    func check(_ caller: Caller) throws {
        let now = uptime()
        if let wait = rates.withLock({ $0.wait(of: caller, at: now) }) { throw refusal(wait) }
    }

    private func refusal(_ wait: Int64) -> WireError {
        WireError(
            .throttled,
            "you make more than \(perSecond) requests a second (requestsPerSecond): wait a little",
            retryAfter: max(1, (Double(wait) / 1_000_000_000).rounded(.up))
        ).naming(.requestsPerSecond)
    }
}

extension Clock where Duration == Swift.Duration {
    /// Returns a function that returns how many nanoseconds passed since now.
    fileprivate func nanoseconds() -> @Sendable () -> Int64 {
        let start = now
        return {
            let (seconds, attoseconds) = start.duration(to: now).components
            return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        }
    }
}
