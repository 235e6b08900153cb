// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1

/// Sends a feed to its connection, on the connection's event loop: woken when there is something, and
/// holding no task but while the feed prepares.
final class FeedSender {
    /// Bytes on their way to the connection before the system has to take them: what a client that
    /// reads slowly has not taken waits where newer notifications replace it.
    private static let bytesAhead = 32 * 1024
    /// The digits of a chunk's length, and its two line ends.
    private static let chunkFrame = 20

    private let underway: Underway
    private let context: ChannelHandlerContext
    /// Where bytes are written that have their chunks' frames: NIO's own take three writes of a chunk,
    /// and three promises where it has to be known when they are sent.
    private let encoder: ChannelHandlerContext
    private let isChunked: Bool
    private let onEnd: (End) -> Void

    /// How a feed ends by itself.
    enum End {
        case complete
        case failed
    }

    private var feed: (any Feed)?
    private var ahead = 0
    /// Whether the system has to take what is on its way, or the feed to prepare, before it goes on.
    private var isWaiting = false
    private var isSending = false
    private var preparation: Task<Void, Never>?

    /// - Parameters:
    ///   - context: Of the last handler of the connection.
    ///   - onEnd: Called when the feed ends by itself.
    init(
        _ feed: any Feed, on context: ChannelHandlerContext, underway: Underway,
        onEnd: @escaping (End) -> Void
    ) throws {
        let pipeline = context.pipeline.syncOperations
        self.feed = feed
        self.context = context
        self.underway = underway
        self.onEnd = onEnd
        encoder = try pipeline.context(handlerType: HTTPResponseEncoder.self)
        isChunked = try pipeline.handler(type: HeadRules.self).nextAnswerHasChunks
    }

    /// Sends what there is, and what comes, until ``end()``.
    func begin() {
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        feed?.follow { bound.eventLoop.execute { bound.value.send() } }
        send()
    }

    /// Lets go of the feed.
    func end() {
        feed = nil
        preparation?.cancel()
    }

    private func send() {
        // What the system takes at once calls back before its write returns.
        guard !isSending else { return }
        isSending = true
        defer { isSending = false }
        while !isWaiting, let step = feed?.take() {
            switch step {
            case .pieces(let pieces):
                write(pieces)
                feed?.wasSent()
            case .unprepared: prepare()
            case .nothing: return
            case .ended: return finish(.complete)
            }
        }
    }

    private func write(_ pieces: [[UInt8]]) {
        let count = pieces.reduce(0) { $0 + $1.count }
        var bytes = context.channel.allocator.buffer(capacity: count + Self.chunkFrame)
        if isChunked {
            bytes.writeString(String(count, radix: 16))
            bytes.writeStaticString("\r\n")
        }
        for piece in pieces { bytes.writeBytes(piece) }
        if isChunked { bytes.writeStaticString("\r\n") }
        ahead += count
        guard ahead >= Self.bytesAhead else {
            return encoder.writeAndFlush(NIOAny(IOData.byteBuffer(bytes)), promise: nil)
        }
        isWaiting = true
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let taken = context.eventLoop.makePromise(of: Void.self)
        // A write fails when the connection has closed, which ends the feed by itself.
        taken.futureResult.whenSuccess { bound.value.goOn() }
        encoder.writeAndFlush(NIOAny(IOData.byteBuffer(bytes)), promise: taken)
    }

    private func goOn() {
        ahead = 0
        isWaiting = false
        send()
    }

    private func prepare() {
        guard var feed else { return }
        isWaiting = true
        underway.begin()
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        preparation = Task(executorPreference: LoopExecutor(context.eventLoop)) { [underway] in
            do {
                try await feed.prepare()
                let prepared = feed
                bound.eventLoop.execute { bound.value.isPrepared(prepared) }
            } catch {
                bound.eventLoop.execute { bound.value.finish(.failed) }
            }
            underway.end()
        }
    }

    private func isPrepared(_ prepared: any Feed) {
        guard feed != nil else { return }
        feed = prepared
        preparation = nil
        isWaiting = false
        send()
    }

    private func finish(_ end: End) {
        guard feed != nil else { return }
        feed = nil
        onEnd(end)
    }
}

@available(*, unavailable)
extension FeedSender: Sendable {}
