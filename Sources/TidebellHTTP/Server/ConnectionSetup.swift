// SPDX-License-Identifier: Apache-2.0
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Puts the handlers of the API on each connection that Hummingbird's server accepts.
///
/// The server accepts, and stops accepting; what becomes of a connection is decided by its
/// handlers, on its event loop, so that one that is idle holds no task.
struct ConnectionSetup: ServerChildChannel {
    /// A channel keeps a buffer for its next read, as large as what came, and at first for what most
    /// requests need: NIO's own begins with twice as much of each connection that waits.
    private static let readBuffers = AdaptiveRecvByteBufferAllocator(
        minimum: 64, initial: 1024, maximum: 64 * 1024)

    /// A connection that has its handlers.
    struct Accepted: ServerChildChannelValue {
        let channel: any Channel
    }

    let responder: SocketResponder
    let connections: Connections
    let underway: Underway
    let shares: Shares
    /// What connections are encrypted with; nil for plain HTTP.
    let tls: TLSCertificates?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Accepted> {
        channel.eventLoop.makeCompletedFuture {
            var bounds = NIOHTTPDecoderLimitConfiguration()
            bounds.maxHeaderFieldSize = shares.limits.headBytes
            bounds.maxHeaderListSize = shares.limits.headBytes
            bounds.maxHeaderFieldCount = RequestWatch.headFields
            let connection = Connection(channel, proxies: shares.limits.trustedProxies)
            let pipeline = channel.pipeline.syncOperations
            try channel.syncOptions?.setOption(.recvAllocator, value: Self.readBuffers)
            // Its own answers to errors know none of our reasons, its queue of requests is
            // `RequestQueue`, and HTTPTypes has looked at the headers.
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false,
                withOutboundHeaderValidation: false, withEncoderConfiguration: .init(),
                withDecoderLimitConfiguration: bounds)
            try pipeline.addHandlers([
                HTTP1ToHTTPServerCodec(secure: false),
                RequestWatch(connection, among: connections, shares: shares, tls: tls),
                RequestQueue(connection, responder: responder, underway: underway),
            ])
            return Accepted(channel: channel)
        }
    }

    /// Returns at once: nothing waits for a connection but ``Underway``.
    func handle(value: Accepted, logger: Logger) async {}
}
