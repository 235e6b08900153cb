// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellScheduling
import TidebellWire
import Metrics

/// A published notification, one object for all devices that receive it.
final class LiveNotification: Sendable {
    /// What notifications replace one another (PUSH-2), within one user.
    struct ReplacementKey: Hashable {
        var database: DatabaseID
        var subscriptionID: ExactText
        var originClient: String?
        var collapseID: CollapseID
    }

    let event: StreamEvent
    let originClient: String?
    let replacementKey: ReplacementKey?
    let isBackground: Bool

    init(_ notification: StoredNotification) {
        event = StreamEvent(notification)
        originClient = notification.originClient
        isBackground = notification.isBackground
        replacementKey = notification.collapseID.map { collapseID in
            ReplacementKey(
                database: notification.database,
                subscriptionID: ExactText(notification.subscriptionID),
                originClient: notification.originClient,
                collapseID: collapseID
            )
        }
    }
}

/// What was published for one stream and not yet taken; bounded.
final class LiveQueue: Sendable {
    /// What the stream does next.
    enum Next {
        /// What was published, in the order of the log, at least one.
        case events([StreamEvent])
        /// The queue let everything go, or one is missing in it: the log has it.
        case overflowed
        /// Nothing to send, but a sign of life is due.
        case silence
        /// The device may receive no more.
        case ended
    }

    private struct State {
        var waiting: [LiveNotification] = []
        /// The log up to here was read, or came; nil before the first read.
        var known: NotificationSequence?
        /// Whether the stream has to read the log: too many waited, or one is missing.
        var hasOverflowed = false
        var needsSignOfLife = false
        var hasEnded = false
    }

    /// The device's own client ID: what it caused is not for it.
    let clientID: String
    private let limit: Int
    private let metrics: PushMetrics
    private let state = Mutex(State())
    private let wake = WakeSignal()

    init(clientID: String, limit: Int, metrics: PushMetrics) {
        self.clientID = clientID
        self.limit = limit
        self.metrics = metrics
    }

    /// Adds a notification, instead of one it replaces; one that the device caused is only
    /// known from then on.
    ///
    /// - Parameter end: Where its user's log ended before it. Where one between that and what
    ///   is known has not come, because another pipeline has yet to publish it, the stream
    ///   reads the log.
    func append(_ notification: LiveNotification, after end: NotificationSequence) {
        let overflows = state.withLock { state in
            let sequence = notification.event.sequence
            // One after it came before it, and had the log read.
            if let known = state.known, sequence <= known { return false }
            let isNext = state.known.map { end <= $0 } ?? false
            if state.known != nil { state.known = sequence }
            // The stream reads the log from its cursor; that finds this one too.
            guard !state.hasOverflowed, !state.hasEnded else { return false }
            guard isNext else {
                state.waiting = []
                state.hasOverflowed = true
                return false
            }
            guard notification.originClient != clientID else { return false }
            if let replacementKey = notification.replacementKey, !state.waiting.isEmpty {
                state.waiting.removeAll { $0.replacementKey == replacementKey }
            }
            guard state.waiting.count < limit else {
                state.waiting = []
                state.hasOverflowed = true
                return true
            }
            invariant(
                state.waiting.last.map { $0.event.sequence < sequence } ?? true,
                "what waits for a stream stands in the order of the log"
            )
            state.waiting.append(notification)
            return false
        }
        if overflows { metrics.streamOverflows.increment() }
        wake.raise()
    }

    /// Notes that the log was read up to a position.
    func read(upTo position: NotificationSequence) {
        state.withLock { $0.known = max($0.known ?? position, position) }
    }

    /// Ends the stream: nothing that waits is given out.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            state.waiting = []
        }
        wake.raise()
    }

    /// Whether the device may receive no more.
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// Asks for a sign of life on the connection.
    func beat() {
        state.withLock { $0.needsSignOfLife = true }
        wake.raise()
    }

    /// Returns what comes next; nil when the task is cancelled, having taken
    /// nothing.
    ///
    /// `delay` is waited for before a background push is taken, so that a newer
    /// one can still replace it; those that follow it are taken with it, those that follow another
    /// have a delay of their own.
    ///
    /// - Parameter bytes: Once the frames have as many, no further event is taken.
    func next(upTo bytes: Int, after delay: () async -> Void) async -> Next? {
        while true {
            let isBackground = state.withLock { $0.waiting.first?.isBackground == true }
            if isBackground {
                await delay()
                guard !Task.isCancelled else { return nil }
            }
            if let next = take(upTo: bytes, withBackground: isBackground) { return next }
            guard await wake.wait() else { return nil }
        }
    }

    private func take(upTo bytes: Int, withBackground: Bool) -> Next? {
        state.withLock { state in
            if state.hasEnded { return .ended }
            if state.hasOverflowed {
                state.hasOverflowed = false
                return .overflowed
            }
            guard state.waiting.isEmpty else {
                // An event is a sign of life itself.
                state.needsSignOfLife = false
                var events: [StreamEvent] = []
                var taken = 0
                for notification in state.waiting {
                    if notification.isBackground, !withBackground, !events.isEmpty { break }
                    events.append(notification.event)
                    taken += notification.event.wholeFrame.bytes.count
                    if taken >= bytes { break }
                }
                state.waiting.removeFirst(events.count)
                return .events(events)
            }
            guard state.needsSignOfLife else { return nil }
            state.needsSignOfLife = false
            return .silence
        }
    }
}
