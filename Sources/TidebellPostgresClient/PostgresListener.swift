// SPDX-License-Identifier: Apache-2.0
internal import CTidebellPostgres
internal import Foundation
package import TidebellScheduling

/// Listens to channels (`LISTEN`) on a connection and a thread of its own.
///
/// A notification is a hint: those sent while the connection is away are lost. ``Event/began``
/// says so; look at the tables then.
package final class PostgresListener: Sendable {
    /// What is heard.
    package enum Event: Sendable, Hashable {
        /// From now on everything is heard: after each connecting.
        case began
        /// `NOTIFY channel, 'payload'`.
        case notified(channel: String, payload: String)
    }

    /// What is heard, for one reader; it ends when ``run()`` does.
    package let events: AsyncStream<Event>

    private let address: PostgresAddress
    private let channels: [String]
    private let time: Time
    private let randomness: Randomness
    private let backoff: Backoff
    private let continuation: AsyncStream<Event>.Continuation

    /// Creates a listener, which does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - channels: Names of channels, as they are.
    ///   - mostUnread: How many events wait for the reader; the oldest go.
    package init(
        _ address: PostgresAddress, channels: [String], mostUnread: Int = 10_000, time: Time,
        randomness: Randomness,
        backoff: Backoff = Backoff(
            first: .milliseconds(50), longest: .seconds(2), spread: .longer(by: 0.5))
    ) {
        self.address = address
        self.channels = channels
        self.time = time
        self.randomness = randomness
        self.backoff = backoff
        (events, continuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(mostUnread))
    }

    /// Listens until the task is cancelled, and connects again whenever that is needed.
    package func run() async {
        defer { continuation.finish() }
        var failures = 0
        while !Task.isCancelled {
            let hasBegun = await listen()
            failures = hasBegun ? 1 : failures + 1
            let wait = backoff.wait(after: failures, jitter: randomness.makeFraction())
            // Fails by cancellation only, which is the end.
            guard (try? await time.clock.sleep(for: wait)) != nil else { return }
        }
    }

    /// Listens on a thread until the connection is lost or the task is cancelled; returns
    /// whether it came to that.
    private func listen() async -> Bool {
        guard let stop = StopDescriptor() else { return false }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { done in
                let thread = Thread { [self] in
                    done.resume(returning: listen(until: stop))
                }
                thread.name = "postgres listener"
                thread.start()
            }
        } onCancel: {
            stop.raise()
        }
    }

    private func listen(until stop: StopDescriptor) -> Bool {
        do {
            let connection = try PostgresConnection(address)
            defer { connection.close() }
            for channel in channels {
                let name = channel.replacing("\"", with: "\"\"")
                connection.enqueueOnce("LISTEN \"\(name)\"")
            }
            try connection.sync()
            continuation.yield(.began)
            while connection.hear({ continuation.yield(.notified(channel: $0, payload: $1)) }) {
                guard connection.waitForInput(or: stop.descriptor) else { break }
            }
            return true
        } catch {
            // A hint less; the next connection is tried after the back-off.
            return false
        }
    }
}

/// A descriptor that a thread polls and that another makes readable.
private final class StopDescriptor: Sendable {
    /// Becomes readable.
    let descriptor: Int32
    private let writer: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (descriptor, writer) = (ends[0], ends[1])
        // Not for programs that this one starts.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        close(descriptor)
        close(writer)
    }

    /// Makes it readable.
    func raise() {
        var byte: UInt8 = 0
        // An empty pipe takes a byte.
        _ = write(writer, &byte, 1)
    }
}

extension PostgresConnection {
    /// Whether the connection, on which nothing is asked, still stands.
    var isAlive: Bool {
        guard failure == nil, let connection else { return false }
        // What an idle connection gets are notices, and last words before the end.
        while isReadable(connection) {
            guard PQconsumeInput(connection) == 1 else { return false }
            _ = PQisBusy(connection)
            while let notification = PQnotifies(connection) { PQfreemem(notification) }
        }
        return PQstatus(connection) == CONNECTION_OK
    }

    private func isReadable(_ connection: OpaquePointer) -> Bool {
        var entry = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Takes the notifications that have come; returns false when the connection is lost.
    func hear(_ body: (_ channel: String, _ payload: String) -> Void) -> Bool {
        guard let connection, PQconsumeInput(connection) == 1 else { return false }
        while let notification = PQnotifies(connection) {
            body(
                String(cString: notification.pointee.relname),
                String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return true
    }

    /// Waits until the server sends something; false when the descriptor is readable first.
    func waitForInput(or stop: Int32) -> Bool {
        guard let connection else { return false }
        var entries = [
            pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&entries, 2, -1) < 0, errno == EINTR {}
        return entries[1].revents == 0
    }
}
