// SPDX-License-Identifier: Apache-2.0

/// `notifications/stream`, an extension: every notification of the caller's device as a
/// server-sent event, from where it left off (web-services 9).
package enum StreamNotifications: WireEndpoint {
    package typealias Request = EmptyBody
    /// One of many, until the connection ends.
    package typealias Response = ServerSentEvent
    // It registers the device.
    package static let route = WireRoute(.of(.ext, "notifications/stream"), by: [.get], .repeatable)

    /// The name of the event that reports that the device is registered, and where in the log
    /// the stream begins.
    package static let readyEvent = "ready"
    /// The name of the event that reports that notifications before it are gone.
    package static let gapEvent = "gap"
}

/// `notifications/ack`, an extension: the device has everything up to a cursor and need not
/// be sent it again (web-services 9).
package enum AcknowledgeNotifications: WireEndpoint {
    package typealias Response = EmptyBody
    package static let route = WireRoute(.of(.ext, "notifications/ack"), .repeatable)

    /// How far the device is.
    package struct Request: WireBody, Hashable {
        /// The ID of the newest event the device has.
        package var cursor: String

        /// Creates a request.
        package init(cursor: String) {
            self.cursor = cursor
        }

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            cursor = try reader.readOnly("cursor")
        }

        /// Writes the request.
        package func write(to writer: inout JSONWriter) {
            writer.object { $0.member("cursor", cursor) }
        }
    }
}
