// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPush
import TidebellWire

/// `notifications/stream`: server-sent events with every notification of the
/// caller's device, from where it left off (web-services 9).
package enum StreamNotifications: Endpoint {
    package static let methods: [WebRequest.Method] = [.get]

    /// Silence after which a comment is sent, so that both ends notice a dead
    /// connection.
    static let heartbeatInterval = Duration.seconds(15)

    /// Answers with a stream that ends only with the connection or the server.
    ///
    /// It begins after the `cursor` (or `Last-Event-ID`) given, else after what
    /// the device acknowledged.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let cloud = exchange.cloud
        let place = try cloud.heldRequests.takePlace()
        let (device, start) = try await registerDevice(exchange)
        // Live before it is announced: nothing that comes now is missed.
        let events = cloud.streams.open(device: device, after: start)
        return WebResponse(
            headers: [
                "Content-Type": "text/event-stream",
                "Cache-Control": "no-store",
                // nginx would keep events back otherwise.
                "X-Accel-Buffering": "no",
            ],
            body: .stream { writer in
                try await writer.write(ready(at: start))
                try await forward(events, to: &writer, by: cloud.time.clock) { event in
                    cloud.journal.record(
                        Delivery(
                            notification: event.sequence, user: device.user,
                            clientID: device.clientID, route: .stream, at: cloud.time.now(),
                            answer: Delivery.sent
                        )
                    )
                }
                withExtendedLifetime(place) {}
            }
        )
    }

    private static func registerDevice(
        _ exchange: Exchange
    ) async throws -> (StoredDevice, start: NotificationSequence) {
        let call = exchange.call
        let user = try call.requireUser().id
        let clientID = try exchange.requireClientID()
        let cursor = try exchange.cursor()
        return try await exchange.cloud.store.write { transaction in
            let device = try transaction.registerDevice(
                clientID: clientID, user: user, container: call.container, at: call.now
            )
            // A cursor from beyond the log is of another store's.
            guard let cursor, cursor <= (try transaction.notificationHead()) else {
                return (device, device.acknowledged)
            }
            return (device, cursor)
        }
    }

    /// The first event, which tells that everything after `start` will follow.
    private static func ready(at start: NotificationSequence) -> [UInt8] {
        Array("event: ready\nid: \(start.cursor)\ndata: {}\n\n".utf8)
    }

    /// What makes the stream write.
    private enum Beat: Sendable {
        case event(StreamEvent)
        case silence
        case end
    }

    private static func forward(
        _ events: DeviceStream, to writer: inout any BodyWriter,
        by clock: any Clock<Duration>, onWritten: (StreamEvent) -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Beat.self) { group in
            let source = EventSource(events)
            let nextEvent: @Sendable () async throws -> Beat = {
                try await source.next().map(Beat.event) ?? .end
            }
            let nextSilence: @Sendable () async throws -> Beat = {
                try await clock.sleep(for: heartbeatInterval)
                return .silence
            }
            group.addTask(operation: nextEvent)
            group.addTask(operation: nextSilence)
            while let beat = try await group.next() {
                switch beat {
                case .event(let event):
                    try await writer.write(event.frame.bytes)
                    onWritten(event)
                    group.addTask(operation: nextEvent)
                case .silence:
                    try await writer.write(Array(": \n\n".utf8))
                    group.addTask(operation: nextSilence)
                case .end:
                    group.cancelAll()
                    return
                }
            }
        }
    }

    /// Keeps the place in a sequence of events between the tasks that wait for
    /// one of them each.
    private actor EventSource {
        private var iterator: DeviceStream.Iterator

        init(_ events: DeviceStream) {
            iterator = events.makeAsyncIterator()
        }

        func next() async throws -> StreamEvent? {
            var iterator = iterator
            let event = try await iterator.next(isolation: self)
            self.iterator = iterator
            return event
        }
    }
}

extension Exchange {
    /// The newest event the device has, as far as the request says so.
    fileprivate func cursor() throws -> NotificationSequence? {
        let text = try target.parameter(WireProtocol.cursor) ?? request.headers["Last-Event-ID"]
        guard let text, !text.isEmpty else { return nil }
        guard let cursor = NotificationSequence(cursor: text) else {
            throw WireError.badRequest(
                "\(WireProtocol.cursor) '\(WireError.shortened(text))' is not the ID of an event"
            )
        }
        return cursor
    }
}
