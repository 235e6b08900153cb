// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// Receives the pushes of one container on one device, over a stream that it opens again
/// whenever it is lost.
///
/// A push is handed over once in the life of the process, in the order of the server's
/// log; the next one comes when the app has returned from it. Its cursor is kept before
/// the next one is read, so that a lost connection loses no push (PUSH-13).
/// ``DeviceStreamState`` decides, this does.
final class NotificationReceiver: Sendable {
    /// What the app does with a push.
    typealias PushAction = @Sendable (_ userInfo: [AnyHashable: Any]) async -> Void

    /// The longest wait for the last acknowledgement when the app ends the registration.
    static let farewellTimeout = Duration.seconds(5)

    /// Whose pushes they are: each listener has a cursor of its own.
    enum Listener: Sendable {
        /// The app, which receives every push once, whatever happens.
        case app
        /// Sync engines, for which pushes are hints. They acknowledge nothing: the server
        /// could forget what the app has not received yet.
        case syncEngine
    }

    private let container: ContainerConnection
    private let listener: Listener
    private let action: PushAction
    private let state: Locked<State>

    private struct State {
        var stream: DeviceStreamState
        /// Where the user's cursor is kept.
        var cursor: NotificationCursor
    }

    /// Creates a receiver; fails when the device is not configured.
    init(
        _ container: ContainerConnection,
        for listener: Listener = .app,
        _ action: @escaping PushAction
    ) throws(CKError) {
        self.container = container
        self.listener = listener
        self.action = action
        let address = try container.address()
        let cursor = NotificationCursor(of: listener, at: address, on: container.session)
        let stream = DeviceStreamState(
            of: address.container,
            acknowledges: listener == .app,
            as: AccountPin(account: address.account),
            at: cursor.load()
        )
        state = Locked(State(stream: stream, cursor: cursor))
    }

