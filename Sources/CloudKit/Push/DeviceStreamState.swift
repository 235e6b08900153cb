// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// What a device knows of its stream of pushes, and what it makes of what happens: what an
/// event is for, when a silence was too long, when to connect again, what to acknowledge.
///
/// A value without clock, chance and I/O: ``NotificationReceiver`` does what it returns.
struct DeviceStreamState: Sendable {
    /// The silence after which a connection counts as lost: three of the server's
    /// heart-beats.
    static let silenceLimit = Duration.seconds(45)
    /// How often the silence is measured within its limit.
    static let silenceChecks = 3
    /// The most IDs of handled pushes that are remembered against repetition.
    static let maximumRememberedPushes = 1000

    /// What to do to connect.
    enum Opening: Equatable {
        /// Open the stream behind a push; nil leaves it to the server where it begins.
        case open(after: String?)
        /// Load the cursor of the user, who is not the previous one, and begin with it.
        case loadCursor
    }

    /// What to do about an event.
    enum Reaction: Equatable {
        /// Nothing.
        case none
        /// Report that the device is registered and the stream live; keep a cursor, if any.
        case begin(keeping: String?)
        /// Hand a payload to the app, and acknowledge it afterwards.
        case handOver(String, id: String?)
        /// Acknowledge, since the push was handled before.
        case acknowledge
    }

    /// What to do after a connection.
    enum Ending: Equatable {
        /// End the registration.
        case giveUp
        /// Connect again.
        case reconnect(after: Duration)
    }

    private let container: String
    private let acknowledges: Bool
    private var schedule = ReconnectSchedule()
    private var wasReady = false
    private var connection = Connection()

    /// Whose log it is.
    private var account: AccountPin
    /// The last push that was handled, or where the first stream began.
    private var cursor: String?
    /// The last one that was acknowledged to the server.
    private var acknowledged: String?
    /// The pushes that were handled in this process, as far back as remembered.
    private var handledIDs = RecentIDs()

    /// What happens on a connection.
    private struct Connection {
        var parser = ServerSentEventParser()
        /// Where the device asked the stream to begin.
        var sentCursor: String?
        var isReady = false
        /// Whether the app is handling a push.
        var isHandling = false
        /// Whether anything came since the last look.
        var hasReceived = false
        var silentChecks = 0
    }

    /// Begins with a user's log.
    ///
    /// - Parameters:
    ///   - container: The container's identifier, for pushes that the device makes.
    ///   - acknowledges: Whether the server learns how far the device came.
    ///   - cursor: The last push that was handled; nil on a device that never had one.
    init(of container: String, acknowledges: Bool, as account: AccountPin, at cursor: String?) {
        self.container = container
        self.acknowledges = acknowledges
        self.account = account
        self.cursor = cursor
    }

    // MARK: - Connections

    /// Begins a connection for whoever is signed in.
    mutating func connect(as account: AccountPin) -> Opening {
        guard account == self.account else { return .loadCursor }
        connection = Connection(sentCursor: cursor)
        return .open(after: cursor)
    }

    /// Begins a connection with the log of another user (SUB-51).
    mutating func connect(as account: AccountPin, at cursor: String?) {
        self.account = account
        self.cursor = cursor
        acknowledged = nil
        handledIDs.removeAll()
        connection = Connection(sentCursor: cursor)
    }

    /// Takes bytes of the stream, and returns the events they complete.
    mutating func receive(_ chunk: [UInt8]) throws(ServerSentEventError) -> [ServerSentEvent] {
        connection.hasReceived = true
        let events = try connection.parser.consume(chunk)
        // One that ends with its first words, each time, is tried ever more seldom.
        if connection.isReady { schedule.reset() }
        return events
    }

    /// Looks whether the connection has been silent for too long: whoever pulled the plug
    /// did not close it. To be asked ``silenceChecks`` times in ``silenceLimit``.
    mutating func isLost() -> Bool {
        // While the app handles a push nobody reads, so nothing can be received.
        let isSilent = !connection.isHandling && !connection.hasReceived
        connection.silentChecks = isSilent ? connection.silentChecks + 1 : 0
        connection.hasReceived = false
        return connection.silentChecks >= Self.silenceChecks
    }

    /// Ends a connection.
    ///
    /// - Parameter jitter: A random number from 0 to 1, which scatters the wait.
    mutating func end(_ error: CKError, jitter: Double) -> Ending {
        // Before the first success the app is waiting, and decides itself.
        guard wasReady, !error.code.endsRegistration else { return .giveUp }
        return .reconnect(
            after: schedule.delay(retryAfter: error.retryAfterSeconds, jitter: jitter)
        )
    }

    // MARK: - Pushes

    /// Takes an event.
    ///
    /// - Parameter newID: The ID of a push that the device makes itself.
    mutating func take(_ event: ServerSentEvent, newID: @autoclosure () -> UUID) -> Reaction {
        switch event.name {
        case StreamNotifications.readyEvent: begin(at: event.id)
        case StreamNotifications.gapEvent: handOver(gapPayload(newID()), id: event.id)
        case nil: handOver(event.data, id: event.id)
        default: .none
        }
    }

    /// Notes that the app has returned from a push; returns the cursor to keep.
    mutating func handled(_ id: String?) -> String? {
        connection.isHandling = false
        schedule.reset()
        guard let id else { return nil }
        cursor = id
        handledIDs.remember(id, atMost: Self.maximumRememberedPushes)
        return id
    }

    private mutating func begin(at start: String?) -> Reaction {
        connection.isReady = true
        wasReady = true
        guard let start, start != connection.sentCursor else { return .begin(keeping: nil) }
        cursor = start
        acknowledged = start
        // The server does not know the cursor: its log is another one, whose IDs mean
        // nothing for pushes of the old one.
        if connection.sentCursor != nil { handledIDs.removeAll() }
        return .begin(keeping: start)
    }

    private mutating func handOver(_ payload: String, id: String?) -> Reaction {
        if let id, handledIDs.contains(id) {
            schedule.reset()
            return .acknowledge
        }
        connection.isHandling = true
        return .handOver(payload, id: id)
    }

    /// The payload of the push that stands for those the server's log no longer has: it
    /// names no subscription, states that there may be news, and that it is not complete.
    /// Apps fetch on such a push, as they do on one of a database.
    private func gapPayload(_ id: UUID) -> String {
        var payload = WirePushPayload(kind: .database, scope: .private)
        payload.isContentAvailable = true
        payload.containerIdentifier = container
        payload.notificationID = id.uuidString.lowercased()
        payload.isPruned = true
        return String(decoding: payload.encoded(), as: UTF8.self)
    }

    // MARK: - Acknowledging

    /// How far the app came, to be reported to the server; nil when it knows, or when the
    /// user is another one.
    func cursorToAcknowledge(as account: AccountPin) -> String? {
        guard acknowledges, account == self.account, cursor != acknowledged else { return nil }
        return cursor
    }

    /// Notes that the server knows how far the app came.
    mutating func wasAcknowledged(_ cursor: String, as account: AccountPin) {
        if account == self.account { acknowledged = cursor }
    }
}

extension CKError.Code {
    /// Whether the server will refuse the device again, however often it tries.
    fileprivate var endsRegistration: Bool {
        self == .notAuthenticated || self == .permissionFailure || self == .badContainer
            || self == .accountTemporarilyUnavailable
    }
}
