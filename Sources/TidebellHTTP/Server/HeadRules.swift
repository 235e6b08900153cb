// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// What the heads of requests must keep to beyond the parser's rules; and makes requests of
/// HTTP/1.0 such as HTTP/1.1 has them, which the rest of the server takes them for; their answers end with
/// the connection, since those clients know no chunks (RFC 9112, 6.1).
///
/// It stands before the codec, behind which nobody knows the version. Where a head leaves open
/// how its body ends, what follows is no request either: the connection ends.
final class HeadRules: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// How many requests came, and how many were answered.
    private var (requests, answers) = (0, 0)
    /// The number of the request of HTTP/1.0, which is a connection's last.
    private var last: Int?
    /// What was wrong with a head; nothing is read after it.
    private var broken: HTTPParserError?

    /// Adds the rules to a connection that has its codec already.
    static func apply(in pipeline: ChannelPipeline.SynchronousOperations) {
        do {
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(HeadRules(), position: .before(codec))
        } catch {
            preconditionFailure("a connection's codec is there before its watch: \(error)")
        }
    }

    /// Whether the answer that is sent next, or is being sent, may come in chunks.
    var nextAnswerHasChunks: Bool { answers + 1 != last }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if let broken {
            // Dropped, as the parser drops bytes after an error of its own.
            guard case .body(let bytes) = part else { return }
            let rest = ByteToMessageDecoderError.dataReceivedInErrorState(broken, bytes)
            return context.fireErrorCaught(rest)
        }
        guard last == nil || requests == last else { return }
        guard case .head(var head) = part else { return context.fireChannelRead(data) }
        requests += 1
        guard last == nil else { return }
        if let error = Self.error(in: head) {
            broken = error
            return context.fireErrorCaught(error)
        }
        guard head.version == .http1_0 else { return context.fireChannelRead(data) }
        // Its clients do not know 100 (Continue) and would take it for the answer (RFC 9110,
        // 10.1.1).
        head.headers.remove(name: "expect")
        // Only HTTP/1.1 demands a host (RFC 9112, 3.2).
        if !head.headers.contains(name: "host") { head.headers.add(name: "host", value: "") }
        head.headers.replaceOrAdd(name: "connection", value: "close")
        last = requests
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where answers + 1 == last:
            head.version = .http1_0
            head.headers.remove(name: "transfer-encoding")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            answers += 1
            context.write(data, promise: promise)
        default: context.write(data, promise: promise)
        }
    }

    private static func error(in head: HTTPRequestHead) -> HTTPParserError? {
        // A proxy that knows no transfer codings passes on a body of another length (RFC 9112,
        // 6.1).
        if (head.version.major, head.version.minor) < (1, 1),
            head.headers.contains(name: "transfer-encoding")
        {
            return .invalidVersion
        }
        // The parser reads lengths of 64 bits, of which `Int` uses one for the sign.
        let isLength = head.headers["content-length"].allSatisfy { Int($0) != nil }
        return isLength ? nil : .invalidContentLength
    }
}

@available(*, unavailable)
extension HeadRules: Sendable {}