    /// Receives until the task is cancelled, or until trying again makes no sense.
    ///
    /// - Parameter ready: Called whenever the device is registered and the stream is live.
    /// - Returns: Why it ended; nil when it was cancelled.
    func run(ready: @escaping @Sendable () -> Void) async -> CKError? {
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let failure = await withTaskGroup(of: CKError??.self) { group in
            group.addTask {
                .some(await self.connectRepeatedly(ready: ready) { signal.yield() })
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
        // Being cancelled must not keep the server from learning how far the app came.
        await Task { await self.acknowledge(timeout: Self.farewellTimeout) }.value
        return failure
    }

    // MARK: - Connecting

    private func connectRepeatedly(
        ready: @escaping @Sendable () -> Void,
        signal: @escaping @Sendable () -> Void
    ) async -> CKError? {
        while !Task.isCancelled {
            let error = await connect(ready: ready, signal: signal)
            guard !Task.isCancelled else { return nil }
            let jitter = container.session.jitter()
            switch state.withLock({ $0.stream.end(error, jitter: jitter) }) {
            case .giveUp: return error
            case .reconnect(let delay):
                do {
                    // Without an address the next attempt fails, and says why.
                    let name = (try? container.address().container) ?? ""
                    try await container.session.clock.sleep(for: delay, beforeConnectingTo: name)
                } catch {
                    return nil
                }
            }
        }
        return nil
    }

    /// Connects once and receives until the connection ends; returns why it did.
    private func connect(
        ready: @escaping @Sendable () -> Void,
        signal: @escaping @Sendable () -> Void
    ) async -> CKError {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                // Before the user is asked for: no change is missed.
                let changes = self.container.session.accounts.changes()
                let address = try self.container.address()
                let cursor = self.beginConnection(at: address)
                group.addTask {
                    try await self.receive(after: cursor, at: address, ready: ready, signal: signal)
                }
                group.addTask { try await self.waitForOtherUser(than: address, changes) }
                group.addTask { try await self.waitForSilence() }
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

    /// Begins a connection for the user who is signed in; returns their cursor.
    private func beginConnection(at address: ContainerConnection.Address) -> String? {
        let account = AccountPin(account: address.account)
        switch state.withLock({ $0.stream.connect(as: account) }) {
        case .open(let cursor): return cursor
        case .loadCursor:
            let file = NotificationCursor(of: listener, at: address, on: container.session)
            let cursor = file.load()
            state.withLock { state in
                state.cursor = file
                state.stream.connect(as: account, at: cursor)
            }
            return cursor
        }
    }

    /// Ends the connection when its user is signed in no more.
    private func waitForOtherUser(
        than address: ContainerConnection.Address,
        _ changes: AsyncStream<Void>
    ) async throws {
        for await _ in changes {
            let now = container.session.accounts.account(of: address.container)
            guard now == address.account else {
                throw TransportError.connectionLost("another user signed in")
            }
        }
        try Task.checkCancellation()
    }

    /// Ends the connection when it is silent.
    private func waitForSilence() async throws {
        let limit = DeviceStreamState.silenceLimit
        repeat {
            try await container.session.clock.sleep(for: limit / DeviceStreamState.silenceChecks)
        } while !state.withLock { $0.stream.isLost() }
        throw TransportError.connectionLost("nothing came for \(Int(limit.seconds)) seconds")
    }

    // MARK: - Receiving

    private func receive(
        after cursor: String?,
        at address: ContainerConnection.Address,
        ready: @Sendable () -> Void,
        signal: @Sendable () -> Void
    ) async throws {
        let stream = try await open(after: cursor, at: address)
        for try await chunk in stream.chunks {
            for event in try state.withLock({ try $0.stream.receive(chunk) }) {
                switch state.withLock({ $0.stream.take(event, newID: NewIdentifier.uuid()) }) {
                case .none: break
                case .begin(let cursor):
                    keep(cursor)
                    ready()
                    signal()
                case .handOver(let payload, let id):
                    // What is no payload cannot be handed over, now or later; the pushes
                    // behind it can.
                    if let userInfo = Self.userInfo(payload) { await action(userInfo) }
                    keep(state.withLock { $0.stream.handled(id) })
                    signal()
                case .acknowledge: signal()
                }
                try Task.checkCancellation()
            }
        }
    }

    private func open(
        after cursor: String?, at address: ContainerConnection.Address
    ) async throws -> TransportStream {
        let request = TransportRequest(
            method: StreamNotifications.route.method.rawValue,
            path: try container.path(
                of: StreamNotifications.self,
                parameters: [(WireProtocol.payload, WireProtocol.payloadOfAPNs)]
                    + (cursor.map { [(WireProtocol.cursor, $0)] } ?? []),
                at: address
            ),
            headers: RequestOptions().headers(hasBody: false)
                + [("Accept", ServerSentEvent.contentType)]
        )
        let stream = try await container.session.transport(to: address.configuration)
            .stream(request)
        let response = TransportResponse(
            status: stream.status,
            headers: stream.headers,
            body: stream.body
        )
        guard stream.status == 200 else {
            let report = CKError.ServerReport(response, container: container.identifier)
            throw CKError.server(response, report: report).ofAccount
        }
        try container.take(response, at: address)
        return stream
    }

    private func keep(_ cursor: String?) {
        guard let cursor else { return }
        state.withLock { $0.cursor }.save(cursor)
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

    /// Reports to the server how far the app came, unless it knows. When that fails, the
    /// next report covers it as well.
    private func acknowledge(timeout: Duration = RequestOptions.defaultTimeout) async {
        guard let address = try? container.address() else { return }
        let account = AccountPin(account: address.account)
        guard let cursor = state.withLock({ $0.stream.cursorToAcknowledge(as: account) }),
            let path = try? container.path(of: AcknowledgeNotifications.self, at: address)
        else { return }
        let request = TransportRequest(
            method: AcknowledgeNotifications.route.method.rawValue,
            path: path,
            headers: RequestOptions().headers(hasBody: true),
            body: JSONWriter.write {
                AcknowledgeNotifications.Request(cursor: cursor).write(to: &$0)
            }
        )
        let transport = container.session.transport(to: address.configuration)
        let response = try? await transport.send(request, timeout: timeout)
        guard response?.status == 200 else { return }
        state.withLock { $0.stream.wasAcknowledged(cursor, as: account) }
    }
}
