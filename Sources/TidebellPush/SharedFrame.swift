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
    fileprivate init(_ payload: [UInt8], at sequence: NotificationSequence) {
        bytes = ServerSentEvent.encoded(id: String(sequence.rawValue), data: payload)
    }
}

/// One element of a device stream.
package struct StreamEvent: Sendable, Hashable {
    /// The cursor to resume after this event.
    package let sequence: NotificationSequence
    /// What to write to a connection that carries as much as Apple's push service does.
    package let frame: SharedFrame
    /// What to write to one that has room for more (PRUNE-8); the same bytes where nothing was cut.
    package let wholeFrame: SharedFrame
}

/// What a device's stream writes next.
package enum StreamPart: Sendable, Hashable {
    /// Events in the order of the log, at least one.
    case events([StreamEvent])
    /// A sign of life, so that both ends notice a dead connection.
    case silence
}

/// What there is to do for a device's stream.
package enum StreamStep: Sendable, Hashable {
    case part(StreamPart)
    /// Waiting for ``DeviceStream/Iterator/prepare()``, before there may be more.
    case unprepared
    /// Nothing, until the stream's follower is called.
    case nothing
    /// The device may receive no more.
    case ended
}

extension StreamEvent {
    /// The event that carries a notification.
    init(_ notification: StoredNotification) {
        let sequence = notification.sequence
        let frame = SharedFrame(notification.payload, at: sequence)
        wholeFrame = notification.fullPayload.map { SharedFrame($0, at: sequence) } ?? frame
        (self.sequence, self.frame) = (sequence, frame)
    }
}
