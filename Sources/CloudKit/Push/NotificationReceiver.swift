// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

/// Receives the pushes of one container on one device, over a stream that it opens again
/// whenever it is lost.
///
/// A push is handed over once in the life of the process, in the order of the server's
/// log; the next one comes when the app has returned from it. Its cursor is kept before
/// the next one is read, so that a lost connection loses no push (PUSH-13).
final class NotificationReceiver: Sendable {
    /// What the app does with a push.
    typealias PushAction = @Sendable (_ userInfo: [AnyHashable: Any]) async -> Void

    /// The silence after which a connection counts as lost: three of the server's
    /// heart-beats.
    static let silenceLimit = Duration.seconds(45)
    /// How often the silence is measured within its limit.
    static let silenceChecks = 3
    /// The most IDs of handled pushes that are remembered against repetition.
    static let maximumRememberedPushes = 1000
    /// The longest wait for the last acknowledgement when the app ends the registration.
    static let farewellTimeout = Duration.seconds(5)

    /// Whose pushes they are: each listener has a place of its own in the log.
    enum Listener: Sendable {
        /// The app, which is told every push once, whatever happens.
        case app
        /// Sync engines, for which pushes are hints. They acknowledge nothing: the server
        /// could forget what the app was not told yet.
        case syncEngine
    }

    private let container: ContainerConnection
    private let listener: Listener
    private let action: PushAction
    private let progress: Locked<Progress>

    /// Creates a receiver; fails when the device is not configured.
    init(
        _ container: ContainerConnection,
        for listener: Listener = .app,
        _ action: @escaping PushAction
    ) throws(CKError) {
        self.container = container
        self.listener = listener
        self.action = action
        let cursor = try NotificationCursor(of: container, for: listener)
        progress = Locked(Progress(cursor, of: container.accountPin))
    }

    /// Receives until the task is cancelled, or until trying again makes no sense.
    ///
    /// - Parameter ready: Called whenever the device is registered and the stream is live.
    /// - Returns: Why it ended; nil when it was cancelled.
    func run(ready: @escaping @Sendable () -> Void) async -> CKError? {
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let failure = await withTaskGroup(of: CKError??.self) { group in
            group.addTask {
                .some(await self.connectRepeatedly(signal: { signal.yield() }, ready: ready))
            }
            group.addTask {
                // One acknowledgement at a time; what comes meanwhile is in the next one.
                for await _ in signals { await self.acknowledge() }
                return .none
            }
            defer { group.cancelAll() }
            for await end in group { if let end { return end } }
            return nil
        }
        // Being cancelled must not keep the server from hearing how far the app came.
        await Task { await self.acknowledge(timeout: Self.farewellTimeout) }.value
        return failure
    }

    // MARK: - Connecting

    private func connectRepeatedly(
        signal: @escaping @Sendable () -> Void,
        ready: @escaping @Sendable () -> Void
    ) async -> CKError? {
        let schedule = Locked(ReconnectSchedule())
        let wasReady = Locked(false)
        while !Task.isCancelled {
            let end = await connect(
                signal: signal,
                works: { schedule.withLock { $0.reset() } },
                ready: {
                    wasReady.current = true
                    ready()
                    signal()
                }
            )
            guard !Task.isCancelled else { return nil }
            // Before the first success the app is waiting, and decides itself.
            guard wasReady.current, !end.code.endsRegistration else { return end }
            let delay = schedule.withLock { schedule in
                schedule.delay(
                    retryAfter: end.retryAfterSeconds,
                    jitter: Double.random(in: 0...1)
                )
            }
            do {
                try await container.session.clock.sleep(for: delay)
            } catch {
                return nil
            }
        }
        return nil
    }

