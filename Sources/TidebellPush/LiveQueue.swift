// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
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
        /// Nothing yet: whoever follows the queue is called when there is something.
        case nothing
        /// A background push is first, which is waited with so that a newer one can replace it.
        case background
        /// What was published, in the order of the log, at least one.
        case events([StreamEvent])
        /// The queue let everything go, or one is missing in it: the log has it.
        case overflowed
        /// Nothing to send, but a sign of life is due.
        case silence
        /// The device may receive no more.
        case ended
    }

    fileprivate struct State {
        var waiting: [LiveNotification] = []
        /// The log up to here was read, or came; nil before the first read.
        var known: NotificationSequence?
        /// Whether the stream has to read the log: too many waited, or one is missing.
        var hasOverflowed = false
        var needsSignOfLife = false
        var hasEnded = false
        /// Called when there is something to send, once for each time that nothing was.
        var follower: (@Sendable () -> Void)?
        /// Whether it found nothing, and was not called since.
        var isAwaited = false

        /// Returns the follower if it has to be called.
        mutating func takeFollower() -> (@Sendable () -> Void)? {
            let hasSomething = hasEnded || hasOverflowed || !waiting.isEmpty || needsSignOfLife
            guard isAwaited, hasSomething else { return nil }
            isAwaited = false
            return follower
        }
    }

    /// The device's own client ID: what it caused is not for it.
    let clientID: String
    private let limit: Int
    private let metrics: PushMetrics
    private let state = Mutex(State())

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
        let (overflows, follower) = state.withLock { state in
            (
                state.append(notification, after: end, for: clientID, atMost: limit),
                state.takeFollower()
            )
        }
        if overflows { metrics.streamOverflows.increment() }
        follower?()
    }

    /// Has the stream read the log, which may have more than came here: another process has appended to it.
    func lookAgain() {
        change { state in
            guard !state.hasEnded else { return }
            state.waiting = []
            state.hasOverflowed = true
        }
    }

    /// Notes that the log was read up to a position.
    func read(upTo position: NotificationSequence) {
        state.withLock { $0.known = max($0.known ?? position, position) }
    }

    /// Ends the stream: nothing that waits is given out.
    func end() {
        change { state in
            state.hasEnded = true
            state.waiting = []
        }
    }

    /// Whether the device may receive no more.
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// Asks for a sign of life on the connection.
    func beat() { change { $0.needsSignOfLife = true } }

    private func change(_ body: (inout State) -> Void) {
        let follower = state.withLock { state in
            body(&state)
            return state.takeFollower()
        }
        follower?()
    }

    /// Has `follower` called when there is something to send after ``take(upTo:delaysBackground:)``
    /// found nothing; instead of one before.
    func follow(_ follower: @escaping @Sendable () -> Void) {
        state.withLock { $0.follower = follower }
    }

    /// Takes what comes next.
    ///
    /// - Parameters:
    ///   - bytes: Once the frames have as many, no further event is taken.
    ///   - delaysBackground: Whether background pushes are waited with: one that is first is not taken
    ///     yet, and those that follow another have a delay of their own.
    func take(upTo bytes: Int, delaysBackground: Bool) -> Next {
        state.withLock { state in
            if state.hasEnded { return .ended }
            if state.hasOverflowed {
                state.hasOverflowed = false
                return .overflowed
            }
            guard let first = state.waiting.first else {
                guard state.needsSignOfLife else {
                    state.isAwaited = true
                    return .nothing
                }
                state.needsSignOfLife = false
                return .silence
            }
            if delaysBackground, first.isBackground { return .background }
            // An event is a sign of life itself.
            state.needsSignOfLife = false
            var events: [StreamEvent] = []
            var taken = 0
            for notification in state.waiting {
                if delaysBackground, notification.isBackground { break }
                events.append(notification.event)
                taken += notification.event.wholeFrame.bytes.count
                if taken >= bytes { break }
            }
            state.waiting.removeFirst(events.count)
            return .events(events)
        }
    }
}

extension LiveQueue.State {
    /// Adds a notification; returns whether there was no room for it.
    fileprivate mutating func append(
        _ notification: LiveNotification, after end: NotificationSequence, for clientID: String,
        atMost limit: Int
    ) -> Bool {
        let sequence = notification.event.sequence
        // One after it came before it, and had the log read.
        if let known, sequence <= known { return false }
        let isNext = known.map { end <= $0 } ?? false
        if known != nil { known = sequence }
        // The stream reads the log from its cursor; that finds this one too.
        guard !hasOverflowed, !hasEnded else { return false }
        guard isNext else {
            waiting = []
            hasOverflowed = true
            return false
        }
        guard notification.originClient != clientID else { return false }
        if let replacementKey = notification.replacementKey, !waiting.isEmpty {
            waiting.removeAll { $0.replacementKey == replacementKey }
        }
        guard waiting.count < limit else {
            waiting = []
            hasOverflowed = true
            return true
        }
        invariant(
            waiting.last.map { $0.event.sequence < sequence } ?? true,
            "what waits for a stream stands in the order of the log"
        )
        waiting.append(notification)
        return false
    }
}
