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
        /// Move the cursor of a user, where it moved, and give the lease back.
        case end(DeliveryLease, upTo: NotificationSequence?, Ending)
        /// Wait for what is under way, or for ``WebhookQueue/woke()``.
        case receive
        /// Wait, then call ``WebhookQueue/rested()``.
        case rest(Duration)
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
        enum Phase: Hashable { case claimed, waiting, underWay, ended(Ending), ending }

        var lease: DeliveryLease
        var phase = Phase.claimed
        var items: ArraySlice<WebhookItem> = []
        /// Everything up to here is done, though not stored yet.
        var delivered: NotificationSequence?
        /// How often the first one failed in passing.
        var stumbles = 0
        /// Whether the lease is too old for another post.
        var isOld = false
    }

    private let configuration: WebhookConfiguration
    private var entries: [Entry] = []
    private var mayHaveMore = true
    private var failures = 0
    /// Failures since the last delivery; nil before the first, and after a wait.
    private var failuresInPassing: Int?
    private var delay: Duration?
    /// What the receiver refused of a user, and how often.
    private var refusals: [DeliveryPointer: (sequence: NotificationSequence, count: Int)] = [:]

    /// Creates a queue of which nothing is known.
    init(_ configuration: WebhookConfiguration) {
        self.configuration = configuration
    }

    /// The leases that are held.
    var leases: [DeliveryLease] { entries.map(\.lease) }

    /// How far users were delivered whose cursor was not moved so far yet.
    var unsaved: [(DeliveryLease, NotificationSequence)] {
        entries.compactMap { entry in
            guard entry.phase != .ending, let delivered = entry.delivered else { return nil }
            return (entry.lease, delivered)
        }
    }

    /// Decides; a user who is returned counts as under way.
    mutating func next() -> Step {
        for index in entries.indices {
            if delay != nil, [.claimed, .waiting].contains(entries[index].phase) {
                entries[index].phase = .ended(
                    entries[index].delivered == nil ? .untouched : .delivered)
            }
            guard case .ended(let ending) = entries[index].phase else { continue }
            entries[index].phase = .ending
            let entry = entries[index]
            return .end(entry.lease, upTo: entry.delivered, ending)
        }
        if let delay { return entries.isEmpty ? .rest(delay) : .receive }
        let window = failures > 0 ? 1 : configuration.window
        if let index = entries.firstIndex(where: { [.claimed, .waiting].contains($0.phase) }) {
            let entry = entries[index]
            entries[index].phase = .underWay
            guard entry.phase == .waiting, let item = entry.items.first else {
                return .read(entry.lease)
            }
            let wait = configuration.quickDelay(after: entry.stumbles)
            return .post(item, of: entry.lease, after: wait)
        }
        if mayHaveMore, entries.count < window { return .claim(window - entries.count) }
        return .receive
    }

    /// Takes what was claimed of so many that were asked for.
    mutating func claimed(_ leases: [DeliveryLease], of count: Int) {
        entries += leases.map { Entry(lease: $0) }
        mayHaveMore = leases.count == count
    }

    /// Takes a page of a user's log, which ends at `end`.
    mutating func read(
        _ lease: DeliveryLease, _ items: [WebhookItem], upTo end: NotificationSequence
    ) {
        guard let index = index(of: lease) else { return }
        entries[index].items = items[...]
        // What was replaced or has left the log is passed over.
        if items.isEmpty { entries[index].delivered = end }
        entries[index].phase = items.isEmpty ? .ended(.delivered) : .waiting
    }

    /// Takes the outcome of the first notification of a user's page.
    ///
    /// - Parameters:
    ///   - isOld: Whether the lease is too old for another post.
    ///   - jitter: A random number from 0 to 1.
    mutating func finished(
        _ lease: DeliveryLease, _ outcome: WebhookOutcome, isOld: Bool, jitter: Double
    ) -> Event {
        guard let index = index(of: lease) else { return .none }
        entries[index].isOld = isOld
        switch outcome {
        case .delivered:
            settle(index)
            if delay == nil { failuresInPassing = 0 }
            // One that was under way when another failed shows nothing new.
            guard failures > 0, delay == nil else { return .none }
            failures = 0
            return .recovered
        case .refused:
            guard let sequence = entries[index].items.first?.notification.sequence else {
                return .none
            }
            // What was refused before may have left the log.
            let earlier = refusals[lease.key].flatMap {
                $0.sequence == sequence ? $0.count : nil
            }
            let count = (earlier ?? 0) + 1
            refusals[lease.key] = (sequence, count)
            guard count < configuration.triesOfRefused else {
                settle(index)
                if failuresInPassing == nil { pause(retryAfter: nil, jitter) }
                return .skipped
            }
            return failed(index, retryAfter: nil, jitter)
        case .failed(let retryAfter): return failed(index, retryAfter: retryAfter, jitter)
        // Nothing follows: the webhook is disabled.
        case .gone:
            entries[index].phase = .ended(entries[index].delivered == nil ? .untouched : .delivered)
            return .none
        }
    }

    /// Forgets a user whose lease was given back. There may be more of them than one page.
    mutating func ended(_ lease: DeliveryLease, hasMore: Bool) {
        entries.removeAll { $0.lease == lease }
        if hasMore { mayHaveMore = true } else { refusals[lease.key] = nil }
    }

    /// Notes that the wait is over.
    mutating func rested() {
        delay = nil
        mayHaveMore = true
    }

    /// Notes that there may be more users.
    mutating func woke() {
        mayHaveMore = true
    }

    // MARK: -

    private func index(of lease: DeliveryLease) -> Int? {
        entries.firstIndex { $0.lease == lease }
    }

    /// Notes that the first of a user's notifications is done.
    private mutating func settle(_ index: Int) {
        refusals[entries[index].lease.key] = nil
        entries[index].delivered = entries[index].items.removeFirst().notification.sequence
        entries[index].stumbles = 0
        let isDone = entries[index].items.isEmpty || entries[index].isOld
        entries[index].phase = isDone ? .ended(.delivered) : .waiting
    }

    /// Takes a failure for one of this user alone, or of the receiver itself.
    private mutating func failed(_ index: Int, retryAfter: Duration?, _ jitter: Double) -> Event {
        guard retryAfter == nil, delay == nil, let count = failuresInPassing,
            count < configuration.window
        else {
            entries[index].phase = .ended(entries[index].delivered == nil ? .failed : .delivered)
            return pause(retryAfter: retryAfter, jitter)
        }
        failuresInPassing = count + 1
        guard entries[index].stumbles >= configuration.quickTries || entries[index].isOld else {
            entries[index].stumbles += 1
            entries[index].phase = .waiting
            return .none
        }
        let earlier = entries[index].delivered == nil ? entries[index].lease.failures : 0
        let wait = configuration.retryDelay(after: earlier + 1, retryAfter: nil, jitter: jitter)
        entries[index].phase = .ended(.postponed(wait))
        return earlier == 0 ? .postponed : .none
    }

    @discardableResult
    private mutating func pause(retryAfter: Duration?, _ jitter: Double) -> Event {
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
