// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

@Suite(.hangs) struct RemoteNotificationTests {
    static let payload = """
        {"aps":{"content-available":1},"ck":{"ce":2,"cid":"iCloud.notes","nid":"n-1",\
        "met":{"sid":"s","dbs":1,"zid":"Notes","zoid":"_me"}}}
        """

    static func push(_ cursor: String, _ payload: String = payload) -> String {
        "id: \(cursor)\ndata: \(payload)\n\n"
    }

    static func ready(_ cursor: String) -> String {
        "event: ready\nid: \(cursor)\ndata: {}\n\n"
    }

    @Test("PUSH-13: registering returns when the server is ready; pushes come as plain values")
    func registeringAndReceiving() async throws {
        let server = StreamServer()
        let clock = ManualClock()
        let device = TestDevice(server.transport(), clock: clock)
        let pushes = PushLog()
        async let registering = device.container.registerForRemoteNotifications { userInfo in
            await pushes.add(userInfo)
        }
        let connection = await server.nextConnection()
        #expect(connection.request.method == "GET")
        #expect(
            connection.request.path
                == "/ext/1/iCloud.notes/development/notifications/stream"
        )
        #expect(
            connection.request.query == [
                "ckAPIToken": "api-token", "ckWebAuthToken": "web+token/1=",
                "clientId": "device-1", "payload": "apns",
            ]
        )
        connection.send(Self.ready("10"))
        let registration = try await registering
        #expect(registration.isActive)
        connection.send(": \n\n" + Self.push("11"))
        let userInfo = try #require(await pushes.next())
        let aps = try #require(userInfo.value["aps"] as? [String: Any])
        #expect(aps["content-available"] as? NSNumber == 1)
        #expect(aps["content-available"] as? Int == 1)
        let notification = try #require(
            CKNotification(fromRemoteNotificationDictionary: userInfo.value)
        )
        #expect(notification.notificationType == .database)
        #expect(notification.subscriptionID == "s")
        registration.cancel()
        await registration.waitUntilEnded()
        #expect(!registration.isActive)
        #expect(registration.failure == nil)
        // The server knows how far the app came.
        #expect(server.acknowledged.last == #"{"cursor":"11"}"#)
    }

    @Test("A connection that ends as soon as it is there is tried ever more seldom")
    func endingAtOnce() async throws {
        let server = StreamServer()
        let clock = ManualClock()
        let device = TestDevice(server.transport(), clock: clock)
        async let registering = device.container.registerForRemoteNotifications { _ in }
        var connection = await server.nextConnection()
        connection.send(Self.ready("10"))
        let registration = try await registering
        var waits: [Duration] = []
        for _ in 0..<5 {
            connection.end()
            // Shorter than the checks for silence.
            await clock.untilSlept(atMost: .seconds(10))
            waits.append(try #require(clock.slept.last { $0 < .seconds(10) }))
            clock.advance(by: .seconds(30))
            connection = await server.nextConnection()
            connection.send(Self.ready("10"))
        }
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 < $1 })
        registration.cancel()
        await registration.waitUntilEnded()
    }

    @Test("A lost connection is restored after a short wait, from the last handled push")
    func reconnecting() async throws {
        let server = StreamServer()
        let clock = ManualClock()
        let device = TestDevice(server.transport(), clock: clock)
        let pushes = PushLog()
        async let registering = device.container.registerForRemoteNotifications {
            await pushes.add($0)
        }
        let first = await server.nextConnection()
        first.send(Self.ready("10") + Self.push("11", #"{"n":11}"#))
        let registration = try await registering
        #expect(await pushes.next()?.number == 11)
        first.end()
        // The watch over the old connection is gone, so this is the wait for the next.
        await clock.untilSlept(atMost: ReconnectSchedule.backoff.first)
        clock.advance(by: .seconds(1))
        let second = await server.nextConnection()
        #expect(second.request.query["cursor"] == "11")
        // A push that was handled comes again, with the same cursor: it is dropped.
        second.send(
            Self.ready("11") + Self.push("11", #"{"n":11}"#) + Self.push("12", #"{"n":12}"#))
        #expect(await pushes.next()?.number == 12)
        registration.cancel()
        await registration.waitUntilEnded()
        #expect(await pushes.count == 2)
    }

    @Test("PUSH-13, NOTIF-15: pushes the log has lost are delivered as one that asks to fetch")
    func gap() async throws {
        let server = StreamServer()
        let device = TestDevice(server.transport(), clock: ManualClock())
        let pushes = PushLog()
        async let registering = device.container.registerForRemoteNotifications {
            await pushes.add($0)
        }
        let connection = await server.nextConnection()
        connection.send(
            Self.ready("10") + "event: gap\nid: 40\ndata: {}\n\n"
                + "event: later\nid: 41\ndata: {}\n\n"
        )
        let registration = try await registering
        let userInfo = try #require(await pushes.next())
        let notification = try #require(
            CKNotification(fromRemoteNotificationDictionary: userInfo.value)
                as? CKDatabaseNotification
        )
        #expect(notification.containerIdentifier == "iCloud.notes")
        #expect(notification.databaseScope == .private)
        #expect(notification.subscriptionID == nil)
        #expect(notification.isPruned)
        registration.cancel()
        await registration.waitUntilEnded()
        #expect(await pushes.count == 1)
        #expect(server.acknowledged.last == #"{"cursor":"40"}"#)
    }

    @Test("A connection that is silent for 45 seconds is given up; heart-beats keep it")
    func silence() async throws {
        let server = StreamServer()
        let clock = ManualClock()
        let device = TestDevice(server.transport(), clock: clock)
        async let registering = device.container.registerForRemoteNotifications { _ in }
        let first = await server.nextConnection()
        first.send(Self.ready("10"))
        let registration = try await registering
        for _ in 0..<6 {
            await clock.untilSleeping()
            await first.sendAndWait(": \n\n")
            clock.advance(by: .seconds(15))
        }
        #expect(server.connectionCount == 1)
        for _ in 0..<3 {
            await clock.untilSleeping()
            clock.advance(by: .seconds(15))
        }
        await clock.untilSlept(atMost: ReconnectSchedule.backoff.first)
        clock.advance(by: .seconds(1))
        let second = await server.nextConnection()
        #expect(second.request.query["cursor"] == "10")
        registration.cancel()
        await registration.waitUntilEnded()
    }

    @Test("A token that is refused ends the registration with its error")
    func aRefusedToken() async throws {
        let server = StreamServer()
        let clock = ManualClock()
        let device = TestDevice(server.transport(), clock: clock)
        async let registering = device.container.registerForRemoteNotifications { _ in }
        let first = await server.nextConnection()
        first.send(Self.ready("10"))
        let registration = try await registering
        server.refuse(
            .json(#"{"serverErrorCode":"AUTHENTICATION_REQUIRED","reason":"sign in"}"#, status: 421)
        )
        first.end()
        await clock.untilSlept(atMost: ReconnectSchedule.backoff.first)
        clock.advance(by: .seconds(1))
        await registration.waitUntilEnded()
        #expect(text(registration.failure) == "notAuthenticated: sign in")
        #expect(!registration.isActive)
    }

    @Test("A first connection that fails is the app's to decide about")
    func aFirstConnectionThatFails() async throws {
        let transport = ScriptedTransport(
            streams: { _, _ in throw TransportError.unreachable("no") },
            { _, _ in .json("{}") }
        )
        let container = TestDevice(transport, clock: ManualClock()).container
        let result = await Result {
            try await container.registerForRemoteNotifications { _ in }
        }
        #expect(result.error?.code == .networkUnavailable)
        #expect(transport.opened.count == 1)
        let stranger = TestDevice(transport, webAuthToken: nil).container
        let refused = await Result {
            try await stranger.registerForRemoteNotifications { _ in }
        }
        #expect(refused.error?.code == .notAuthenticated)
    }

    @Test("Cancelling the task that waits for the registration ends it")
    func cancellingTheRegistering() async {
        let server = StreamServer()
        let container = TestDevice(server.transport(), clock: ManualClock()).container
        let task = Task {
            await Result { try await container.registerForRemoteNotifications { _ in } }
        }
        let connection = await server.nextConnection()
        task.cancel()
        #expect(text(await task.value) == "operationCancelled: The operation was cancelled.")
        await connection.ended()
    }

    @Test("What is no payload is passed over, once")
    func whatIsNoPayload() async throws {
        let server = StreamServer()
        let device = TestDevice(server.transport(), clock: ManualClock())
        let pushes = PushLog()
        async let registering = device.container.registerForRemoteNotifications {
            await pushes.add($0)
        }
        let connection = await server.nextConnection()
        connection.send(
            Self.ready("1") + Self.push("2", "[1]") + Self.push("3", "{") + "event: new\nid: 9\n\n"
                + Self.push("4", #"{"n":4}"#)
        )
        let registration = try await registering
        #expect(await pushes.next()?.number == 4)
        registration.cancel()
        await registration.waitUntilEnded()
        #expect(await pushes.count == 1)
        #expect(server.acknowledged.last == #"{"cursor":"4"}"#)
    }

    @Test("While the app handles a push silence does not count")
    func handlingTakesItsTime() async throws {
        let server = StreamServer()
        let clock = ManualClock()
        let device = TestDevice(server.transport(), clock: clock)
        let handling = Gate()
        let done = Gate()
        async let registering = device.container.registerForRemoteNotifications { _ in
            handling.open()
            await done.wait()
        }
        let connection = await server.nextConnection()
        connection.send(Self.ready("1") + Self.push("2"))
        let registration = try await registering
        await handling.wait()
        for _ in 0..<8 {
            await clock.untilSleeping()
            clock.advance(by: .seconds(15))
        }
        await clock.untilSleeping()
        #expect(server.connectionCount == 1)
        done.open()
        registration.cancel()
        await registration.waitUntilEnded()
    }
}

/// The pushes that came, in order.
actor PushLog {
    struct Push: @unchecked Sendable {
        // Sendable: plain Foundation values that nobody changes.
        var value: [AnyHashable: Any]
        var number: Int? { value["n"] as? Int }
    }

    private var unread: [Push] = []
    private var waiting: [CheckedContinuation<Push?, Never>] = []
    private(set) var count = 0

    nonisolated func add(_ userInfo: [AnyHashable: Any]) async {
        await append(Push(value: userInfo))
    }

    private func append(_ push: Push) {
        count += 1
        if waiting.isEmpty {
            unread.append(push)
        } else {
            waiting.removeFirst().resume(returning: push)
        }
    }

    /// Waits for the next push.
    func next() async -> Push? {
        if !unread.isEmpty { return unread.removeFirst() }
        return await withCheckedContinuation { waiting.append($0) }
    }
}

/// The server's side of device streams.
final class StreamServer: Sendable {
    /// A stream a device has opened.
    final class Connection: Sendable {
        let request: ScriptedTransport.Sent
        private let continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation
        private let turns = Locked(Turns())
        private let over = Gate()
        let stream: TransportStream

        init(_ request: ScriptedTransport.Sent) {
            self.request = request
            let (chunks, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
            self.continuation = continuation
            let reader = Reader(chunks)
            let turns = turns
            stream = TransportStream(
                chunks: AsyncThrowingStream {
                    turns.withLock { $0.ask() }
                    return try await reader.next()
                }
            )
            let over = over
            continuation.onTermination = { _ in over.open() }
        }

        func send(_ text: String) {
            turns.withLock { $0.sent += 1 }
            continuation.yield(Array(text.utf8))
        }

        /// Sends, and waits until the device has dealt with it.
        func sendAndWait(_ text: String) async {
            send(text)
            await withCheckedContinuation { continuation in
                turns.withLock { $0.wait(continuation) }
            }
        }

        func end() {
            continuation.finish()
        }

        /// Waits until the device has closed the connection.
        func ended() async {
            await over.wait()
        }
    }

    /// How many chunks were sent and asked for: whoever asks for one has dealt with all
    /// before it.
    private struct Turns {
        var sent = 0
        private var asked = 0
        private var waiting: [(sent: Int, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func ask() {
            asked += 1
            resume()
        }

        mutating func wait(_ continuation: CheckedContinuation<Void, Never>) {
            waiting.append((sent, continuation))
            resume()
        }

        private mutating func resume() {
            let asked = asked
            waiting.filter { $0.sent < asked }.forEach { $0.continuation.resume() }
            waiting.removeAll { $0.sent < asked }
        }
    }

    /// Reads the chunks of one connection.
    private final class Reader: @unchecked Sendable {
        // Sendable: only the one device calls `next`, in turn.
        private var iterator: AsyncThrowingStream<[UInt8], any Error>.AsyncIterator

        init(_ chunks: AsyncThrowingStream<[UInt8], any Error>) {
            iterator = chunks.makeAsyncIterator()
        }

        func next() async throws -> [UInt8]? { try await iterator.next() }
    }

    private let connections = AsyncStream<Connection>.makeStream()
    private let log = Locked<[Connection]>([])
    private let refusal = Locked<TransportResponse?>(nil)
    private let acknowledgements = Locked<[String]>([])

    /// The bodies of the acknowledgements.
    var acknowledged: [String] { acknowledgements.current }
    /// How many streams were opened.
    var connectionCount: Int { log.withLock { $0.count } }

    /// Refuses every stream from now on.
    func refuse(_ response: TransportResponse) {
        refusal.current = response
    }

    /// Waits for the next stream.
    func nextConnection() async -> Connection {
        for await connection in connections.stream { return connection }
        preconditionFailure("the test was cancelled")
    }

    func transport() -> ScriptedTransport {
        ScriptedTransport(streams: { [self] request, _ in
            if let refusal = refusal.current { return TransportStream(refusal: refusal) }
            let connection = Connection(request)
            log.withLock { $0.append(connection) }
            connections.continuation.yield(connection)
            return connection.stream
        }) { [self] request, _ in
            if request.path.hasSuffix("/notifications/ack") {
                acknowledgements.withLock { $0.append(request.body) }
            }
            return .json("{}")
        }
    }
}
