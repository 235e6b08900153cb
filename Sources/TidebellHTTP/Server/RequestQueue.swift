// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// The requests of one connection, answered one after another.
///
/// Each has a task that ends with it, so that a connection which waits for the next one holds no
/// task and none of the stacks that a task keeps. What comes behind a request that is being
/// answered waits here, and no more is read from the connection meanwhile.
///
/// An answer that is a feed has no task either, since thousands of them wait most of their life
/// (``FeedSender``).
///
/// All of it happens on the connection's event loop; what a task asks for comes by ``AnswerPath``.
final class RequestQueue: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Bytes of a body in memory that are handed to the connection at a time. One that is no longer
    /// goes with its head in one write.
    private static let pieceSize = 64 * 1024
    /// Pieces of them on their way to the system.
    private static let piecesAhead = 2

    /// What comes from the client, in order.
    private enum Arrival {
        case head(HTTPRequest)
        case body(ByteBuffer)
        case end
        /// What follows is no HTTP.
        case noRequest
        /// The client sends nothing more.
        case nothing
    }

    /// A request that is not answered yet, or has not come to its end.
    private struct Current {
        /// Nil once it is with its task: some answers have no end, and need no request.
        var head: HTTPRequest?
        let body: SocketBody
        var task: Task<Void, Never>?
        /// Whether no more of it comes.
        var hasCome = false
        var isAnswered = false
        /// Whether its answer has no end of its own.
        var isEndless = false
    }

    private let connection: Connection
    private let responder: SocketResponder
    private let underway: Underway

    private var context: ChannelHandlerContext?
    private var current: Current?
    /// What came behind the current request. Bounded: nothing is read while something waits here.
    private var waiting = CircularBuffer<Arrival>(initialCapacity: 0)
    /// Whether reading was asked for and put off.
    private var isReadHeld = false
    /// What is left of an answer that goes in pieces.
    private var rest: ByteBuffer?
    /// How many pieces are on their way, also of answers before.
    private var ahead = 0
    private var isSendingPieces = false
    /// What sends an answer that is a feed.
    private var feed: FeedSender?
    /// Done when the system has taken the last answer.
    private var lastAnswer: EventLoopFuture<Void>?
    /// Whether the current request is the connection's last.
    private var isLast = false
    /// Whether no request is taken any more.
    private var isOver = false
    /// Whether the server shuts down.
    private var isStopping = false

    init(_ connection: Connection, responder: SocketResponder, underway: Underway) {
        self.connection = connection
        self.responder = responder
        self.underway = underway
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        underway.begin()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        abandon()
        self.context = nil
        underway.end()
    }

    func channelInactive(context: ChannelHandlerContext) {
        abandon()
        context.fireChannelInactive()
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): arrived(.head(head))
        case .body(let bytes): arrived(.body(bytes))
        case .end: arrived(.end)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Not as soon as the head is there: behind it most bodies have come whole, and need no wait.
        begin()
        context.fireChannelReadComplete()
    }

    /// Reads no further while something waits for its turn, or for whoever reads a body.
    func read(context: ChannelHandlerContext) {
        guard waiting.isEmpty, current?.body.isFull() != true else {
            isReadHeld = true
            return
        }
        context.read()
    }

    private func arrived(_ arrival: Arrival) {
        guard !isOver else {
            // A client that was told to send no more: there would be no answer.
            if case .head = arrival { close(.all) }
            return
        }
        guard waiting.isEmpty, !isBusy else { return waiting.append(arrival) }
        take(arrival)
    }

    /// Whether what comes has to wait: for the answer to the current request, or for a client that has
    /// not taken the answers before. One that sends requests and reads nothing would have the server
    /// keep an answer for each.
    private var isBusy: Bool { current?.hasCome ?? (context?.channel.isWritable == false) }

    private func take(_ arrival: Arrival) {
        switch arrival {
        case .head(let head):
            current = Current(head: head, body: SocketBody(head, on: connection))
            isLast = head.headerFields[.connection]?.isSameName(as: "close") ?? false
        case .body(let bytes): current?.body.append(bytes)
        case .end: endRequest(.whole)
        case .noRequest where current == nil: refuse()
        case .nothing where current == nil: finish()
        case .noRequest, .nothing:
            isLast = true
            endRequest(.cutShort)
        }
    }

    /// Notes that no more comes of the current request.
    private func endRequest(_ end: SocketBody.End) {
        guard let request = current else { return }
        request.body.end(end)
        current?.hasCome = true
        if request.isAnswered { next() } else { begin() }
    }

    /// Begins to answer the current request.
    private func begin() {
        guard let context, let request = current, let head = request.head else { return }
        current?.head = nil
        underway.begin()
        let path = AnswerPath(self, on: context.eventLoop)
        // Whoever waits for it is on this loop: another thread would have to be woken twice.
        let executor = request.body.isShort ? LoopExecutor(context.eventLoop) : nil
        let task = Task(executorPreference: executor) { [responder, connection, underway] in
            await responder.answer(head, request.body, of: connection, on: path)
            underway.end()
        }
        current?.task = task
    }

    /// Goes on behind the request that was answered.
    private func next() {
        current = nil
        guard !isLast else { return finish() }
        takeWaiting()
        if isStopping, current == nil { finish() }
    }

    private func takeWaiting() {
        while !isOver, !isBusy, let arrival = waiting.popFirst() { take(arrival) }
        begin()
        resumeReading()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, current == nil { takeWaiting() }
        context.fireChannelWritabilityChanged()
    }

    private func resumeReading() {
        guard isReadHeld, let context else { return }
        isReadHeld = false
        read(context: context)
    }

    /// Answers what is no HTTP; `RequestWatch` knows what follows from it.
    private func refuse() {
        guard let context else { return }
        let fields: HTTPFields = [.connection: "close", .contentLength: "0"]
        context.write(
            wrapOutboundOut(.head(HTTPResponse(status: .badRequest, headerFields: fields))),
            promise: nil)
        endAnswer()
        finish()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // What else goes wrong is the connection's end.
        if error is HTTPParserError { arrived(.noRequest) } else { context.close(promise: nil) }
    }

    // MARK: The end

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            endStream()
            arrived(.nothing)
        case is RequestWatch.IsOver: abandon()
        case is ChannelShouldQuiesceEvent:
            isStopping = true
            endStream()
            guard current == nil else { break }
            isOver = true
            close(.all)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Ends an answer that has no end of its own.
    private func endStream() {
        guard current?.isEndless == true else { return }
        guard let feed else { return current?.task?.cancel() ?? () }
        feed.end()
        self.feed = nil
        endAnswer()
    }

    /// Takes no more requests, and lets go of what is left of the current one.
    private func abandon() {
        isOver = true
        endStream()
        if let current, !current.hasCome { current.body.end(.cutShort) }
        current = nil
        waiting = CircularBuffer(initialCapacity: 0)
        rest = nil
    }

    /// Takes no more requests, and closes when the last answer is sent.
    private func finish() {
        guard !isOver else { return }
        abandon()
        close(isStopping ? .all : .output)
    }

    /// Closes when the last answer is sent; what the system has not taken would be lost otherwise.
    private func close(_ mode: CloseMode) {
        guard let context else { return }
        guard let lastAnswer else { return context.close(mode: mode, promise: nil) }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        lastAnswer.whenComplete { _ in bound.value.context?.close(mode: mode, promise: nil) }
    }

    // MARK: Answers

    /// Sends an answer that is in memory.
    fileprivate func send(
        _ head: HTTPResponse, _ body: ByteBuffer, counted share: BodyBytes.Share?
    ) {
        guard let context, !isOver else { return }
        if let share { connection.hold(share) }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        guard body.readableBytes > Self.pieceSize else {
            if body.readableBytes > 0 {
                context.write(wrapOutboundOut(.body(body)), promise: nil)
            }
            return endAnswer()
        }
        rest = body
        sendPieces()
    }

    /// Sends what is left of an answer, each piece when the system has taken the one before the
    /// last.
    private func sendPieces() {
        // What the system takes at once calls back before its write returns.
        guard let context, !isSendingPieces else { return }
        isSendingPieces = true
        defer { isSendingPieces = false }
        while ahead < Self.piecesAhead, let left = rest?.readableBytes {
            guard left > 0, let piece = rest?.readSlice(length: min(Self.pieceSize, left)) else {
                rest = nil
                return endAnswer()
            }
            ahead += 1
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            let taken = context.eventLoop.makePromise(of: Void.self)
            // One that is not has met the connection's end.
            taken.futureResult.whenSuccess { bound.value.pieceIsTaken() }
            context.writeAndFlush(wrapOutboundOut(.body(piece)), promise: taken)
        }
    }

    private func pieceIsTaken() {
        ahead -= 1
        sendPieces()
    }

    /// Sends an answer that is a feed, until that ends, the client goes, or the server shuts down.
    fileprivate func send(_ head: HTTPResponse, _ feed: any Feed) {
        guard let context, !isOver else { return }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        let sender: FeedSender
        do {
            sender = try FeedSender(feed, on: context, underway: underway) { [unowned self] end in
                self.feed = nil
                switch end {
                case .complete: endAnswer()
                case .failed: breakOff()
                }
            }
        } catch {
            preconditionFailure("a connection keeps its handlers while it is open: \(error)")
        }
        self.feed = sender
        current?.isEndless = true
        // It ends now. As long as it is known its stacks stay, which are most of what a device that
        // waits would cost.
        current?.task = nil
        sender.begin()
        if isStopping || connection.presence.hasLeft { endStream() }
    }

    /// Begins an answer that is produced while it is sent.
    fileprivate func beginAnswer(_ head: HTTPResponse, isEndless: Bool) {
        guard let context, !isOver else { return }
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        current?.isEndless = isEndless
        if isStopping || connection.presence.hasLeft { endStream() }
    }

    /// Sends a piece of it.
    fileprivate func send(_ piece: ByteBuffer, promise: EventLoopPromise<Void>) {
        guard let context, !isOver else { return promise.fail(ChannelError.ioOnClosedChannel) }
        context.writeAndFlush(wrapOutboundOut(.body(piece)), promise: promise)
    }

    /// Ends the answer to the current request.
    fileprivate func endAnswer() {
        guard let context, !isOver else { return }
        let sent = context.eventLoop.makePromise(of: Void.self)
        // Whoever reads nothing of a stream does not hold up the end of the server.
        lastAnswer = isStopping && current?.isEndless == true ? nil : sent.futureResult
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
        guard let request = current else { return }
        guard !request.hasCome else { return next() }
        // What still comes of the request is for nobody.
        current?.isAnswered = true
        request.body.drop()
        resumeReading()
    }

    /// Closes the connection, since the rest of an answer could not be produced: a client must not
    /// take the part for all.
    fileprivate func breakOff() { context?.close(promise: nil) }
}

