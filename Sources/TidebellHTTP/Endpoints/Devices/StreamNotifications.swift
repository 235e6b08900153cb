// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
import TidebellPush
package import TidebellWire

/// `notifications/stream`: server-sent events with every notification of the
/// caller's device, from where it left off (web-services 9).
extension StreamNotifications: Endpoint {
    /// Answers with a stream that ends only with the connection or the server.
    ///
    /// It begins after the `cursor` (or `Last-Event-ID`) given, else after what
    /// the device acknowledged. Payloads are whole unless `payload=apns` asks for
    /// those of Apple's push service.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let cloud = exchange.cloud
        let isCut = try exchange.cutsPayloads()
        let slot = try cloud.heldRequests.takeSlot(
            for: .account(try exchange.call.requireUser().account)
        )
        let begin = try await registerDevice(exchange)
        // Live before it is announced: nothing that comes now is missed.
        let stream = cloud.streams.open(
            device: begin.device, after: begin.start,
            as: try exchange.listeners(of: begin.device)
        )
        return WebResponse(
            headers: [
                .contentType: ServerSentEvent.contentType,
                .cacheControl: "no-store",
                .accelBuffering: "no",
            ],
            body: .feed(
                NotificationFeed(
                    stream, after: begin.announcement, isCut: isCut, in: slot, of: cloud))
        )
    }

    /// Where a stream begins.
    private struct Beginning: Sendable {
        var device: StoredDevice
        var start: NotificationSequence
        /// The end of what retention has removed, if the device may have missed
        /// some of it.
        var gapEnd: NotificationSequence?

        /// The first events: `ready` announces that everything after `start` will
        /// follow, `gap` that something before may be missing.
        var announcement: [UInt8] {
            let ready = event(StreamNotifications.readyEvent, at: start)
            return ready + (gapEnd.map { event(StreamNotifications.gapEvent, at: $0) } ?? [])
        }

        private func event(_ name: String, at position: NotificationSequence) -> [UInt8] {
            ServerSentEvent.encoded(name, id: position.cursor, data: Array("{}".utf8))
        }
    }

    private static func registerDevice(_ exchange: Exchange) async throws -> Beginning {
        let call = exchange.call
        let user = try call.requireUser()
        let clientID = try exchange.requireClientID()
        let cursor = try exchange.cursor()
        return try await exchange.transaction(registering: clientID, of: user) { transaction in
            let device = try transaction.registerDevice(
                clientID: clientID, user: user.id, container: call.container,
                atMost: call.limits.devicesPerUser, at: call.now
            )
            var start = device.acknowledged
            // A cursor from beyond the log is of another store's.
            if let cursor, cursor <= (try transaction.notificationHead(of: user.id)) {
                start = cursor
            }
            let floor = try transaction.notificationFloor(of: user.id)
            return Beginning(device: device, start: start, gapEnd: start < floor ? floor : nil)
        }
    }
}

extension Exchange {
    /// What a stream that is opened with this request ends with.
    fileprivate func listeners(of device: StoredDevice) throws -> Set<Listener> {
        var listeners: Set<Listener> = []
        if let session = call.session { listeners.insert(.stream(device.key, session)) }
        if signature == nil, let token = try target.parameter(WireProtocol.apiToken) {
            listeners.insert(.apiToken(hash: Secret.hash(token)))
        }
        return listeners
    }

    /// Whether the client wants payloads as Apple's push service has them.
    fileprivate func cutsPayloads() throws -> Bool {
        guard let text = try target.parameter(WireProtocol.payload) else { return false }
        guard text == WireProtocol.payloadOfAPNs else {
            throw WireError.badRequest(
                "\(WireProtocol.payload) '\(WireError.shortened(text))' is not "
                    + "'\(WireProtocol.payloadOfAPNs)'")
        }
        return true
    }

    /// The newest event the device has, if the request names one.
    fileprivate func cursor() throws -> NotificationSequence? {
        let text = try target.parameter(WireProtocol.cursor) ?? request.headers[.lastEventID]
        guard let text, !text.isEmpty else { return nil }
        guard let cursor = NotificationSequence(cursor: text) else {
            throw WireError.badRequest(
                "\(WireProtocol.cursor) '\(WireError.shortened(text))' is not the ID of an event"
            )
        }
        return cursor
    }
}
