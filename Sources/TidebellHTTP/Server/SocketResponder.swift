// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import ServiceLifecycle
import TidebellCore
import TidebellPush

/// Carries requests from Hummingbird to ``WebServices`` and answers back.
struct SocketResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    let webServices: WebServices

    @Sendable func respond(to request: Request, context: Context) async throws -> Response {
        var request = request
        let method = WebRequest.Method(request.method.rawValue)
        let bringsFile = WebRequest.bringsFile(method, request.uri.string)
        let body = bringsFile ? request.fileBody : try await collectBody(of: &request)
        let answer = await webServices.respond(
            to: WebRequest(
                method,
                request.uri.string,
                headers: Headers(request),
                body: body
            )
        )
        // The answer to HEAD is the head alone: a body would be taken for the
        // next answer.
        let response = answer.response(to: request)
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Reads the body and leaves the request with what was read.
    ///
    /// NB: a stream needs it so: Hummingbird's watch for the client's going away
    /// traps on a body that was read elsewhere, or that nobody read to its end.
    private func collectBody(of request: inout Request) async throws -> WebRequest.Body {
        let limit = webServices.cloud.limits.bodyBytes
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit {
            return .tooLong
        }
        do {
            return .bytes(Array(buffer: try await request.collectBody(upTo: limit)))
        } catch is NIOTooManyBytesError {
            return .tooLong
        }
    }
}

extension Request {
    /// The body piece by piece, for who reads it only once.
    fileprivate var fileBody: WebRequest.Body {
        .stream { [body] writer in
            var pieces = body.makeAsyncIterator()
            while true {
                let piece: ByteBuffer?
                do {
                    piece = try await pieces.next()
                } catch {
                    // The client went away: nobody's failure.
                    throw CancellationError()
                }
                guard let piece else { return }
                try await writer.write(Array(buffer: piece))
            }
        }
    }
}

extension Headers {
    fileprivate init(_ request: Request) {
        self.init()
        if let authority = request.head.authority { append("Host", authority) }
        for field in request.headers { append(field.name.rawName, field.value) }
    }
}

extension WebResponse {
    fileprivate func response(to request: Request) -> Response {
        var fields = HTTPFields()
        for header in headers.fields {
            guard let name = HTTPFields.Element(header) else { continue }
            fields.append(name)
        }
        let body: ResponseBody =
            switch body {
            case .bytes(let bytes) where bytes.isEmpty: ResponseBody()
            case .bytes(let bytes): ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
            case .stream(let produce): .streamed(to: request, produce)
            case .file(let length, let produce):
                ResponseBody(contentLength: Int(length)) { writer in
                    var socket: any BodyWriter = SocketWriter(writer: writer)
                    try await produce(&socket)
                    try await writer.finish(nil)
                }
            }
        return Response(status: .init(code: status), headers: fields, body: body)
    }
}

extension HTTPFields.Element {
    /// Nil for a name that no header can have.
    fileprivate init?(_ field: Headers.Field) {
        guard let name = Name(field.name) else { return nil }
        self.init(name: name, value: field.value)
    }
}

extension ResponseBody {
    /// A body that is produced until it ends, the client goes away or the server
    /// shuts down, whichever comes first.
    fileprivate static func streamed(
        to request: Request,
        _ produce: @escaping @Sendable (inout any BodyWriter) async throws -> Void
    ) -> ResponseBody {
        ResponseBody { writer in
            let socket = SocketWriter(writer: writer)
            let end = WakeSignal()
            do {
                // Only this notices that the client went away while nothing is
                // written.
                try await request.body.consumeWithInboundCloseHandler { _ in
                    try await run(produce, into: socket, until: end)
                } onInboundClosed: {
                    end.raise()
                }
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
        into socket: SocketWriter, until end: WakeSignal
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

/// Writes to the connection.
///
/// Unchecked, because Hummingbird's writer is not marked Sendable: one task has
/// it at a time, the producer's, and then the one that waited for its end.
private struct SocketWriter: BodyWriter, @unchecked Sendable {
    var writer: any ResponseBodyWriter

    mutating func write(_ bytes: [UInt8]) async throws {
        try await writer.write(ByteBuffer(bytes: bytes))
    }
}