@available(*, unavailable)
extension RequestQueue: Sendable {}

/// The way from a request's task to its connection.
struct AnswerPath: Sendable {
    private let queue: NIOLoopBound<RequestQueue>

    /// Creates the way to a queue, on its event loop.
    fileprivate init(_ queue: RequestQueue, on loop: any EventLoop) {
        self.queue = NIOLoopBound(queue, eventLoop: loop)
    }

    /// Sends an answer that is in memory, which counts for `share` until the system has taken it.
    func send(_ head: HTTPResponse, _ body: ByteBuffer, counted share: BodyBytes.Share?) {
        onLoop { $0.send(head, body, counted: share) }
    }

    /// Sends an answer that is a feed; the task need not wait for it.
    func send(_ head: HTTPResponse, _ feed: any Feed) {
        onLoop { $0.send(head, feed) }
    }

    /// Sends an answer while it is produced.
    ///
    /// - Parameter isEndless: Whether it has no end of its own: the task is cancelled when the
    ///   client goes, or the server shuts down.
    func send(
        _ head: HTTPResponse, isEndless: Bool,
        _ produce: @Sendable (inout any BodyWriter) async throws -> Void
    ) async {
        onLoop { $0.beginAnswer(head, isEndless: isEndless) }
        var writer: any BodyWriter = SentWriter(path: self)
        do {
            try await produce(&writer)
        } catch is CancellationError where isEndless {
            // All ways to be cancelled are a regular end of the stream.
        } catch {
            return onLoop { $0.breakOff() }
        }
        onLoop { $0.endAnswer() }
    }

    /// Sends a piece; done when the system has taken it.
    fileprivate func send(_ piece: ByteBuffer) -> EventLoopFuture<Void> {
        let taken = queue.eventLoop.makePromise(of: Void.self)
        onLoop { $0.send(piece, promise: taken) }
        return taken.futureResult
    }

    /// Runs `body` on the connection's event loop, at once where a task runs there.
    private func onLoop(_ body: @escaping @Sendable (RequestQueue) -> Void) {
        guard !queue.eventLoop.inEventLoop else { return body(queue.value) }
        queue.eventLoop.execute { body(queue.value) }
    }
}

/// Writes the pieces of a body to the connection, at most two ahead of what the system took.
private struct SentWriter: BodyWriter {
    let path: AnswerPath
    /// Done when the piece before the last one was taken.
    var previous: EventLoopFuture<Void>?

    init(path: AnswerPath) { self.path = path }

    /// Writes one piece; returns when the system has taken the one before it.
    mutating func write(_ bytes: [UInt8]) async throws {
        let taken = path.send(ByteBuffer(bytes: bytes))
        try await previous?.get()
        previous = taken
    }
}
