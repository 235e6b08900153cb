// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire
import TidebellPush

/// `notifications/ack`: the device has everything up to a cursor and need not be
/// sent it again (web-services 9).
extension AcknowledgeNotifications: Endpoint {
    /// Moves the device's acknowledgement forward, never back.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let request = try exchange.read(Request.self)
        guard let cursor = NotificationSequence(cursor: request.cursor) else {
            throw JSONError("expected a cursor of the stream", path: ["cursor"])
        }
        let call = exchange.call
        let user = try call.requireUser()
        let clientID = try exchange.requireClientID()
        let news = try await exchange.transaction(registering: clientID, of: user) {
            transaction -> NotificationSequence? in
            let device = try transaction.registerDevice(
                clientID: clientID, user: user.id, container: call.container,
                atMost: call.limits.devicesPerUser, at: call.now
            )
            // A position beyond the log was never sent, so it cannot be acknowledged.
            let sequence = min(cursor, try transaction.notificationHead(of: user.id))
            try transaction.acknowledge(device.key, upTo: sequence)
            return sequence > device.acknowledged ? sequence : nil
        }
        if let news {
            exchange.cloud.journal.record(
                Delivery(
                    notification: news, user: user.id, clientID: clientID, route: .stream,
                    at: exchange.cloud.time.now(), answer: Delivery.acknowledged
                )
            )
        }
        return .json { EmptyBody().write(to: &$0) }
    }
}

extension NotificationSequence {
    /// Reads the text that events of the stream carry as their ID.
    init?(cursor: String) {
        guard let value = Int64(cursor), value >= 0 else { return nil }
        self.init(rawValue: value)
    }

    /// The text by which clients know this position in the log.
    var cursor: String { String(rawValue) }
}
