// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// Decides what a webhook does next. Knows no clock and posts nothing.
///
/// It works through users who have something, a few at a time and each in the order of their
/// log, one notification after the other. What fails while others are delivered is tried again
/// soon, after short growing waits; a user whose notification goes on failing is postponed, and
/// holds up nobody else. While the receiver itself fails, only one user's is tried, each time
/// another's, after growing waits, and the log is read again before: what left it meanwhile is not
/// posted.
struct WebhookQueue {
    /// What to do next.
    enum Step: Sendable, Hashable {
        /// Claim so many users.
        case claim(Int)
        /// Read the log of a claimed user.
        case read(DeliveryLease)
        /// Post after a wait, which no other user's wait for.
        case post(WebhookItem, of: DeliveryLease, after: Duration)
        /// Move the cursors of users, where they moved, and give their leases back: all at once,
        /// while others go on.
        case save([Turn])
        /// Wait for what is under way, or for ``WebhookQueue/woke()``.
        case receive
        /// Wait, then call ``WebhookQueue/rested()``.
        case rest(Duration)
    }

    /// The turn of a user that has ended.
    struct Turn: Sendable, Hashable {
        var lease: DeliveryLease
        /// Everything up to here was delivered; nil where nothing was.
        var delivered: NotificationSequence?
        var ending: Ending
    }

    /// How the turn of a user ends.
    enum Ending: Sendable, Hashable {
        case delivered, untouched
        /// Tried in vain, for which the receiver is blamed: others are tried before.
        case failed
        case postponed(Duration)
    }

    /// What an outcome means for the operator.
    enum Event: Hashable {
        case none
        /// The receiver fails: the first failure after a success.
        case startedToFail
        case recovered
        /// One user's notifications are put off, for the first time since they were delivered.
        case postponed
        /// The receiver refused it too often.
        case skipped
    }

    private struct Entry {
        enum Phase: Hashable { case claimed, waiting, underWay, ended(Ending), saving }

        var lease: DeliveryLease
        var phase = Phase.claimed
        var items: ArraySlice<WebhookItem> = []
        /// Everything up to here is done, though not stored yet.
        var delivered: NotificationSequence?
        /// How often the first one failed in passing.
        var stumbles = 0

        var canGoOn: Bool { phase == .claimed || phase == .waiting }
        /// Whether it takes a place in the window.
        var isActive: Bool { canGoOn || phase == .underWay }

        mutating func end() { phase = .ended(delivered == nil ? .untouched : .delivered) }
    }

    /// Whose notifications failed since the latest delivery.
    private enum Failing {
        case nobody, one(DeliveryPointer), several

        var areSeveral: Bool { if case .several = self { true } else { false } }

        mutating func add(_ user: DeliveryPointer) {
            switch self {
            case .nobody: self = .one(user)
            case .one(let other) where other != user: self = .several
            case .one, .several: break
            }
        }
    }

    private let configuration: WebhookConfiguration
    private var entries: [Entry] = []
    private var mayHaveMore = true
    private var isSaving = false
    /// Whether others may have been passed over by a claim because they are being saved.
    private var wokeWhileSaving = false
    private var failures = 0
    /// Failures since the last delivery; nil before the first, and after a wait.
    private var failuresInPassing: Int?
    private var failing = Failing.nobody
    private var delay: Duration?
    /// What the receiver refused of a user, and how often.
    private var refusals: [DeliveryPointer: (sequence: NotificationSequence, count: Int)] = [:]

    /// Creates a queue of which nothing is known.
    init(_ configuration: WebhookConfiguration) {
        self.configuration = configuration
    }

    /// All turns that are not saved, as they are.
    var unsaved: [Turn] {
        entries.map {
            Turn(
                lease: $0.lease, delivered: $0.delivered,
                ending: $0.delivered == nil ? .untouched : .delivered)
        }
    }

    /// Decides; a user who is returned counts as under way.
    mutating func next() -> Step {
        if delay != nil {
            for index in entries.indices where entries[index].canGoOn { entries[index].end() }
        }
        if !isSaving, case let turns = takeEnded(), !turns.isEmpty { return .save(turns) }
        if let delay { return entries.isEmpty ? .rest(delay) : .receive }
        if let index = entries.firstIndex(where: \.canGoOn) {
            let entry = entries[index]
            entries[index].phase = .underWay
            guard entry.phase == .waiting, let item = entry.items.first else {
                return .read(entry.lease)
            }
            let wait = configuration.quickDelay(after: entry.stumbles)
            return .post(item, of: entry.lease, after: wait)
        }
        let window = failures > 0 ? 1 : configuration.window
        let room = min(
            window - entries.count(where: \.isActive),
            configuration.window + configuration.turnsPerSave - entries.count
        )
        return mayHaveMore && room > 0 ? .claim(room) : .receive
    }

    /// Takes what was claimed of so many that were asked for.
    mutating func claimed(_ leases: [DeliveryLease], of count: Int) {
        for lease in leases {
            if let index = index(of: lease.key) {
                // Its own lease vested meanwhile: what is under way goes on with the new one.
                entries[index].lease = lease
            } else {
                entries.append(Entry(lease: lease))
            }
        }
        mayHaveMore = leases.count == count
        invariant(
            entries.count(where: \.isActive) <= configuration.window,
            "no more users than the window has are worked for"
        )
    }

    /// Takes a page of a user's log, which ends at `end`.
    mutating func read(
        _ user: DeliveryPointer, _ items: [WebhookItem], upTo end: NotificationSequence
    ) {
        guard let index = index(of: user) else { return }
        entries[index].items = items[...]
        // What was replaced or has left the log is passed over.
        if items.isEmpty { entries[index].delivered = end }
        entries[index].phase = items.isEmpty ? .ended(.delivered) : .waiting
    }

