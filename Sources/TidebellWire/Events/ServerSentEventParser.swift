// SPDX-License-Identifier: Apache-2.0

/// Why bytes are no stream of server-sent events that a device reads.
package enum ServerSentEventError: Error, Equatable {
    /// A line is longer than ``ServerSentEventParser/maximumLineLength``.
    case lineTooLong
    /// The data of an event is longer than ``ServerSentEventParser/maximumDataLength``.
    case dataTooLong
    /// A line is not UTF-8.
    case notUTF8
}

/// Takes the chunks of a stream apart into events, wherever the chunks are cut.
///
/// Follows the HTML standard's event stream format: lines end with LF, CR or CRLF; an
/// empty line ends an event; lines that begin with a colon are comments. Differs in two
/// points: an event counts when it has any field, not only with data; and an ID is the event's own, not that of later events too.
package struct ServerSentEventParser: Sendable {
    /// The longest line, in bytes; a push payload has 4096 (LIMIT-10).
    package static let maximumLineLength = 64 << 10
    /// The longest data of one event, in bytes.
    package static let maximumDataLength = 256 << 10

    private var line: [UInt8] = []
    private var isAfterCarriageReturn = false
    private var isAtStart = true
    private var event = ServerSentEvent()
    private var hasFields = false
    private var hasData = false

    /// Creates the parser of a stream that begins.
    package init() {}

    /// Takes the next bytes and returns the events they complete.
    package mutating func consume(_ chunk: [UInt8]) throws(ServerSentEventError)
        -> [ServerSentEvent]
    {
        var events: [ServerSentEvent] = []
        for byte in chunk {
            switch byte {
            case UInt8(ascii: "\n") where isAfterCarriageReturn:
                // The second half of a CRLF, whose line has ended already.
                isAfterCarriageReturn = false
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                isAfterCarriageReturn = byte == UInt8(ascii: "\r")
                if let event = try endLine() { events.append(event) }
            default:
                isAfterCarriageReturn = false
                guard line.count < Self.maximumLineLength else { throw .lineTooLong }
                line.append(byte)
            }
        }
        return events
    }

    /// Takes the line into the event; returns the event if the line was the empty one
    /// that ends it.
    private mutating func endLine() throws(ServerSentEventError) -> ServerSentEvent? {
        defer {
            line.removeAll(keepingCapacity: true)
            isAtStart = false
        }
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        if isAtStart, line.starts(with: byteOrderMark) { line.removeFirst(byteOrderMark.count) }
        guard !line.isEmpty else { return endEvent() }
        // Cut as bytes: an accent after the colon or the space would be one character with it.
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var rest = line[colon...].dropFirst()
        if rest.first == UInt8(ascii: " ") { rest.removeFirst() }
        guard let field = String(validating: line[..<colon], as: UTF8.self),
            let value = String(validating: rest, as: UTF8.self)
        else { throw .notUTF8 }
        // A line that begins with a colon is a comment: the server's heart-beat.
        guard colon > line.startIndex else { return nil }
        try take(field: field, value: value)
        return nil
    }

    private mutating func take(field: String, value: String) throws(ServerSentEventError) {
        switch field {
        case "event":
            event.name = value.isEmpty ? nil : value
            hasFields = true
        case "id":
            // An ID with a null character would not survive a header.
            guard !value.unicodeScalars.contains("\0") else { return }
            event.id = value
            hasFields = true
        case "data":
            let length = event.data.utf8.count + value.utf8.count + 1
            guard length <= Self.maximumDataLength else { throw .dataTooLong }
            event.data += hasData ? "\n" + value : value
            hasData = true
            hasFields = true
        default:
            // The standard has every other field ignored; `retry` too, since the device
            // has a schedule of its own.
            break
        }
    }

    private mutating func endEvent() -> ServerSentEvent? {
        defer {
            event = ServerSentEvent()
            hasFields = false
            hasData = false
        }
        return hasFields ? event : nil
    }
}
