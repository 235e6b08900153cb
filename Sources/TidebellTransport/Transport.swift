// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How requests of a device reach a server.
///
/// `HTTPTransport` uses the network; tests use a server of the same process, or a
/// script, instead. A transport throws ``TransportError``, or `CancellationError`
/// when the task that waits was cancelled; every status is an answer, not an error.
package protocol Transport: Sendable {
    /// Sends a request and returns the whole answer.
    ///
    /// - Parameter timeout: The longest time until the last byte of the answer.
    func send(_ request: TransportRequest, timeout: Duration) async throws -> TransportResponse

    /// Sends a request whose answer does not end, as that of the device stream.
    ///
    /// Returns when the head of the answer is there. The connection is closed when the
    /// task that reads the chunks is cancelled.
    func stream(_ request: TransportRequest) async throws -> TransportStream

    /// Sends a request whose body is a file, read as it is sent, and returns the answer.
    ///
    /// An error of reading the file is thrown as it is.
    ///
    /// - Parameter stallTimeout: The longest time in which nothing moves.
    func upload(
        _ request: TransportRequest, of file: TransportFile, stallTimeout: Duration
    ) async throws -> TransportResponse

    /// Sends a request whose answer is a file; its status is 200 or, for a part of the
    /// file, 206.
    ///
    /// Returns when the head of the answer is there. The connection is closed when the
    /// task that reads the chunks is cancelled.
    func download(_ request: TransportRequest) async throws -> TransportStream
}

/// A request, as far as every transport needs it.
package struct TransportRequest: Sendable {
    /// `GET` or `POST`.
    package var method: String
    /// Path and query, percent-encoded, from the root of the server.
    package var path: String
    /// Header fields in order.
    package var headers: [(String, String)]
    /// The body; nil for none.
    package var body: [UInt8]?

    /// Creates a request.
    package init(
        method: String,
        path: String,
        headers: [(String, String)] = [],
        body: [UInt8]? = nil
    ) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
    }
}

/// A whole answer.
package struct TransportResponse: Sendable {
    /// The HTTP status.
    package var status: Int
    /// Header fields in order.
    package var headers: [(String, String)]
    /// The body; empty for none.
    package var body: [UInt8]

    /// Creates an answer.
    package init(status: Int, headers: [(String, String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns the first value of a header field, whose name is in any case.
    package func header(_ name: String) -> String? {
        headers.first { $0.0.caseInsensitiveCompare(name) == .orderedSame }?.1
    }
}

/// An answer that goes on.
package struct TransportStream: Sendable {
    /// The HTTP status.
    package var status: Int
    /// Header fields in order.
    package var headers: [(String, String)]
    /// The parts of the body as they arrive; ends or throws when the connection ends.
    ///
    /// Empty unless the status is 200 or 206.
    package var chunks: AsyncThrowingStream<[UInt8], any Error>
    /// The collected body where the status is not 200.
    package var body: [UInt8]

    /// Creates an answer that goes on.
    package init(
        status: Int = 200,
        headers: [(String, String)] = [],
        chunks: AsyncThrowingStream<[UInt8], any Error>
    ) {
        self.status = status
        self.headers = headers
        self.chunks = chunks
        body = []
    }

    /// Creates an answer that refuses to stream.
    package init(refusal: TransportResponse) {
        status = refusal.status
        headers = refusal.headers
        body = refusal.body
        chunks = AsyncThrowingStream { $0.finish() }
    }
}

/// Why a transport has no answer.
package enum TransportError: Error, Sendable, Equatable {
    /// The server cannot be reached: refused, no route, no such host.
    case unreachable(String)
    /// The connection broke before the whole answer was there.
    case connectionLost(String)
    /// The answer did not come in time.
    case timedOut(Duration)
    /// The answer is longer than this device reads.
    case tooLarge(limit: Int)
}

/// A transport on its way through a C function, by which the client asks for it.
package final class MadeTransport: Sendable {
    /// The transport.
    package let transport: any Transport

    /// Wraps a transport.
    package init(_ transport: any Transport) {
        self.transport = transport
    }
}
