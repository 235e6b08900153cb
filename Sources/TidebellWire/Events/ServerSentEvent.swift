// SPDX-License-Identifier: Apache-2.0

/// One event of a stream of server-sent events.
package struct ServerSentEvent: Sendable, Hashable {
    /// The `Content-Type` of a stream of them.
    package static let contentType = "text/event-stream"
    /// A comment, which readers skip: a sign of life.
    package static let heartbeat = Array(": \n\n".utf8)

    /// The event's name; nil for a plain message.
    package var name: String?
    /// The event's ID; nil when it has none of its own.
    package var id: String?
    /// The data; several lines are joined by line feeds.
    package var data = ""

    /// Creates an event.
    package init(name: String? = nil, id: String? = nil, data: String = "") {
        self.name = name
        self.id = id
        self.data = data
    }

    /// Returns an event as a stream carries it, with the empty line that ends it.
    ///
    /// - Parameters:
    ///   - name: Its name; nil for a plain message.
    ///   - id: Its ID, one line.
    ///   - data: Its data, one line.
    package static func encoded(
        _ name: String? = nil, id: String, data: [UInt8]
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(data.count + 48)
        if let name { bytes += "event: \(name)\n".utf8 }
        bytes += "id: \(id)\ndata: ".utf8
        bytes += data
        bytes += "\n\n".utf8
        return bytes
    }
}