    /// Connects once and receives until the connection ends; returns why it did.
    private func connect(
        signal: @escaping @Sendable () -> Void,
        works: @escaping @Sendable () -> Void,
        ready: @escaping @Sendable () -> Void
    ) async -> CKError {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                let activity = Locked(Activity())
                // Before the user is asked for: no change is missed.
                let changes = self.container.session.accounts.changes()
                let place = try self.turnToUser()
                group.addTask {
                    try await self.receive(
                        activity, in: place, signal: signal, works: works, ready: ready
                    )
                }
                group.addTask { try await self.waitForOtherUser(than: place, changes) }
                group.addTask { try await self.watch(activity) }
                defer { group.cancelAll() }
                try await group.next()
            }
            return .transport(
                TransportError.connectionLost("the server ended the stream"),
                container: container.identifier
            )
        } catch {
            return .transport(error, container: container.identifier)
        }
    }

    /// Begins anew at another user's place in their log, when another one is signed in
    /// (SUB-51).
    private func turnToUser() throws(CKError) -> ContainerConnection.Place {
        let place = try container.place()
        let pin = AccountPin(account: place.account)
        guard progress.withLock({ $0.account }) != pin else { return place }
        let cursor = try NotificationCursor(of: container, for: listener)
        progress.current = Progress(cursor, of: pin)
        return place
    }

    /// Ends the connection when its user is signed in no more.
    private func waitForOtherUser(
        than place: ContainerConnection.Place,
        _ changes: AsyncStream<Void>
    ) async throws {
        for await _ in changes {
            let now = container.session.accounts.account(of: place.container)
            guard now == place.account else {
                throw TransportError.connectionLost("another user signed in")
            }
        }
        try Task.checkCancellation()
    }

    private func receive(
        _ activity: Locked<Activity>,
        in place: ContainerConnection.Place,
        signal: @Sendable () -> Void,
        works: @Sendable () -> Void,
        ready: @Sendable () -> Void
    ) async throws {
        let sentCursor = progress.withLock { $0.cursor }
        let parameters = sentCursor.map { [(WireProtocol.cursor, $0)] } ?? []
        let request = TransportRequest(
            method: "GET",
            path: try container.path(
                of: StreamNotifications.self, parameters: parameters, in: place
            ),
            headers: RequestOptions().headers(hasBody: false)
                + [("Accept", ServerSentEvent.contentType)]
        )
        let transport = container.session.transport(to: place.configuration)
        let stream = try await transport.stream(request)
        let response = TransportResponse(
            status: stream.status,
            headers: stream.headers,
            body: stream.body
        )
        guard stream.status == 200 else {
            let report = CKError.ServerReport(response, container: container.identifier)
            throw CKError.server(response, report: report).ofAccount
        }
        try container.take(response, in: place)
        var parser = ServerSentEventParser()
        var isReady = false
        for try await chunk in stream.chunks {
            activity.withLock { $0.chunks += 1 }
            let events = try parser.consume(chunk)
            // One that ends with its first words, each time, is tried ever more seldom.
            if isReady { works() }
            for event in events {
                if event.name == StreamNotifications.readyEvent {
                    isReady = true
                    begin(at: event.id, after: sentCursor)
                    ready()
                } else if event.name == nil || event.name == StreamNotifications.gapEvent {
                    activity.withLock { $0.isHandling = true }
                    await handle(event.name == nil ? event : substitute(for: event))
                    activity.withLock { $0.isHandling = false }
                    works()
                    signal()
                }
                try Task.checkCancellation()
            }
        }
    }

    /// Ends the connection when it is silent: whoever pulled the plug did not say so.
    private func watch(_ activity: Locked<Activity>) async throws {
        var silentChecks = 0
        var chunks = 0
        while silentChecks < Self.silenceChecks {
            try await container.session.clock.sleep(
                for: Self.silenceLimit / Self.silenceChecks
            )
            let now = activity.current
            // While the app handles a push nobody reads, so nothing can be heard.
            if now.isHandling || now.chunks != chunks {
                silentChecks = 0
                chunks = now.chunks
            } else {
                silentChecks += 1
            }
        }
        throw TransportError.connectionLost(
            "nothing came for \(Int(Self.silenceLimit.seconds)) seconds"
        )
    }

    // MARK: - Pushes

    /// Takes note of where the stream begins.
    private func begin(at start: String?, after sentCursor: String?) {
        guard let start, start != sentCursor else { return }
        progress.withLock { progress in
            progress.cursor = start
            progress.acknowledged = start
            // The server does not know the cursor: its log is another one, whose IDs say
            // nothing about pushes of the old one.
            if sentCursor != nil { progress.handled.removeAll() }
        }
        save(start)
    }

    private func save(_ id: String) {
        progress.withLock { $0.place }.save(id)
    }

    /// Returns the push that stands for those the server's log no longer has: it says
    /// of no subscription that there may be news, and that it does not say everything.
    /// Apps fetch on such a push, as they do on one of a database.
    private func substitute(for gap: ServerSentEvent) -> ServerSentEvent {
        var payload = WirePushPayload(kind: .database, scope: .private)
        payload.isContentAvailable = true
        payload.containerIdentifier = container.identifier
        payload.notificationID = UUID.random().uuidString.lowercased()
        payload.isPruned = true
        return ServerSentEvent(id: gap.id, data: String(decoding: payload.encoded(), as: UTF8.self))
    }

    private func handle(_ event: ServerSentEvent) async {
        if let id = event.id {
            let isKnown = progress.withLock { $0.handled.contains(id) }
            guard !isKnown else { return }
        }
        // What is no payload cannot be handed over, now or later; the pushes behind it can.
        if let userInfo = Self.userInfo(event.data) { await action(userInfo) }
        guard let id = event.id else { return }
        progress.withLock { progress in
            progress.cursor = id
            progress.handled.remember(id, atMost: Self.maximumRememberedPushes)
        }
        save(id)
    }

    /// Returns a payload as the plain Foundation values that Apple's systems hand over.
    static func userInfo(_ payload: String) -> [AnyHashable: Any]? {
        let data = Data(payload.utf8)
        // Why it is no JSON does not help the app.
        guard let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            return nil
        }
        return Dictionary(uniqueKeysWithValues: object.map { (AnyHashable($0.key), $0.value) })
    }

    /// Tells the server how far the app came, unless it knows. When that fails, the next
    /// time will tell as well.
    private func acknowledge(timeout: Duration = RequestOptions.defaultTimeout) async {
        guard listener == .app else { return }
        let progress = progress.current
        guard let cursor = progress.cursor, cursor != progress.acknowledged,
            let place = try? container.place(),
            progress.account == AccountPin(account: place.account),
            let path = try? container.path(of: AcknowledgeNotifications.self, in: place)
        else { return }
        let request = TransportRequest(
            method: "POST",
            path: path,
            headers: RequestOptions().headers(hasBody: true),
            body: JSONWriter.write {
                AcknowledgeNotifications.Request(cursor: cursor).write(to: &$0)
            }
        )
        let transport = container.session.transport(to: place.configuration)
        let response = try? await transport.send(request, timeout: timeout)
        guard response?.status == 200 else { return }
        self.progress.withLock { now in
            if now.account == progress.account { now.acknowledged = cursor }
        }
    }
}

