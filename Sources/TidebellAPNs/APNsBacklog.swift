// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellScheduling

/// What one container's lane has to do, and when: pure, with the time as an input.
///
/// It holds targets, not pushes: the log has those. What does not fit is let go and
/// found again by looking through the store, so memory is bounded whatever happens.
struct APNsBacklog {
    /// How a target's turn ended.
    enum Outcome: Sendable, Hashable {
        /// Nothing is left to send to it.
        case done
        /// It has more, or may have.
        case more
        /// It failed and rests.
        case rests(atLeast: Duration, atMost: Duration)
        /// It is no target any more.
        case gone
    }

    private enum Phase {
        case waiting, busy, resting(until: Instant)
        /// Busy, and something new came for it.
        case busyAgain
    }

    private struct Entry {
        var phase: Phase
        /// Turns that failed in a row.
        var failures = 0
    }

    /// Rests end together in steps of this, so that ending thousands of them does not
    /// mean going through all targets for each.
    private static let step: Int64 = 100

    private let configuration: APNsConfiguration
    private var entries: [PushTargetKey: Entry] = [:]
    private var queue: [PushTargetKey] = []
    private var queueStart = 0
    private var busyCount = 0
    private var restingCount = 0
    /// No rest ends before.
    private var nextRestEnd: Instant?
    /// Where to look for further targets; nil when nothing is overlooked.
    private var look: Look? = Look()
    private var lookAgainAt: Instant?
    private var pausedUntil: Instant?
    /// Failures of the service since it worked last, and pauses because of them.
    private var failures = 0
    private var pauses = 0

    /// A look through the store for targets, page by page.
    struct Look: Hashable {
        /// The device the next page begins after.
        var after: DeviceKey?
        /// Something was overlooked before that position: start over at the end.
        var isRepeated = false
    }

    /// Creates a backlog that looks through the whole store first.
    init(_ configuration: APNsConfiguration) {
        self.configuration = configuration
    }

    private var waitingCount: Int { queue.count - queueStart }

    /// Whether nothing can be done now: what is left waits for the time.
    func isIdle(at now: Instant) -> Bool {
        guard busyCount == 0 else { return false }
        if isPaused(at: now) { return true }
        let isDue = [nextRestEnd, lookAgainAt].contains { $0.map { $0 <= now } ?? false }
        return waitingCount == 0 && look == nil && !isDue
    }

    /// When something can be done again that cannot be done now; nil when only
    /// something new can change that.
    var deadline: Instant? {
        if let pausedUntil { return pausedUntil }
        return [nextRestEnd, lookAgainAt].compactMap(\.self).min()
    }

    /// Whether everything waits for the service.
    func isPaused(at now: Instant) -> Bool { pausedUntil.map { now < $0 } ?? false }
}

// MARK: - Work

extension APNsBacklog {
    /// How many targets more may wait; none during a pause.
    func room(at now: Instant) -> Int {
        isPaused(at: now) ? 0 : max(0, configuration.waitingTargets - waitingCount)
    }

    /// Takes in a target that has something pending.
    mutating func found(_ key: PushTargetKey) {
        switch entries[key]?.phase {
        case .waiting, .resting, .busyAgain: break
        case .busy: entries[key]?.phase = .busyAgain
        case nil:
            if waitingCount < configuration.waitingTargets {
                enqueue(key, failures: 0)
            } else if look == nil {
                look = Look()
            } else {
                look?.isRepeated = true
            }
        }
    }

    /// The look to go on with now; nil when there is no need or no room.
    func lookNeeded(at now: Instant) -> Look? {
        guard let look, !isPaused(at: now) else { return nil }
        return waitingCount <= configuration.waitingTargets / 2 ? look : nil
    }

    /// Takes in what a look found, and where the next goes on.
    mutating func looked(_ found: [PushTargetKey], next: DeviceKey?) {
        let isRepeated = look?.isRepeated ?? false
        look = next.map { Look(after: $0, isRepeated: isRepeated) }
        if look == nil, isRepeated { look = Look() }
        for key in found { self.found(key) }
    }

    /// Takes the next target whose turn it is; nil when none may go now.
    mutating func next(at now: Instant) -> PushTargetKey? {
        if let until = pausedUntil {
            guard until <= now else { return nil }
            pausedUntil = nil
        }
        wake(at: now)
        // After a pause one goes ahead and tries.
        let limit = pauses > 0 ? 1 : configuration.requestsInFlight
        guard busyCount < limit, waitingCount > 0 else { return nil }
        let key = queue[queueStart]
        queueStart += 1
        if queueStart > 1024, queueStart * 2 > queue.count {
            queue.removeFirst(queueStart)
            queueStart = 0
        }
        entries[key]?.phase = .busy
        busyCount += 1
        return key
    }

