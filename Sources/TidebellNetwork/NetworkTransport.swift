// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import CTidebellNetwork
import Foundation
import NIOCore
import NIOFoundationCompat
import TidebellTransport
import NIOHTTP1

/// Makes the transport to a server: the one way into this module.
///
/// The client calls it by its C name and does not import this module: each module that a
/// module imports shows its extensions of `Array`, `URL` and so on to every program that
/// imports the latter, and an app's own `uniqued()` would be ambiguous beside them.
@c(tidebell_network_transport)
public func makeNetworkTransport(
    _ server: UnsafePointer<CChar>, leastTimeout: Double
) -> UnsafeMutableRawPointer {
    let transport = NetworkTransport(
        server: String(cString: server), leastTimeout: .seconds(leastTimeout))
    return Unmanaged.passRetained(MadeTransport(transport)).toOpaque()
}

/// The transport over HTTP: keeps connections open and shares them in the process.
struct NetworkTransport: Transport {
    /// The longest answer read into memory: a page of 200 records of 1 MB fits.
    static let maximumBodySize = 256 << 20
    /// The longest explanation read of a stream that was refused.
    static let maximumRefusalSize = 1 << 20
    /// The longest time to establish a connection.
    static let connectTimeout = Duration.seconds(10)
    /// The longest time until a stream's head, of which the body has no end.
    static let streamHeadTimeout = Duration.seconds(60)
    /// The most connections to one server that are kept for the next request.
    static let connectionsPerServer = 64

    /// The server's address, whose path is put before every request's.
    let server: String
    /// How long every answer is waited for at least, however short its own time is.
    let leastTimeout: Duration

    // One client for the process: it owns connections and is never shut down.
    static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(connectTimeout))
        )
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            connectionsPerServer
        // That a server refuses is reported to the app at once, not after ten seconds of
        // further attempts; whether to try again is its decision.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    func send(
        _ request: TransportRequest,
        timeout: Duration
    ) async throws -> TransportResponse {
        let timeout = max(timeout, leastTimeout)
        return try await within(timeout) {
            let response = try await Self.client.execute(
                httpRequest(request),
                timeout: TimeAmount(timeout)
            )
            return try await collect(response, upTo: Self.maximumBodySize)
        }
    }

    func stream(_ request: TransportRequest) async throws -> TransportStream {
        let response = try await within(headTimeout) {
            try await Self.client.execute(httpRequest(request), deadline: .distantFuture)
        }
        guard response.status == .ok else {
            let refusal = try await within(headTimeout) {
                try await collect(response, upTo: Self.maximumRefusalSize)
            }
            return TransportStream(refusal: refusal)
        }
        let chunks = Chunks(response.body)
        return TransportStream(
            headers: response.headers.map { ($0.name, $0.value) },
            chunks: AsyncThrowingStream { try await chunks.next() }
        )
    }

    // MARK: -

    /// How long the head of a stream is waited for.
    var headTimeout: Duration { max(Self.streamHeadTimeout, leastTimeout) }

    /// The request as the HTTP client takes it.
    func httpRequest(_ request: TransportRequest) -> HTTPClientRequest {
        var base = server
        while base.hasSuffix("/") { base.removeLast() }
        var result = HTTPClientRequest(url: base + request.path)
        result.method = .RAW(value: request.method)
        for (name, value) in request.headers { result.headers.add(name: name, value: value) }
        if let body = request.body { result.body = .bytes(ByteBuffer(bytes: body)) }
        return result
    }

    /// Reads an answer's body of at most `limit` bytes.
    func collect(
        _ response: HTTPClientResponse,
        upTo limit: Int
    ) async throws -> TransportResponse {
        do {
            let body = try await response.body.collect(upTo: limit)
            return TransportResponse(
                status: Int(response.status.code),
                headers: response.headers.map { ($0.name, $0.value) },
                body: [UInt8](body.readableBytesView)
            )
        } catch {
            throw TransportError.of(error, in: .body)
        }
    }

    /// Runs `body` and translates its errors; the client's own deadline ends with the
    /// head of an answer, so a slow body needs this one.
    func within<Value: Sendable>(
        _ timeout: Duration,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await withThrowingTaskGroup(of: Value.self) { group in
                group.addTask { try await body() }
                group.addTask {
                    try await Task.sleep(for: timeout)
                    throw TransportError.timedOut(timeout)
                }
                defer { group.cancelAll() }
                guard let value = try await group.next() else { throw CancellationError() }
                return value
            }
        } catch {
            throw TransportError.of(error, in: .head(timeout))
        }
    }
}

/// The body of a stream, pulled by one reader, so that a slow reader slows the server.
final class Chunks: @unchecked Sendable {
    // Sendable: only the one reader of the stream made of it calls `next`, in turn.
    private var iterator: HTTPClientResponse.Body.AsyncIterator

    /// Reads the body of an answer.
    init(_ body: HTTPClientResponse.Body) {
        iterator = body.makeAsyncIterator()
    }

    /// Returns the next bytes; nil after the last.
    func next() async throws -> [UInt8]? {
        do {
            return try await iterator.next().map { [UInt8]($0.readableBytesView) }
        } catch {
            throw TransportError.of(error, in: .body)
        }
    }
}

extension TransportError {
    /// How far a request had come when it failed.
    enum Phase {
        /// No head of an answer was there; it was to come in time.
        case head(Duration)
        /// The server was answering.
        case body
    }

    /// Returns what an error of the HTTP client means; cancellation stays what it is.
    static func of(_ error: any Error, in phase: Phase) -> any Error {
        switch (error, phase) {
        case (is TransportError, _), (is CancellationError, _): return error
        case (let error as HTTPClientError, _) where error == .cancelled:
            return CancellationError()
        case (is NIOTooManyBytesError, _):
            return TransportError.tooLarge(limit: NetworkTransport.maximumBodySize)
        case (_, .body): return TransportError.connectionLost("\(error)")
        case (let error as HTTPClientError, .head(let timeout)):
            return of(error, timeout: timeout)
        case (let error as IOError, .head):
            let unreachable = [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ENETDOWN]
            return unreachable.contains(error.errnoCode)
                ? TransportError.unreachable(text(of: error))
                : TransportError.connectionLost(text(of: error))
        case (is ChannelError, .head): return TransportError.connectionLost("\(error)")
        // What remains comes from establishing connections: names, routes, refusals.
        case (_, .head): return TransportError.unreachable("\(error)")
        }
    }

    /// What the system calls the error: NIO's words around it explain nothing to a reader.
    private static func text(of error: IOError) -> String {
        String(cString: strerror(error.errnoCode))
    }

    private static func of(_ error: HTTPClientError, timeout: Duration) -> TransportError {
        switch error {
        case .deadlineExceeded, .readTimeout, .writeTimeout: .timedOut(timeout)
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout,
            .invalidURL, .emptyHost, .emptyScheme:
            .unreachable(error.description)
        default: .connectionLost(error.description)
        }
    }
}
