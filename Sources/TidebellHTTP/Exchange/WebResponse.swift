// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes
package import TidebellWire

/// Receives the pieces of a streamed body, in order.
package protocol BodyWriter: Sendable {
    /// Writes one piece; returns when the receiver takes the next.
    mutating func write(_ bytes: [UInt8]) async throws
}

/// An answer, on its way to a socket or to the same process.
package struct WebResponse: Sendable {
    /// The content of an answer.
    package enum Body: Sendable {
        case bytes([UInt8])
        /// Produced while it is sent; cancelled when the receiver goes away.
        case stream(@Sendable (inout any BodyWriter) async throws -> Void)
        /// Without an end of its own, and asked for what there is; let go of when the receiver goes
        /// away.
        case feed(any Feed)
        /// A file: as many bytes as stated, produced while they are sent. A server that
        /// shuts down lets it end, unlike a stream, which has no end.
        case file(length: Int64, @Sendable (inout any BodyWriter) async throws -> Void)
    }

    /// The HTTP status.
    package var status: Int
    package var headers: HTTPFields
    package var body: Body
    /// What the bytes of the body count for, until they are sent.
    package var share: BodyBytes.Share?
    /// Whether it was given before, to the same write: refusing it undoes nothing.
    var isRepeated = false
    /// Why it is an error, for the log.
    var failure: WireError?

    /// Creates an answer.
    package init(status: Int = 200, headers: HTTPFields = [:], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns an answer with the JSON that `write` writes.
    package static func json(
        status: Int = 200,
        capacity: Int = 512,
        _ write: (inout JSONWriter) -> Void
    ) -> WebResponse {
        json(status: status, JSONWriter.write(capacity: capacity, write))
    }

    /// Bytes of an answer that are written where it was found: some milliseconds.
    private static let mostWrittenInPlace = 512 * 1024

    /// Writes an answer of about so many bytes; a long one on a thread for which no connections wait (``LoopExecutor``).
    static func json(
        estimate: Int, _ write: @Sendable (inout JSONWriter) -> Void
    ) async -> WebResponse {
        guard estimate > mostWrittenInPlace else { return json(capacity: estimate, write) }
        return await withTaskExecutorPreference(globalConcurrentExecutor) {
            json(capacity: estimate, write)
        }
    }

    /// Returns an answer with bytes that are JSON already.
    package static func json(status: Int = 200, _ bytes: [UInt8]) -> WebResponse {
        WebResponse(
            status: status,
            headers: [.contentType: "application/json; charset=UTF-8"],
            body: .bytes(bytes)
        )
    }
}

extension WebResponse.Body {
    /// Returns the whole content; of a stream, when it ended.
    package func collect() async throws -> [UInt8] {
        switch self {
        case .bytes(let bytes): return bytes
        case .stream, .feed, .file:
            var collector: any BodyWriter = BodyCollector()
            try await produce(to: &collector)
            return (collector as? BodyCollector)?.bytes ?? []
        }
    }

    /// Writes the content, until it ends or the task is cancelled.
    package func produce(to writer: inout any BodyWriter) async throws {
        switch self {
        case .bytes(let bytes): try await writer.write(bytes)
        case .stream(let produce), .file(_, let produce): try await produce(&writer)
        case .feed(var feed): try await feed.produce(to: &writer)
        }
    }

    /// The pieces of the content as they are produced, for a receiver in the
    /// same process; ending the iteration cancels the producer.
    ///
    /// A receiver that leaves more than ``unreadPieces`` unread is cut off with
    /// ``ReceiverTooSlow``.
    package var pieces: AsyncThrowingStream<[UInt8], any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingOldest(Self.unreadPieces)) { continuation in
            // The one task without a parent: over a socket the connection's task
            // runs the producer, here nobody else could.
            let producer = Task {
                do {
                    var writer: any BodyWriter = PieceWriter(continuation: continuation)
                    try await produce(to: &writer)
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in producer.cancel() }
        }
    }

    /// The most pieces that may wait for a receiver in the same process.
    package static let unreadPieces = 1024
}

/// The receiver of a body in the same process did not keep up.
package struct ReceiverTooSlow: Error {}

private struct BodyCollector: BodyWriter {
    var bytes: [UInt8] = []

    mutating func write(_ bytes: [UInt8]) {
        self.bytes += bytes
    }
}

private struct PieceWriter: BodyWriter {
    let continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation

    mutating func write(_ bytes: [UInt8]) throws {
        switch continuation.yield(bytes) {
        case .enqueued: return
        case .dropped: throw ReceiverTooSlow()
        case .terminated: throw CancellationError()
        @unknown default: throw CancellationError()
        }
    }
}