extension NotificationReceiver {
    /// How far the device came.
    private struct Progress {
        /// Whose log it is.
        let account: AccountPin
        /// Where it is kept beyond the process.
        let place: NotificationCursor
        /// The last push that was handled, or where the first stream began.
        var cursor: String?
        /// The last one the server was told of.
        var acknowledged: String?
        /// The pushes that were handled in this process, as far back as remembered.
        var handled = RecentIDs()

        init(_ place: NotificationCursor, of account: AccountPin) {
            self.account = account
            self.place = place
            cursor = place.load()
        }
    }

    /// What happens on a connection.
    private struct Activity {
        /// The number of chunks that came.
        var chunks = 0
        /// Whether the app is handling a push.
        var isHandling = false
    }
}

/// A bounded memory of IDs, which forgets the oldest.
struct RecentIDs: Sendable {
    private var order: [String] = []
    private var oldest = 0
    private var ids: Set<String> = []

    /// Tells whether an ID is remembered.
    func contains(_ id: String) -> Bool { ids.contains(id) }

    /// Remembers an ID, and forgets the oldest beyond `limit`.
    mutating func remember(_ id: String, atMost limit: Int) {
        guard ids.insert(id).inserted else { return }
        if order.count < limit {
            order.append(id)
        } else {
            ids.remove(order[oldest])
            order[oldest] = id
            oldest = (oldest + 1) % limit
        }
    }

    /// Forgets everything.
    mutating func removeAll() {
        self = RecentIDs()
    }
}

extension CKError.Code {
    /// Whether the server will refuse the device again, however often it tries.
    fileprivate var endsRegistration: Bool {
        self == .notAuthenticated || self == .permissionFailure || self == .badContainer
            || self == .accountTemporarilyUnavailable
    }
}
