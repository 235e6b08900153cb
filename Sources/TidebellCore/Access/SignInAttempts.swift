// SPDX-License-Identifier: Apache-2.0
package import TidebellScheduling
import TidebellWire

/// Counts wrong passwords, so that nobody tries many and nobody locks another one out.
///
/// A caller is refused for what came from its own address. What came for an account from
/// elsewhere only makes it wait, and not where the account has signed in before.
///
/// Moments are durations since the count began, on a clock that nobody sets: otherwise setting
/// the time of day back would make all who wait do so for longer.
package struct SignInAttempts: Sendable {
    /// The most wrong passwords for one account from one address in a ``window``, unless the
    /// server is configured otherwise.
    package static let maximumFailures = 10
    /// The same from one address, whatever the account.
    package static let maximumFailuresOfAddress = 100
    /// How long a wrong password counts.
    package static let window = Duration.seconds(15 * 60)
    /// Wrong passwords for one account, from anywhere, after which sign-ins from new
    /// addresses wait for one another; with as many more again, twice as long.
    package static let failuresBeforeDelay = 10
    /// The wait for the first of them, and the longest. Who would wait longer is refused, and
    /// asked to come back then.
    package static let delay = Backoff(first: .seconds(1), longest: .seconds(30))
    /// The most names, addresses or pairs counted at a time: more than one server can
    /// check in a ``window``. Beyond it those with the fewest failures are forgotten, so that
    /// made-up names do not wipe the count of another.
    package static let capacity = 10_000

    /// An account's name and an address.
    private struct Pair: Hashable {
        var name: String
        var address: String
    }

    private struct Count {
        var failures = 0
        var since: Duration
        /// When the last one who waits is let in.
        var lastTurn: Duration

        init(since: Duration) {
            self.since = since
            lastTurn = since
        }
    }

    private var pairs: [Pair: Count] = [:]
    private var addresses: [String: Count] = [:]
    private var names: [String: Count] = [:]
    /// Who signed in before, and when.
    private var known: [Pair: Duration] = [:]

    private let mostFailures: Int
    private let mostFailuresOfAddress: Int

    /// Creates a count of nothing, with the most wrong passwords for one account from one address,
    /// and from one address whatever the account.
    package init(
        mostFailures: Int = Self.maximumFailures,
        ofAddress mostFailuresOfAddress: Int = Self.maximumFailuresOfAddress
    ) {
        self.mostFailures = mostFailures
        self.mostFailuresOfAddress = mostFailuresOfAddress
    }

    /// Whether the account has signed in from this address lately.
    package func knows(_ name: String, from address: String?) -> Bool {
        address.map { known[Pair(name: name, address: $0)] != nil } ?? false
    }

    /// Counts an attempt as failed before it is made, so that many at once count; returns
    /// how long it has to wait.
    ///
    /// Fails with `THROTTLED` and the time to wait after too many from the address, which
    /// is nil where addresses distinguish nobody.
    package mutating func begin(
        _ name: String, from address: String?, at now: Duration
    ) throws -> Duration {
        forget(before: now - Self.window)
        var delay = Duration.zero
        if let address {
            let pair = Pair(name: name, address: address)
            try Self.check(pairs[pair], mostFailures, .wrongPasswords, at: now)
            if !knows(name, from: address) {
                try Self.check(
                    addresses[address], mostFailuresOfAddress, .wrongPasswordsPerAddress, at: now)
                delay = try turn(of: name, isFirst: pairs[pair] == nil, at: now)
            }
            pairs[pair, default: Count(since: now)].failures += 1
            addresses[address, default: Count(since: now)].failures += 1
        } else {
            delay = try turn(of: name, isFirst: false, at: now)
        }
        names[name, default: Count(since: now)].failures += 1
        return delay
    }

    /// Takes back what ``begin(_:from:at:)`` counted, for an attempt that was not made.
    package mutating func withdrew(_ name: String, from address: String?) {
        Self.takeOff(1, name, &names)
        guard let address else { return }
        Self.takeOff(1, Pair(name: name, address: address), &pairs)
        Self.takeOff(1, address, &addresses)
    }

    /// Forgets the wrong passwords of who knew the right one, not those of others.
    package mutating func succeeded(_ name: String, from address: String?, at now: Duration) {
        guard let address else {
            names[name] = nil
            return
        }
        let pair = Pair(name: name, address: address)
        let own = pairs.removeValue(forKey: pair)?.failures ?? 0
        Self.takeOff(own, address, &addresses)
        Self.takeOff(own, name, &names)
        if known.count >= Self.capacity { forgetOldest() }
        known[pair] = now
    }

    private static func check(
        _ count: Count?, _ most: Int, _ bound: WireError.Bound, at now: Duration
    ) throws {
        guard let count, count.failures >= most else { return }
        let whose = bound == .wrongPasswords ? "for this user " : ""
        throw WireError.tooManyWrongPasswords(
            "your address sent \(most) wrong passwords \(whose)in \(window.components.seconds / 60) "
                + "minutes already",
            bound, until: count.since + window, at: now)
    }

    /// Returns how long an attempt from a new address waits for the ones before it.
    ///
    /// An address that never failed for this account is let in after the longest wait at most, or
    /// strangers could keep its user out with an attempt now and then.
    private mutating func turn(
        of name: String, isFirst: Bool, at now: Duration
    ) throws -> Duration {
        guard var count = names[name], count.failures >= Self.failuresBeforeDelay else {
            return .zero
        }
        let pause = Self.delay.wait(after: count.failures / Self.failuresBeforeDelay)
        let turn = max(count.lastTurn, now) + pause
        guard turn <= now + Self.delay.longest else {
            guard !isFirst else { return Self.delay.longest }
            throw WireError.tooManyWrongPasswords(
                "after \(count.failures) wrong passwords for this user, sign-ins from new addresses "
                    + "wait for one another, at most \(Self.delay.longest.components.seconds) s",
                .wrongPasswords, until: turn, at: now)
        }
        count.lastTurn = turn
        names[name] = count
        return turn - now
    }

    private mutating func forget(before moment: Duration) {
        pairs = pairs.filter { $1.since > moment }
        addresses = addresses.filter { $1.since > moment }
        names = names.filter { $1.since > moment }
        Self.thin(&names)
        Self.thin(&pairs)
        Self.thin(&addresses)
    }

    /// Forgets at least half of the counts when they are too many, those of fewest failures.
    private static func thin<Key>(_ counts: inout [Key: Count]) {
        guard counts.count >= capacity else { return }
        let middle = counts.values.map(\.failures).sorted()[counts.count / 2]
        counts = counts.filter { $1.failures > middle }
    }

    /// Takes failures off a count, and the count away when none is left.
    private static func takeOff<Key>(_ failures: Int, _ key: Key, _ counts: inout [Key: Count]) {
        guard var count = counts[key] else { return }
        count.failures -= failures
        counts[key] = count.failures > 0 ? count : nil
    }

    private mutating func forgetOldest() {
        let middle = known.values.sorted()[known.count / 2]
        known = known.filter { $1 > middle }
    }
}

extension WireError {
    fileprivate static func tooManyWrongPasswords(
        _ why: String, _ bound: Bound, until end: Duration, at now: Duration
    ) -> WireError {
        WireError(
            .throttled, "\(why) (\(bound.rawValue)): try again later",
            retryAfter: max(.zero, end - now) / .seconds(1)
        ).naming(bound)
    }
}
