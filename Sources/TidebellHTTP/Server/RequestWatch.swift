// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import NIOHTTPTypes
import TidebellCore
import TidebellWire

/// Watches one connection: how long its requests take to arrive, how long it is idle, and
/// what comes of a body that nobody wants any more.
///
/// A request that is answered before its body has come ends the connection, unless little
/// is missing: the rest is thrown away for a moment, since closing at once would take the
/// answer from a client that still sends (RFC 9112, 9.6).
final class RequestWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How long the rest of an unwanted body is thrown away.
    private static let lingerTime = TimeAmount.seconds(5)
    /// The rest of an unwanted body that a connection outlives.
    private static let smallRest = 64 * 1024

    private enum Phase {
        /// Between two requests, or before the first.
        case idle
        /// A request comes.
        case receiving
        /// A request has come; the answer is under way.
        case answering
        /// The answer is sent; what still comes is thrown away, then the connection closes.
        case lingering
        /// There is no place for this connection: it is told so, and closes.
        case refused(Connections.Refusal)
    }

    private let connections: Connections
    private let limits: ShareLimits
    private let metrics: HTTPMetrics

    private var connection: Connection?
    private var phase = Phase.idle
    private var deadline = NIODeadline.distantFuture
    private var timer: (task: Scheduled<Void>, at: NIODeadline)?
    private var begin = NIODeadline.now()
    private var received = 0
    /// What the head says the body has; nil for chunks.
    private var announced: Int?
    private var unanswered = 0
    private var answerHasBegun = false
    private var closesAfterAnswer = false

    init(_ connections: Connections, shares: Shares) {
        self.connections = connections
        limits = shares.limits
        metrics = shares.metrics
    }

    // MARK: Beginning and end

    func handlerAdded(context: ChannelHandlerContext) {
        let connection = Connection(context.channel)
        self.connection = connection
        if let refusal = connections.open(connection) {
            phase = .refused(refusal)
            expect(by: .now() + TimeAmount(limits.refusalTime), context)
        } else {
            expect(by: .now() + idleTime, context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.task.cancel()
        timer = nil
        if let connection { connections.closed(connection) }
        connection = nil
    }

    private var idleTime: TimeAmount {
        .init(connection?.isFromUser == true ? limits.idleTime : limits.strangersIdleTime)
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch phase {
        case .lingering:
            if case .end = part { context.close(promise: nil) }
            return
        case .refused(let refusal):
            if case .head = part { refuse(refusal, context) }
            return
        case .idle, .receiving, .answering: break
        }
        switch part {
        case .head(let head):
            phase = .receiving
            unanswered += 1
            received = 0
            announced = head.headerFields[.contentLength].flatMap { Int($0) }
            begin = .now()
            connection?.becameBusy()
        case .body(let bytes):
            received += bytes.readableBytes
        case .end:
            phase = .answering
            deadline = .distantFuture
            connection?.requestIsWhole()
        }
        context.fireChannelRead(data)
        if case .end = part, unanswered == 0 { becomeIdle(context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most requests come whole and need no timer.
        if case .receiving = phase { expect(by: bodyDeadline, context) }
        context.fireChannelReadComplete()
    }

    private var bodyDeadline: NIODeadline {
        let seconds = Int64(received / max(1, limits.leastBodyRate))
        return begin + TimeAmount(limits.bodyTime) + .seconds(seconds)
    }

    // MARK: Answers

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where head.status.kind != .informational:
            answerHasBegun = true
            guard case .receiving = phase, unanswered == 1, !isRestSmall else { break }
            closesAfterAnswer = true
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
            return
        case .end:
            unanswered -= 1
            answerHasBegun = false
            let sent = promise ?? context.eventLoop.makePromise()
            context.write(data, promise: sent)
            if closesAfterAnswer {
                linger(context)
            } else {
                // Who reads slowly is not idle; `UnreadTimeout` ends who does not read at all.
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                sent.futureResult.whenSuccess { bound.value.0.answerIsSent(bound.value.1) }
            }
            return
        case .head, .body: break
        }
        context.write(data, promise: promise)
    }

    private func answerIsSent(_ context: ChannelHandlerContext) {
        // The next request may have begun meanwhile.
        guard unanswered == 0, case .answering = phase else { return }
        becomeIdle(context)
    }

    /// Whether what is missing of the request is soon there.
    private var isRestSmall: Bool {
        guard let announced else { return false }
        return announced - received <= Self.smallRest
    }

    private func becomeIdle(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        phase = .idle
        connection?.becameIdle(at: now)
        expect(by: now + idleTime, context)
    }

    private func linger(_ context: ChannelHandlerContext) {
        phase = .lingering
        context.flush()
        context.close(mode: .output, promise: nil)
        expect(by: .now() + Self.lingerTime, context)
    }

    // MARK: Refusals

    private func refuse(_ refusal: Connections.Refusal, _ context: ChannelHandlerContext) {
        let reason =
            switch refusal {
            case .full: "the server has no place for more connections now"
            case .tooManyFromAddress(let count):
                "the server has \(count) connections from your address already"
            }
        let seconds = 5
        let error = WireError(.tryAgainLater, reason, retryAfter: Double(seconds))
        let body = JSONWriter.write(capacity: 256) { error.write(to: &$0) }
        let fields: HTTPFields = [
            .connection: "close", .retryAfter: "\(seconds)",
            .contentType: "application/json; charset=UTF-8", .contentLength: "\(body.count)",
        ]
        send(.init(status: .serviceUnavailable, headerFields: fields), body, context)
        linger(context)
    }

    private func send(
        _ head: HTTPResponse, _ body: [UInt8], _ context: ChannelHandlerContext
    ) {
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !body.isEmpty {
            context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    // MARK: Time

    /// Has ``timeIsUp(_:)`` called at a moment, unless another one is said before.
    private func expect(by moment: NIODeadline, _ context: ChannelHandlerContext) {
        deadline = moment
        if let timer {
            // A later deadline is looked up when the earlier one has come.
            guard moment < timer.at else { return }
            timer.task.cancel()
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(deadline: moment) {
            let (watch, context) = bound.value
            watch.timeIsUp(context)
        }
        timer = (task, moment)
    }

    private func timeIsUp(_ context: ChannelHandlerContext) {
        timer = nil
        // A request under way has no deadline; the next one arms it again.
        guard deadline != .distantFuture else { return }
        guard deadline <= .now() else { return expect(by: deadline, context) }
        switch phase {
        case .receiving where unanswered == 1 && !answerHasBegun:
            metrics.refused(.bodyTime)
            send(
                .init(
                    status: .requestTimeout,
                    headerFields: [.connection: "close", .contentLength: "0"]
                ), [], context
            )
            context.close(promise: nil)
        case .receiving:
            metrics.refused(.bodyTime)
            context.close(promise: nil)
        case .idle, .lingering, .refused: context.close(promise: nil)
        case .answering: break
        }
    }
}

@available(*, unavailable)
extension RequestWatch: Sendable {}
