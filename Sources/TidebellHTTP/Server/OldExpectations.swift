// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Takes `Expect` from requests of HTTP/1.0, whose clients do not know 100 (Continue) and would take it
/// for the answer (RFC 9110, 10.1.1).
///
/// It stands before the codec, behind which nobody knows the version.
final class OldExpectations: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Begins to, on a connection of which the codec is there already.
    static func ignore(in pipeline: ChannelPipeline.SynchronousOperations) {
        do {
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(OldExpectations(), position: .before(codec))
        } catch {
            preconditionFailure("a connection's codec is there before its watch: \(error)")
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), head.version == .http1_0,
            head.headers.contains(name: "expect")
        else { return context.fireChannelRead(data) }
        head.headers.remove(name: "expect")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}

@available(*, unavailable)
extension OldExpectations: Sendable {}
