// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

/// A notification as a server-sent event: `id: <sequence>`, `data: <payload>`.
///
/// Encoded once for each notification; the devices of a user share the bytes.
package struct SharedFrame: Sendable, Hashable {
    /// The event with the empty line that ends it.
    package let bytes: [UInt8]

    /// Encodes a notification; a payload is one line, because JSON escapes every
    /// line break inside a string.
    package init(_ notification: StoredNotification) {
        bytes = ServerSentEvent.encoded(
            id: String(notification.sequence.rawValue), data: notification.payload
        )
    }
}

/// One element of a device stream.
package struct StreamEvent: Sendable, Hashable {
    /// The cursor to resume after this event.
    package let sequence: NotificationSequence
    /// What to write to the connection.
    package let frame: SharedFrame
}

/// What a device's stream writes next.
package enum StreamPart: Sendable, Hashable {
    case event(StreamEvent)
    /// A sign of life, so that both ends notice a dead connection.
    case silence
}

extension StreamEvent {
    /// The event that carries a notification.
    init(_ notification: StoredNotification) {
        sequence = notification.sequence
        frame = SharedFrame(notification)
    }
}
