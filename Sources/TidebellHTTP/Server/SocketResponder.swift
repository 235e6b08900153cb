// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import TidebellCore
import TidebellPush
import TidebellScheduling

/// Carries requests from Hummingbird to ``WebServices`` and answers back.
///
/// It stands on the part of Hummingbird that serves connections: routes, contexts and a logger
/// for each request belong to ``WebServices``.
struct SocketResponder: Sendable {
    let webServices: WebServices
    let connections: Connections
    /// Whether connections are encrypted here.
    let isSecure: Bool
    private let dates = DateHeader()

    init(webServices: WebServices, connections: Connections, isSecure: Bool = false) {
        self.webServices = webServices
        self.connections = connections
        self.isSecure = isSecure
    }

    /// An answer could not be sent to its end, because what the client sent meanwhile is no HTTP.
    private struct AnswerCutShort: Error {
        let cause: any Error
    }

    @Sendable func respond(
        to request: Request, with writer: consuming ResponseWriter, on channel: any Channel
    ) async throws {
        let connection = connections.connection(of: channel)
        let body = SocketBody(request, on: connection)
        let headers = request.fields
        let cloud = webServices.cloud
        let answer = await webServices.respond(
            to: WebRequest(
                request.method,
                request.head.path ?? "/",
                headers: headers,
                body: .pending(body),
                from: cloud.shares.limits.counted(connection?.peer, headers),
                presence: connection?.presence,
                needsHost: true,
                isSecure: isSecure
                    || cloud.shares.limits.trustedProxies.speaksTLS(connection?.peer, headers)
            )
        )
        if let share = answer.share { connection?.hold(share) }
        // The answer to HEAD is the head alone: a body would be taken for the
        // next answer.
        var response = answer.response(on: channel, whileThere: connection?.presence)
        if request.method == .head { response = response.createHeadResponse() }
        response.headers[.date] = dates.text(at: cloud.time.now())
        do {
            try await writer.write(response: response.head, body: response.body)
        } catch let error as HTTPParserError {
            // Hummingbird would answer it once more.
            throw AnswerCutShort(cause: error)
        }
    }
}

/// The body of a request, read when it is asked for.
private final class SocketBody: PendingBody {
    private let request: Request
    private let connection: Connection?
    private let number: Int

    init(_ request: Request, on connection: Connection?) {
        self.request = request
        self.connection = connection
        number = connection?.beginRequest() ?? 0
    }

    func isFromUser() { connection?.isFromUser = true }

    func collect(upTo limit: Int, on share: BodyBytes.Share) async throws -> [UInt8]? {
        let announced = request.headers[.contentLength].flatMap { Int($0) }
        guard announced ?? 0 <= limit else { return nil }
        var bytes: [UInt8] = []
        // The system gives memory when it is written to, so this costs what comes.
        bytes.reserveCapacity(announced ?? 0)
        let isWhole = try await forEachPiece { piece in
            guard bytes.count + piece.readableBytes <= limit else { return false }
            try share.add(piece.readableBytes)
            bytes.append(contentsOf: piece.readableBytesView)
            return true
        }
        return isWhole ? bytes : nil
    }

    func stream(to writer: inout any BodyWriter) async throws {
        _ = try await forEachPiece { piece in
            try await writer.write(Array(buffer: piece))
            return true
        }
    }

    /// Reads the body until its end or until `take` has enough; false for the latter.
    private func forEachPiece(
        _ take: (ByteBuffer) async throws -> Bool
    ) async throws -> Bool {
        if request.headers[.expect] != nil {
            connection?.channel.triggerUserOutboundEvent(RequestWatch.WantsBody(), promise: nil)
        }
        var pieces = request.body.makeAsyncIterator()
        while true {
            let piece: ByteBuffer?
            do {
                piece = try await pieces.next()
            } catch {
                try Task.checkCancellation()
                throw BodyCutShort()
            }
            guard let piece else {
                // A connection that was closed looks like the end of the body; one that closed before
                // its request had its turn is not known any more.
                guard let connection, connection.isWhole(number) else { throw BodyCutShort() }
                return true
            }
            guard try await take(piece) else { return false }
        }
    }
}

