// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Hands what is written to a connection in one turn of its event loop to the system together.
///
/// AsyncHTTPClient flushes each request by itself. Under load many begin in one turn, and each would be
/// a system call and a packet of its own.
final class TurnFlush: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Whether what was written waits for the end of the turn.
    private var isDue = false

    func flush(context: ChannelHandlerContext) {
        guard !isDue else { return }
        isDue = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        // Behind all that waits for the loop now, and before it waits for the network again.
        context.eventLoop.execute { bound.value.0.flushNow(bound.value.1) }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        flushNow(context)
        context.close(mode: mode, promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) { isDue = false }

    private func flushNow(_ context: ChannelHandlerContext) {
        guard isDue else { return }
        isDue = false
        context.flush()
    }
}

@available(*, unavailable)
extension TurnFlush: Sendable {}