    /// Takes the outcome of the first notification of a user's page.
    ///
    /// - Parameters:
    ///   - age: How long ago the user was claimed.
    ///   - jitter: A random number from 0 to 1.
    mutating func finished(
        _ user: DeliveryPointer, _ outcome: WebhookOutcome, after age: Duration, jitter: Double
    ) -> Event {
        guard let index = index(of: user) else { return .none }
        invariant(entries[index].phase == .underWay, "only what was posted has an outcome")
        switch outcome {
        case .delivered:
            settle(index, after: age)
            // One that was under way when another failed shows nothing new.
            guard delay == nil else { return .none }
            failuresInPassing = 0
            failing = .nobody
            guard failures > 0 else { return .none }
            failures = 0
            return .recovered
        case .refused:
            guard countRefusal(index) < configuration.triesOfRefused else {
                settle(index, after: age)
                return .skipped
            }
            return failed(index, after: age, jitter)
        case .failed(nil): return failed(index, after: age, jitter)
        case .failed(let wait?): return blameReceiver(index, retryAfter: wait, jitter)
        case .unreachable: return blameReceiver(index, retryAfter: nil, jitter)
        // Nothing follows: the webhook is disabled.
        case .gone:
            entries[index].end()
            return .none
        }
    }

    /// Forgets users whose turns were saved, and who have nothing more where they are among
    /// `done`.
    mutating func saved(_ turns: [Turn], done: Set<DeliveryPointer>) {
        isSaving = false
        for turn in turns {
            let user = turn.lease.key
            if done.contains(user) { refusals[user] = nil } else { mayHaveMore = true }
            guard let index = index(of: user) else { continue }
            if entries[index].lease == turn.lease {
                entries.remove(at: index)
            } else {
                // Claimed once more meanwhile.
                entries[index] = Entry(lease: entries[index].lease)
            }
        }
        if wokeWhileSaving { mayHaveMore = true }
        wokeWhileSaving = false
    }

    /// Notes that the wait is over.
    mutating func rested() {
        delay = nil
        mayHaveMore = true
    }

    /// Notes that there may be more users.
    mutating func woke() {
        mayHaveMore = true
        wokeWhileSaving = isSaving
    }

    // MARK: -

    private func index(of user: DeliveryPointer) -> Int? {
        entries.firstIndex { $0.lease.key == user }
    }

    /// Takes the turns that have ended, to be saved.
    private mutating func takeEnded() -> [Turn] {
        var turns: [Turn] = []
        for index in entries.indices {
            guard case .ended(let ending) = entries[index].phase else { continue }
            let entry = entries[index]
            turns.append(Turn(lease: entry.lease, delivered: entry.delivered, ending: ending))
            entries[index].phase = .saving
        }
        isSaving = !turns.isEmpty
        return turns
    }

    /// Notes that the first of a user's notifications is done.
    private mutating func settle(_ index: Int, after age: Duration) {
        refusals[entries[index].lease.key] = nil
        entries[index].delivered = entries[index].items.removeFirst().notification.sequence
        entries[index].stumbles = 0
        let isDone = entries[index].items.isEmpty || age >= configuration.turnDuration
        entries[index].phase = isDone ? .ended(.delivered) : .waiting
    }

    /// Counts how often the first of a user's notifications was refused.
    private mutating func countRefusal(_ index: Int) -> Int {
        guard let sequence = entries[index].items.first?.notification.sequence else { return 0 }
        let user = entries[index].lease.key
        // What was refused before may have left the log.
        let earlier = refusals[user].flatMap { $0.sequence == sequence ? $0.count : nil } ?? 0
        refusals[user] = (sequence, earlier + 1)
        return earlier + 1
    }

    /// Takes a failure for one of this user alone, or of the receiver itself: where those of
    /// several users fail and no other is delivered.
    private mutating func failed(
        _ index: Int, after age: Duration, _ jitter: Double
    ) -> Event {
        failing.add(entries[index].lease.key)
        let count = failuresInPassing ?? configuration.window
        guard delay == nil, !failing.areSeveral || count < configuration.window else {
            return blameReceiver(index, retryAfter: nil, jitter)
        }
        failuresInPassing = failuresInPassing.map { $0 + 1 }
        // No other post fits into the lease.
        let isOld = age >= configuration.leaseDuration
        guard entries[index].stumbles >= configuration.quickTries || isOld else {
            entries[index].stumbles += 1
            entries[index].phase = .waiting
            return .none
        }
        let earlier = entries[index].delivered == nil ? entries[index].lease.failures : 0
        let wait = configuration.retryDelay(after: earlier + 1, retryAfter: nil, jitter: jitter)
        entries[index].phase = .ended(.postponed(wait))
        return earlier == 0 ? .postponed : .none
    }

    /// Takes a failure for one of the receiver, which rests.
    private mutating func blameReceiver(
        _ index: Int, retryAfter: Duration?, _ jitter: Double
    ) -> Event {
        entries[index].phase = .ended(entries[index].delivered == nil ? .failed : .delivered)
        failuresInPassing = nil
        // Several that fail together are one failure, with the longest wait.
        let isFirst = delay == nil
        if isFirst { failures += 1 }
        let wait = configuration.retryDelay(
            after: failures, retryAfter: retryAfter, jitter: jitter
        )
        delay = max(delay ?? .zero, wait)
        return isFirst && failures == 1 ? .startedToFail : .none
    }
}