extension Request {
    /// The header fields as HTTP/1.1 has them: with the host among them, also a second one.
    fileprivate var fields: HTTPFields {
        var fields = headers
        if let authority = head.authority {
            fields.append(HTTPField(name: .hostField, value: authority))
        }
        return fields
    }
}

extension WebResponse {
    /// - Parameter client: Whoever takes the answer.
    fileprivate func response(
        on channel: any Channel, whileThere client: ClientPresence?
    ) -> Response {
        let body: ResponseBody =
            switch body {
            case .bytes(let bytes) where bytes.isEmpty: ResponseBody()
            case .bytes(let bytes) where share != nil && bytes.count > ResponseBody.smallBody:
                .pieces(of: bytes, counted: share, on: channel)
            case .bytes(let bytes): ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
            case .stream(let produce): .streamed(on: channel, whileThere: client, produce)
            case .file(let length, let produce):
                ResponseBody(contentLength: Int(length)) { writer in
                    let socket = SentWriter(writer: writer, channel: channel)
                    var pieces: any BodyWriter = socket
                    try await produce(&pieces)
                    try await socket.finish()
                }
            }
        return Response(status: .init(code: status), headers: headers, body: body)
    }
}

extension ResponseBody {
    /// The most that waits in a connection's buffers of a body that is in memory anyway.
    private static let pieceSize = 64 * 1024
    /// Bytes of a body that goes in one write with its head, ahead of what the system took. Most
    /// answers are that small.
    fileprivate static let smallBody = 4096

    /// A body that counts for its share until the system has taken all of it.
    fileprivate static func pieces(
        of bytes: [UInt8], counted share: BodyBytes.Share?, on channel: any Channel
    ) -> ResponseBody {
        let whole = ByteBuffer(bytes: bytes)
        return ResponseBody(contentLength: bytes.count) { writer in
            defer { withExtendedLifetime(share) {} }
            let socket = SentWriter(writer: writer, channel: channel)
            var rest = whole
            while let piece = rest.readSlice(length: min(pieceSize, rest.readableBytes)),
                piece.readableBytes > 0
            {
                try await socket.write(piece)
            }
            try await socket.finish()
        }
    }

    /// A body that is produced until it ends, the client goes away or the server
    /// shuts down, whichever comes first.
    ///
    /// NB: not by Hummingbird's own watch for a client's going, which takes the next request from the
    /// connection and closes it without having said so.
    fileprivate static func streamed(
        on channel: any Channel, whileThere client: ClientPresence?,
        _ produce: @escaping @Sendable (inout any BodyWriter) async throws -> Void
    ) -> ResponseBody {
        ResponseBody { writer in
            let socket = StreamWriter(writer: writer, channel: channel)
            let end = WakeSignal()
            let watch = client?.onLeaving { end.raise() }
            defer { withExtendedLifetime(watch) {} }
            do {
                try await run(produce, into: socket, until: end)
            } catch is CancellationError {
                // All ways to be cancelled are a regular end of the stream.
            }
            try await writer.finish(nil)
        }
    }

    /// Produces until `end` is rung or the server shuts down. A stream is idle
    /// most of its life and there are thousands, so it has one task beside the
    /// connection's, not one for each reason to end.
    private static func run(
        _ produce: @escaping @Sendable (inout any BodyWriter) async throws -> Void,
        into socket: StreamWriter, until end: WakeSignal
    ) async throws {
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { end.raise() }
                    var socket: any BodyWriter = socket
                    try await produce(&socket)
                }
                _ = await end.wait()
                group.cancelAll()
                try await group.waitForAll()
            }
        } onGracefulShutdown: {
            end.raise()
        }
    }
}