    /// Ends the turn of a target; returns when its rest ends, if it rests.
    @discardableResult
    mutating func finished(
        _ key: PushTargetKey, _ outcome: Outcome, at now: Instant, jitter: Double
    ) -> Instant? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        busyCount -= 1
        switch (outcome, entry.phase) {
        // One that is gone may have been registered again, in another session.
        case (.gone, .busyAgain), (.done, .busyAgain), (.more, _): enqueue(key, failures: 0)
        case (.gone, _): break
        case (.done, _): break
        case (.rests(let least, let most), _):
            let wait = configuration.wait(
                failures: entry.failures + 1, atLeast: least, atMost: most, jitter: jitter
            )
            let end = now.advanced(by: wait)
            rest(key, failures: entry.failures + 1, until: end)
            return end
        }
        return nil
    }

    /// Whether a target waits, is busy or rests.
    func holds(_ key: PushTargetKey) -> Bool { entries[key] != nil }

    private mutating func enqueue(_ key: PushTargetKey, failures: Int) {
        entries[key] = Entry(phase: .waiting, failures: failures)
        queue.append(key)
    }

    private mutating func rest(_ key: PushTargetKey, failures: Int, until end: Instant) {
        let steps = (end.rawValue + Self.step - 1) / Self.step
        let until = Instant(rawValue: steps * Self.step)
        guard restingCount < configuration.restingTargets else {
            lookAgainAt = max(lookAgainAt ?? until, until)
            return
        }
        entries[key] = Entry(phase: .resting(until: until), failures: failures)
        restingCount += 1
        nextRestEnd = min(nextRestEnd ?? until, until)
    }

    /// Lets those whose rest is over queue again.
    private mutating func wake(at now: Instant) {
        if let again = lookAgainAt, again <= now {
            lookAgainAt = nil
            if look == nil { look = Look() } else { look?.isRepeated = true }
        }
        guard let end = nextRestEnd, end <= now else { return }
        nextRestEnd = nil
        var due: [(end: Instant, key: PushTargetKey, failures: Int)] = []
        for (key, entry) in entries {
            guard case .resting(let until) = entry.phase else { continue }
            if until <= now {
                due.append((until, key, entry.failures))
            } else {
                nextRestEnd = min(nextRestEnd ?? until, until)
            }
        }
        restingCount -= due.count
        for (_, key, failures) in due.sorted(by: { $0.end < $1.end }) {
            enqueue(key, failures: failures)
        }
    }
}

// MARK: - The service as a whole

extension APNsBacklog {
    /// The service works; returns whether it did not before.
    mutating func worked() -> Bool {
        defer { (failures, pauses, pausedUntil) = (0, 0, nil) }
        return pauses > 0
    }

    /// The service failed; returns true when that begins a pause.
    ///
    /// After ``APNsConfiguration/failuresBeforePause`` in a row, each further one
    /// pauses everything for longer.
    mutating func failed(atLeast: Duration, at now: Instant, jitter: Double) -> Bool {
        failures += 1
        guard failures >= configuration.failuresBeforePause else { return false }
        return pause(
            atLeast: atLeast, atMost: configuration.longestWait, at: now, jitter: jitter
        )
    }

    /// Pauses everything; returns true unless a pause is on already.
    mutating func pause(
        atLeast: Duration, atMost: Duration, at now: Instant, jitter: Double
    ) -> Bool {
        // Those that were under way when the pause began show nothing new.
        guard !isPaused(at: now) else { return false }
        pauses += 1
        let wait = configuration.wait(
            failures: pauses, atLeast: atLeast, atMost: atMost, jitter: jitter
        )
        pausedUntil = now.advanced(by: wait)
        return pauses == 1
    }
}

extension APNsConfiguration {
    /// The wait after `failures` failures in a row (1 or more): doubling, and with
    /// `jitter` (0 to 1) up to a quarter longer, so that not all come back at once.
    func wait(
        failures: Int, atLeast: Duration, atMost: Duration, jitter: Double
    ) -> Duration {
        Backoff(first: firstWait, longest: atMost, spread: .longer(by: 0.25))
            .wait(after: failures, atLeast: atLeast, jitter: jitter)
    }
}
