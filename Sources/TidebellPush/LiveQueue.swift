// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore

/// A published notification, one object for all devices that are told.
final class LiveNotification: Sendable {
    /// What notifications replace one another (PUSH-2), within one user.
    struct Place: Hashable {
        var database: DatabaseID
        var subscriptionID: String
        var originClient: String?
        var collapseID: CollapseID
    }

    let event: StreamEvent
    let place: Place?
    let isBackground: Bool

    init(_ notification: StoredNotification) {
        event = StreamEvent(notification)
        isBackground = notification.isBackground
        place = notification.collapseID.map { collapseID in
            Place(
                database: notification.database,
                subscriptionID: notification.subscriptionID,
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
        case event(StreamEvent)
        /// The queue was full and let everything go: the log has it.
        case overflowed
        /// Nothing to tell, but a sign of life is due.
        case silence
        /// The device may hear no more.
        case ended
    }

    private struct State {
        var waiting: [LiveNotification] = []
        var hasOverflowed = false
        var needsSignOfLife = false
        var hasEnded = false
    }

    /// The device's own client ID: what it caused is not for it.
    let clientID: String
    private let limit: Int
    private let metrics: PushMetrics
    private let state = Mutex(State())
    private let bell = WakeSignal()

    init(clientID: String, limit: Int, metrics: PushMetrics) {
        self.clientID = clientID
        self.limit = limit
        self.metrics = metrics
    }

    /// Adds a notification, in place of one it replaces.
    func append(_ notification: LiveNotification) {
        let overflows = state.withLock { state in
            // The stream reads the log from its cursor; that finds this one too.
            guard !state.hasOverflowed, !state.hasEnded else { return false }
            if let place = notification.place, !state.waiting.isEmpty {
                state.waiting.removeAll { $0.place == place }
            }
            guard state.waiting.count < limit else {
                state.waiting = []
                state.hasOverflowed = true
                return true
            }
            state.waiting.append(notification)
            return false
        }
        if overflows { metrics.streamOverflows.increment() }
        bell.raise()
    }

    /// Ends the stream: nothing that waits is given out.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            state.waiting = []
        }
        bell.raise()
    }

    /// Whether the device may hear no more.
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// Asks for a sign of life on the connection.
    func beat() {
        state.withLock { $0.needsSignOfLife = true }
        bell.raise()
    }

    /// Returns what comes next; nil when the task is cancelled, having taken
    /// nothing.
    ///
    /// `delay` is waited for before a background push is taken, so that a newer
    /// one can still take its place.
    func next(after delay: () async -> Void) async -> Next? {
        while true {
            if state.withLock({ $0.waiting.first?.isBackground == true }) {
                await delay()
                guard !Task.isCancelled else { return nil }
            }
            if let next = take() { return next }
            guard await bell.wait() else { return nil }
        }
    }

    private func take() -> Next? {
        state.withLock { state in
            if state.hasEnded { return .ended }
            if state.hasOverflowed {
                state.hasOverflowed = false
                return .overflowed
            }
            guard state.waiting.isEmpty else {
                // An event is a sign of life itself.
                state.needsSignOfLife = false
                return .event(state.waiting.removeFirst().event)
            }
            guard state.needsSignOfLife else { return nil }
            state.needsSignOfLife = false
            return .silence
        }
    }
}
