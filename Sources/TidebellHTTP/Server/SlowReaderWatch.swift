// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import TidebellWire

/// Closes a connection whose client takes its answers too slowly
/// (``ShareLimits/leastAnswerRate``), or takes nothing, or has gone silently
/// (``ShareLimits/answerTime``).
///
/// The rate is looked at only while something waits that the system has not taken, so answers that
/// fit into the system's buffers cost no timer. The system itself closes a connection of which
/// nothing that was sent is acknowledged (`TCP_USER_TIMEOUT`, RFC 5482), also where all of an
/// answer fits into its buffers.
///
/// It is the last before the socket, where bytes are counted as they are sent.
final class SlowReaderWatch: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    #if os(Linux)
        /// `TCP_USER_TIMEOUT` of `<linux/tcp.h>`, which Glibc's module lacks.
        private static let userTimeout = NIOBSDSocket.Option(rawValue: 18)
        /// `TCP_NOTSENT_LOWAT`, likewise.
        private static let notSentBound = NIOBSDSocket.Option(rawValue: 25)
    #endif
    /// What the system keeps of an answer that is not on its way yet; it asks for more when half of
    /// it has gone. Without a bound it takes megabytes at a time, and a steady reader seems to take
    /// nothing for minutes.
    private static let notSentBytes = 32 * 1024

    private let limits: ShareLimits
    private let metrics: HTTPMetrics
    /// Bytes sent in all, and since the last flush.
    private var sent = 0
    private var unflushed = 0
    private var timer: Scheduled<Void>?
    /// What was taken when the time began in which the client has to take enough, and its end.
    private var window = (taken: 0, end: NIODeadline.distantFuture)

    private init(_ limits: ShareLimits, _ metrics: HTTPMetrics) {
        self.limits = limits
        self.metrics = metrics
    }

    /// Begins to watch a connection.
    static func begin(
        in pipeline: ChannelPipeline.SynchronousOperations, _ limits: ShareLimits,
        _ metrics: HTTPMetrics
    ) {
        do {
            try pipeline.addHandler(SlowReaderWatch(limits, metrics), position: .first)
        } catch {
            preconditionFailure("a connection that opens takes handlers: \(error)")
        }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        #if os(Linux)
            let milliseconds = Int(limits.answerTime.components.seconds) * 1000
            let options = [
                (Self.userTimeout, milliseconds), (Self.notSentBound, Self.notSentBytes),
            ]
            for (name, value) in options {
                // A system that does not know an option is one without it.
                context.channel.setOption(
                    ChannelOptions.Types.SocketOption(level: .tcp, name: name), value: value
                ).whenFailure { _ in }
            }
        #endif
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        let count = unwrapOutboundIn(data).readableBytes
        sent += count
        unflushed += count
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        let waiting = waitingBytes(context)
        // All that was sent before has been taken.
        if waiting <= unflushed { beginWindow(waiting) }
        unflushed = 0
        if waiting > 0, timer == nil { look(at: window.end, context) }
    }

    private func beginWindow(_ waiting: Int) {
        window = (sent - waiting, .now() + TimeAmount(limits.answerTime))
    }

    /// The bytes that the system has not taken yet.
    private func waitingBytes(_ context: ChannelHandlerContext) -> Int {
        // A channel that does not answer has no system below it.
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    private func look(at moment: NIODeadline, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(deadline: moment) {
            let (watch, context) = bound.value
            watch.timeIsUp(context)
        }
    }

    private func timeIsUp(_ context: ChannelHandlerContext) {
        timer = nil
        let waiting = waitingBytes(context)
        guard waiting > 0 else { return }
        if window.end <= .now() {
            guard sent - waiting - window.taken >= leastBytes else {
                metrics.refused(.leastAnswerRate)
                return context.close(promise: nil)
            }
            beginWindow(waiting)
        }
        look(at: window.end, context)
    }

    /// What a client takes at least in ``ShareLimits/answerTime``.
    private var leastBytes: Int {
        let (seconds, attoseconds) = limits.answerTime.components
        let part = Double(attoseconds) / 1e18
        return max(1, Int((Double(seconds) + part) * Double(limits.leastAnswerRate)))
    }
}

@available(*, unavailable)
extension SlowReaderWatch: Sendable {}
