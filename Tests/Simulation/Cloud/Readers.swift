// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellHTTP
import TidebellPush

/// A stream that a device holds open, in the server's process.
struct OpenStream: Sendable {
    /// The newest event that was taken.
    var cursor: Int64
    private let source: Source

    init(_ stream: DeviceStream, cursor: Int64) {
        self.cursor = cursor
        source = Source(stream)
    }

    /// Takes the next event; waits for it.
    func next() async throws -> StreamEvent? { try await source.next() }

    private actor Source {
        private var iterator: DeviceStream.Iterator

        init(_ stream: DeviceStream) {
            iterator = stream.makeAsyncIterator()
        }

        func next() async throws -> StreamEvent? {
            var iterator = iterator
            let event = try await iterator.next(isolation: self)
            self.iterator = iterator
            return event
        }
    }
}

/// A receiver that takes so many pieces of a body and is gone then.
final class BreakingReader: BodyWriter {
    /// The connection is gone.
    struct BrokeOff: Error {}

    private let count: Int
    private let breaksOff: Bool
    private let state = Mutex<[[UInt8]]>([])

    /// Creates a reader of `count` pieces; who breaks off does so before the last
    /// one is seen to have arrived, others read on.
    init(count: Int, breaksOff: Bool) {
        self.count = count
        self.breaksOff = breaksOff
    }

    /// What arrived.
    var pieces: [[UInt8]] { state.withLock(\.self) }

    func write(_ bytes: [UInt8]) throws {
        let arrived = state.withLock { pieces in
            // Events that wait come together; the beginning of a stream is one piece, whatever it has.
            pieces += pieces.isEmpty ? [bytes] : Self.events(in: bytes)
            // A connection may break between two of them.
            if breaksOff { pieces.removeLast(max(0, pieces.count - count)) }
            return pieces.count
        }
        if breaksOff, arrived >= count { throw BrokeOff() }
    }

    /// The events of a piece, each with the empty line that ends it.
    private static func events(in bytes: [UInt8]) -> [[UInt8]] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n\n").map {
            Array(($0 + "\n\n").utf8)
        }
    }
}

/// A server-sent event.
struct Frame {
    let sequence: Int64
    let payload: [UInt8]

    /// Reads `id: <sequence>`, `data: <payload>` and the empty line.
    init(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 4, lines[2...].allSatisfy(\.isEmpty), lines[0].hasPrefix("id: "),
            lines[1].hasPrefix("data: "), let sequence = Int64(lines[0].dropFirst(4))
        else { throw Violation("this is no event: \(text)") }
        self.sequence = sequence
        payload = Array(lines[1].dropFirst(6).utf8)
    }
}
