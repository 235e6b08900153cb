// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellScheduling

/// What one container's lane has to do, and when: pure, with the time as an input.
///
/// It holds targets, not pushes: the log has those. Only so many are claimed as there is room
/// for, and what rests is given back to the queue, so memory is bounded whatever happens.
struct APNsBacklog {
    /// How a target's turn ended.
    enum Outcome: Sendable, Hashable {
        /// Nothing is left to send to it.
        case done
        /// It has more, or may have.
        case more
        /// It failed and rests.
        case rests(atLeast: Duration, atMost: Duration)
        /// It is no target any more, or not this lane's.
        case gone
    }

    /// That a target failed and is to be left alone.
    struct Rest: Hashable {
        var end: Instant
        /// Turns that had failed in a row before.
        var failuresBefore: Int
    }

    private enum Phase {
        case waiting, busy
        /// Busy, and it was claimed once more meanwhile.
        case busyAgain
    }

    /// A time in which nothing is sent.
    private struct Pause {
        var start: Instant
        var end: Instant

        /// Whether it goes on. It does not before its start: then the time of day was set back, and
        /// a pause may not last longer for that.
        func isOn(at now: Instant) -> Bool { start <= now && now < end }
    }

    private struct Entry {
        var phase: Phase
        /// Turns that failed in a row.
        var failures = 0
    }

    /// Rests end together in steps of this, in milliseconds, so that thousands of them are not
    /// claimed one by one.
    private static let step: Int64 = 100

    private let configuration: APNsConfiguration
    private var entries: [PushTargetKey: Entry] = [:]
    private var queue: [PushTargetKey] = []
    private var queueStart = 0
    private var busyCount = 0
    private var currentPause: Pause?
    /// Failures of the service since it worked last, and pauses because of them.
    private var failures = 0
    private var pauses = 0

    /// Creates a backlog without any targets.
    init(_ configuration: APNsConfiguration) {
        self.configuration = configuration
    }

    private var waitingCount: Int { queue.count - queueStart }

    /// Whether nothing can be done now: what is left waits for the time.
    func isIdle(at now: Instant) -> Bool {
        busyCount == 0 && (isPaused(at: now) || waitingCount == 0)
    }

    /// When something can be done again that cannot be done now; nil when only
    /// something new can change that.
    func deadline(at now: Instant) -> Instant? { isPaused(at: now) ? currentPause?.end : nil }

    /// Whether everything waits for the service.
    func isPaused(at now: Instant) -> Bool { currentPause?.isOn(at: now) ?? false }
}

// MARK: - Work

extension APNsBacklog {
    /// How many targets more may wait; none during a pause.
    func room(at now: Instant) -> Int {
        isPaused(at: now) ? 0 : max(0, configuration.waitingTargets - waitingCount)
    }

    /// Takes in a target that was claimed.
    ///
    /// - Parameter failures: Turns of it that failed in a row.
    mutating func found(_ key: PushTargetKey, failures: Int = 0) {
        switch entries[key]?.phase {
        case .waiting, .busyAgain: break
        case .busy: entries[key]?.phase = .busyAgain
        case nil: enqueue(key, failures: failures)
        }
    }

    /// Takes the next target whose turn it is; nil when none may go now.
    mutating func next(at now: Instant) -> PushTargetKey? {
        guard !isPaused(at: now) else { return nil }
        currentPause = nil
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

    /// Ends the turn of a target; returns how it rests, if it does.
    @discardableResult
    mutating func finished(
        _ key: PushTargetKey, _ outcome: Outcome, at now: Instant, jitter: Double
    ) -> Rest? {
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
            let steps = (now.advanced(by: wait).rawValue + Self.step - 1) / Self.step
            return Rest(
                end: Instant(rawValue: steps * Self.step), failuresBefore: entry.failures)
        }
        return nil
    }

    /// Whether a target waits or is busy.
    func holds(_ key: PushTargetKey) -> Bool { entries[key] != nil }

    private mutating func enqueue(_ key: PushTargetKey, failures: Int) {
        entries[key] = Entry(phase: .waiting, failures: failures)
        queue.append(key)
    }
}

// MARK: - The service as a whole

extension APNsBacklog {
    /// The service works; returns whether it did not before.
    mutating func worked() -> Bool {
        defer { (failures, pauses, currentPause) = (0, 0, nil) }
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
        currentPause = Pause(start: now, end: now.advanced(by: wait))
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
