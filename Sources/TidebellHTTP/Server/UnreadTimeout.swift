// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore

/// Has the system close a connection whose client is gone without a word, or has
/// stopped reading: `TCP_USER_TIMEOUT` (RFC 5482). It costs no timer of ours.
///
/// Without it a write to such a client waits until the retransmissions give up,
/// about a quarter of an hour, and to a stopped one for ever.
final class UnreadTimeout: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    #if os(Linux)
        /// `TCP_USER_TIMEOUT` of `<linux/tcp.h>`, which Glibc's module lacks.
        private static let option = NIOBSDSocket.Option(rawValue: 18)
    #endif
    private let milliseconds: Int

    init(_ timeout: Duration) {
        milliseconds = Int(timeout.components.seconds) * 1000
    }

    func handlerAdded(context: ChannelHandlerContext) {
        #if os(Linux)
            // A system that does not know the option is one without the timeout.
            context.channel.setOption(
                ChannelOptions.Types.SocketOption(level: .tcp, name: Self.option),
                value: milliseconds
            ).whenFailure { _ in }
        #endif
    }
}
