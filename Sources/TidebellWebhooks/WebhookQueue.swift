// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// Decides what a webhook does next. Knows no clock and posts nothing.
///
/// Notifications are begun in the log's order, a few of them under way at a time.
/// ``delivered`` follows the oldest that is not done, so a crash repeats some and
/// loses none. What fails while others are delivered is tried again first, after a short
/// growing wait, and holds nobody up. While the receiver fails, only the oldest is tried, after growing
/// waits, and the log is read again before: what left it meanwhile is not posted.
struct WebhookQueue {
    /// What to do next.
    enum Step: Hashable {
        /// Post after a wait, which no other post waits for.
        case post(WebhookItem, after: Duration)
        /// Wait for an answer.
        case receive
        /// Read the log after a position.
        case read(after: NotificationSequence)
        /// Wait, then call ``WebhookQueue/rested()``.
        case rest(Duration)
        /// Everything is delivered: wait for more, then call
        /// ``WebhookQueue/woke()``.
        case idle
    }

    /// What an outcome means for the operator.
    enum Event: Hashable {
        case none
        /// The first failure after a success.
        case startedToFail
        case recovered
        /// The receiver refused it too often.
        case skipped
    }

    private struct Entry {
        enum State { case waiting, underWay, done }

        var item: WebhookItem
        var state: State
        /// How often it failed in passing.
        var stumbles = 0
    }

    private let configuration: WebhookConfiguration
    /// Everything up to here is done.
    private(set) var delivered: NotificationSequence
    private var entries: [Entry] = []
    /// Done, though something before them is not; no more than a window.
    private var doneAhead: Set<NotificationSequence> = []
    private var readUpTo: NotificationSequence
    private var isAtEnd = false
    private var underWay = 0
    private var failures = 0
    /// Failures since the last delivery; nil before the first, and after a wait.
    private var failuresInPassing: Int?
    private var delay: Duration?
    private var refusals: [NotificationSequence: Int] = [:]

    /// Creates a queue that begins after `delivered`.
    init(after delivered: NotificationSequence, _ configuration: WebhookConfiguration) {
        self.configuration = configuration
        self.delivered = delivered
        readUpTo = delivered
    }

    /// Decides; a notification that is returned counts as under way.
    mutating func next() -> Step {
        if let delay { return underWay > 0 ? .receive : .rest(delay) }
        let window = failures > 0 ? 1 : configuration.window
        if underWay >= window { return .receive }
        if let index = entries.firstIndex(where: { $0.state == .waiting }) {
            entries[index].state = .underWay
            underWay += 1
            let entry = entries[index]
            return .post(entry.item, after: configuration.quickDelay(after: entry.stumbles))
        }
        if !isAtEnd, entries.count < configuration.window { return .read(after: readUpTo) }
        return underWay > 0 ? .receive : .idle
    }

    /// Takes what was read: all of the container up to `end`; the end of the log
    /// or not.
    mutating func take(_ items: [WebhookItem], upTo end: NotificationSequence, isLast: Bool) {
        entries += items.map { item in
            let isDone = doneAhead.contains(item.notification.sequence)
            return Entry(item: item, state: isDone ? .done : .waiting)
        }
        readUpTo = max(readUpTo, end)
        isAtEnd = isLast
        advance()
    }

    /// Takes the outcome of a notification that was under way.
    ///
    /// - Parameter jitter: A random number from 0 to 1.
    mutating func finished(
        _ sequence: NotificationSequence, _ outcome: WebhookOutcome, jitter: Double
    ) -> Event {
        underWay -= 1
        switch outcome {
        case .delivered:
            settle(sequence)
            if delay == nil { failuresInPassing = 0 }
            // One that was under way when another failed shows nothing new.
            guard failures > 0, delay == nil else { return .none }
            failures = 0
            return .recovered
        case .refused:
            refusals[sequence, default: 0] += 1
            guard refusals[sequence, default: 0] < configuration.triesOfRefused else {
                settle(sequence)
                if failuresInPassing == nil { pause(retryAfter: nil, jitter) }
                return .skipped
            }
            return stumbles(sequence) ? .none : pause(retryAfter: nil, jitter)
        case .failed(let retryAfter):
            return retryAfter == nil && stumbles(sequence)
                ? .none : pause(retryAfter: retryAfter, jitter)
        // Nothing follows: the webhook is disabled, and its queue thrown away.
        case .gone: return .none
        }
    }

    /// Notes that the wait is over: the log is read again from the oldest that is
    /// not done.
    mutating func rested() {
        delay = nil
        doneAhead = Set(
            entries.filter { $0.state == .done }.map(\.item.notification.sequence)
        )
        entries = []
        readUpTo = delivered
        isAtEnd = false
    }

    /// Notes that the log may have more.
    mutating func woke() {
        isAtEnd = false
    }

    /// Takes a failure for one of this notification alone, which is tried again soon, and
    /// returns true; false where the receiver itself seems to fail.
    private mutating func stumbles(_ sequence: NotificationSequence) -> Bool {
        guard delay == nil, let count = failuresInPassing, count < configuration.window,
            let index = entries.firstIndex(where: { $0.item.notification.sequence == sequence }),
            entries[index].stumbles < configuration.quickTries
        else { return false }
        failuresInPassing = count + 1
        entries[index].stumbles += 1
        entries[index].state = .waiting
        return true
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

    private mutating func settle(_ sequence: NotificationSequence) {
        refusals[sequence] = nil
        guard let index = entries.firstIndex(where: { $0.item.notification.sequence == sequence })
        else { return }
        entries[index].state = .done
        advance()
    }

    /// Follows the oldest that is not done.
    private mutating func advance() {
        let settled = entries.prefix { $0.state == .done }
        if let last = settled.last { delivered = last.item.notification.sequence }
        entries.removeFirst(settled.count)
        if entries.isEmpty { delivered = max(delivered, readUpTo) }
        doneAhead = doneAhead.filter { $0 > delivered }
    }
}
