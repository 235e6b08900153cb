// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL
import NIOHTTPTypes
import TidebellCore
import TidebellWire

/// Watches one connection: how long its requests take to arrive, how long it is idle, and
/// what comes of a body that nobody wants any more.
///
/// A request that is answered before its body has come ends the connection, unless little is
/// missing, or a user's client sends it: the rest is thrown away for a while, since closing at
/// once would take the answer from a client that still sends (RFC 9112, 9.6).
///
/// A client that asks first (`Expect: 100-continue`) gets `100 Continue` when somebody reads
/// the body, ``WantsBody``; until then it may be refused, which costs it no upload.
final class RequestWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Sent on the channel by the reader of the body of the request that comes.
    struct WantsBody: Sendable {}

    /// Sent up the channel when no further request is answered: what still comes is thrown away.
    struct IsOver: Sendable {}

    /// Fields of the head of a request.
    static let headFields = 1000
    /// How many bytes of an unwanted body, or head, are thrown away: the longest file of a web client.
    private static let lingerBytes = 64 << 20
    /// The rest of an unwanted body that a stranger's connection outlives.
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
        /// There is no slot for this connection: it gets an answer which states that, and closes.
        case refused(Connections.Refusal)
        /// There is not even a slot for that answer.
        case turnedAway
    }

    private let connections: Connections
    /// What the connection is encrypted with; nil for plain HTTP.
    private let tls: TLSCertificates?
    private let limits: ShareLimits
    private let metrics: HTTPMetrics

    /// Nil once it has closed.
    private var connection: Connection?
    private var phase = Phase.idle
    private var deadline = NIODeadline.distantFuture
    private var timer: (task: Scheduled<Void>, at: NIODeadline)?
    private var begin = NIODeadline.now()
    private var received = 0
    /// The length of the body that the head announces; nil for chunks.
    private var announced: Int?
    private var unanswered = 0
    private var answerHasBegun = false
    private var closesAfterAnswer = false
    /// Whether the client waits for `100 Continue` before it sends its body.
    private var awaitsContinue = false
    /// Whether the client sends nothing more.
    private var inputIsClosed = false
    /// Whether what comes cannot be read as requests any more.
    private var isUnreadable = false
    /// When throwing away ends at the latest, what was thrown away, and the answer's sending.
    private var lingering: (end: NIODeadline, bytes: Int, sent: EventLoopFuture<Void>)?

    init(
        _ connection: Connection, among connections: Connections, shares: Shares,
        tls: TLSCertificates? = nil
    ) {
        self.connection = connection
        self.connections = connections
        self.tls = tls
        limits = shares.limits
        metrics = shares.metrics
    }

    // MARK: Beginning and end

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        HeadRules.apply(in: pipeline)
        if let tls {
            do {
                try pipeline.addHandler(NIOSSLServerHandler(context: tls.current), position: .first)
            } catch {
                // It closed before it was open: nothing is said in the clear.
                connection = nil
                return context.close(promise: nil)
            }
        }
        SlowReaderWatch.begin(in: pipeline, limits, metrics)
        guard let connection else { return }
        switch connections.open(connection) {
        case .served: expect(by: .now() + idleTime, context)
        case .refused(let refusal):
            phase = .refused(refusal)
            expect(by: .now() + TimeAmount(limits.refusalTime), context)
        case .turnedAway:
            phase = .turnedAway
            // The channel may still be on its way to its loop; then this is its first deadline.
            expect(by: .now(), context)
        }
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        if case .turnedAway = phase { context.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.task.cancel()
        timer = nil
        if let connection {
            connections.closed(connection)
            connection.presence.leave()
        }
        connection = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent {
            inputIsClosed = true
            connection?.presence.leave()
            closeWhenSent(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    private var idleTime: TimeAmount {
        .init(connection?.isFromUser == true ? limits.idleTime : limits.strangersIdleTime)
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch phase {
        case .lingering: return throwAway(part, context)
        case .turnedAway: return
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
            awaitsContinue = head.headerFields[.expect]?.isSameName(as: "100-continue") ?? false
            connection?.becameBusy()
        case .body(let bytes):
            received += bytes.readableBytes
            awaitsContinue = false
        case .end:
            phase = .answering
            deadline = .distantFuture
        }
        context.fireChannelRead(data)
        if case .end = part, unanswered == 0 { becomeIdle(context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most requests come whole and need no timer.
        if case .receiving = phase { expect(by: bodyDeadline, context) }
        context.fireChannelReadComplete()
        // No other handler asks for bytes that are thrown away.
        if case .lingering = phase, !inputIsClosed { context.read() }
    }

    private var bodyDeadline: NIODeadline {
        let seconds = Int64(received / max(1, limits.leastBodyRate))
        return begin + TimeAmount(limits.bodyTime) + .seconds(seconds)
    }

    // MARK: Answers

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard event is WantsBody else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        promise?.succeed()
        guard awaitsContinue, case .receiving = phase, !answerHasBegun else { return }
        awaitsContinue = false
        begin = .now()
        expect(by: bodyDeadline, context)
        context.writeAndFlush(wrapOutboundOut(.head(.init(status: .continue))), promise: nil)
    }

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        // The request was answered here.
        if case .lingering = phase { return promise?.fail(ChannelError.outputClosed) ?? () }
        switch unwrapOutboundIn(data) {
        case .head(var head) where head.status.kind != .informational:
            answerHasBegun = true
            guard isLast(head) else { break }
            closesAfterAnswer = true
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
            return
        case .end:
            unanswered -= 1
            answerHasBegun = false
            let sent = promise ?? context.eventLoop.makePromise()
            // The answer counts until the system has taken it.
            let held = connection?.takeHeld() ?? []
            if !held.isEmpty {
                sent.futureResult.whenComplete { _ in withExtendedLifetime(held) {} }
            }
            context.write(data, promise: sent)
            // Below zero it is that to a request that could not be read.
            if closesAfterAnswer || isUnreadable && unanswered < 0 {
                linger(after: sent.futureResult, context)
            } else {
                // A slow reader is not idle; `SlowReaderWatch` closes those that are too slow.
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                sent.futureResult.whenSuccess { bound.value.0.answerIsSent(bound.value.1) }
            }
            return
        case .head, .body: break
        }
        context.write(data, promise: promise)
    }

    /// Whether no request may follow an answer.
    private func isLast(_ head: HTTPResponse) -> Bool {
        // What seems to be the end of a body in an unknown coding may be none (RFC 9112, 6.1).
        if head.status == .notImplemented { return true }
        guard case .receiving = phase, unanswered == 1 else { return false }
        // A client that got no `100 Continue` may send another request instead of the body.
        return awaitsContinue || !outlivesRest
    }

    private func answerIsSent(_ context: ChannelHandlerContext) {
        // The next request may have begun meanwhile.
        guard unanswered == 0, case .answering = phase else { return }
        becomeIdle(context)
    }

    /// Whether the connection outlives what is missing of the request.
    private var outlivesRest: Bool {
        guard let announced else { return false }
        // NB: an HTTP client that has queued all of a body and learns that the connection ends may
        // close it at once, and report its own broken request instead of the answer.
        let bound = connection?.isFromUser == true ? Self.lingerBytes : Self.smallRest
        return announced - received <= bound
    }

    private func becomeIdle(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        phase = .idle
        connection?.becameIdle(at: now)
        expect(by: now + idleTime, context)
    }

    /// Closes the connection as soon as the client has sent the rest of its body, or takes
    /// too long for it.
    private func linger(after sent: EventLoopFuture<Void>, _ context: ChannelHandlerContext) {
        phase = .lingering
        lingering = (.now() + TimeAmount(limits.lingerTime), 0, sent)
        context.fireUserInboundEventTriggered(IsOver())
        context.flush()
        if inputIsClosed { return closeWhenSent(context) }
        context.close(mode: .output, promise: nil)
        expect(by: .now() + TimeAmount(limits.lingerPause), context)
        context.read()
    }

    private func throwAway(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        guard let end = lingering?.end else { return }
        switch part {
        case .head: break
        case .body(let piece):
            lingering?.bytes += piece.readableBytes
            guard lingering.map({ $0.bytes <= Self.lingerBytes }) ?? false else {
                return context.close(promise: nil)
            }
            expect(by: min(end, .now() + TimeAmount(limits.lingerPause)), context)
        case .end: closeWhenSent(context)
        }
    }

    /// Closes a lingering connection whose client sends nothing more.
    private func closeWhenSent(_ context: ChannelHandlerContext) {
        guard case .lingering = phase, let sent = lingering?.sent else { return }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        sent.whenComplete { _ in bound.value.close(promise: nil) }
    }

    // MARK: Requests that cannot be read

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch (error, phase) {
        case (ByteToMessageDecoderError.dataReceivedInErrorState(_, let bytes), _):
            if case .lingering = phase { throwAway(.body(bytes), context) }
        case (let error as HTTPParserError, .idle): refuse(error, context)
        case (is HTTPParserError, .refused(let refusal)): refuse(refusal, context)
        default:
            // The answers to the requests before it come first.
            isUnreadable = isUnreadable || error is HTTPParserError
            context.fireErrorCaught(error)
        }
    }

    /// Answers a head that is too long, or none. Whoever sends it may read only when all is
    /// sent, so the rest is thrown away as that of a body.
    private func refuse(_ error: HTTPParserError, _ context: ChannelHandlerContext) {
        guard case .headerOverflow = error else {
            let answer = WireError.badRequest("this is not an HTTP request: \(error)")
            return sendLast(.badRequest, answer, context)
        }
        metrics.refused(.headBytes)
        let answer = WireError.badRequest(
            "the head of a request has at most \(limits.headBytes) bytes and "
                + "\(Self.headFields) fields"
        ).naming(.headBytes)
        sendLast(.requestHeaderFieldsTooLarge, answer, context)
    }

    // MARK: Refusals

    private func refuse(_ refusal: Connections.Refusal, _ context: ChannelHandlerContext) {
        let (reason, bound) =
            switch refusal {
            case .full:
                ("the server has no room for more connections now", WireError.Bound.connections)
            case .tooManyFromAddress(let count):
                (
                    "the server has \(count) connections from your address already",
                    .connectionsPerAddress
                )
            }
        let seconds = 5
        let error = WireError(.tryAgainLater, reason, retryAfter: Double(seconds)).naming(bound)
        sendLast(.serviceUnavailable, error, with: [.retryAfter: "\(seconds)"], context)
    }

    private func sendLast(
        _ status: HTTPResponse.Status, _ error: WireError, with more: HTTPFields = [:],
        _ context: ChannelHandlerContext
    ) {
        let body = JSONWriter.write(capacity: 256) { error.write(to: &$0) }
        var fields = more
        fields[.connection] = "close"
        fields[.contentType] = "application/json; charset=UTF-8"
        fields[.contentLength] = "\(body.count)"
        sendLast(.init(status: status, headerFields: fields), body, context)
    }

    /// Sends an answer of this handler, which is the connection's last one.
    private func sendLast(
        _ head: HTTPResponse, _ body: [UInt8], _ context: ChannelHandlerContext
    ) {
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !body.isEmpty {
            context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil)
        }
        let sent = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
        linger(after: sent.futureResult, context)
    }

    // MARK: Time

    /// Has ``timeIsUp(_:)`` called at a moment, unless another one is set before.
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
            let seconds = limits.bodyTime.components.seconds
            let answer = WireError.badRequest(
                "the request did not arrive in \(seconds) s and 1 s for each "
                    + "\(limits.leastBodyRate) bytes"
            ).naming(.bodyTime)
            sendLast(.requestTimeout, answer, context)
        case .receiving:
            metrics.refused(.bodyTime)
            context.close(promise: nil)
        case .idle, .lingering, .refused, .turnedAway: context.close(promise: nil)
        case .answering: break
        }
    }
}

@available(*, unavailable)
extension RequestWatch: Sendable {}
