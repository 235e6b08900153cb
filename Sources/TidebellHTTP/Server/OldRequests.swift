// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Makes requests of HTTP/1.0 such as HTTP/1.1 has them, which the rest of the server takes them for.
///
/// `Expect` goes: its clients do not know 100 (Continue) and would take it for the answer
/// (RFC 9110, 10.1.1). Who names no host gets an empty `Host`, which only HTTP/1.1 demands
/// (RFC 9112, 3.2).
///
/// It stands before the codec, behind which nobody knows the version.
final class OldRequests: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Begins to, on a connection of which the codec is there already.
    static func adapt(in pipeline: ChannelPipeline.SynchronousOperations) {
        do {
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(OldRequests(), position: .before(codec))
        } catch {
            preconditionFailure("a connection's codec is there before its watch: \(error)")
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), head.version == .http1_0
        else { return context.fireChannelRead(data) }
        head.headers.remove(name: "expect")
        if !head.headers.contains(name: "host") { head.headers.add(name: "host", value: "") }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}

@available(*, unavailable)
extension OldRequests: Sendable {}
