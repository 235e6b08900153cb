// SPDX-License-Identifier: Apache-2.0
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2
internal import NIOPosix
internal import NIOSSL
import Synchronization

/// The socket of a ``FakeAPNs``: TLS 1.3 and HTTP/2 on 127.0.0.1.
final class FakeAPNsServer: Sendable {
    private let connections = FakeAPNsConnections()
    private let listener: any Channel

    /// Listens on a port the system chooses.
    init(_ identity: ServerIdentity) async throws {
        let context = try identity.makeContext()
        let connections = connections
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLServerHandler(context: context)
                    )
                    try connections.add(channel)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// The port it listens on.
    var port: Int { listener.localAddress?.port ?? 0 }

    /// Connections made so far.
    var connectionCount: Int { connections.count }

    /// Passes requests on to a fake.
    func serve(_ fake: FakeAPNs) {
        connections.serve(fake)
    }

    /// Closes the connections that are open.
    func dropConnections() {
        connections.closeAll()
    }

    /// Closes everything and returns when the port is free.
    func stop() async {
        // Closing fails only what is closed already.
        try? await listener.close()
        connections.closeAll()
    }

    /// Closes everything some time.
    func close() {
        listener.close(promise: nil)
        connections.closeAll()
    }
}

/// The open connections of a ``FakeAPNsServer``.
final class FakeAPNsConnections: Sendable {
    /// Requests on one connection at a time, as Apple says at its beginning.
    private static let concurrentStreams = 1000

    private struct State {
        // Weak: the fake owns the server.
        weak var fake: FakeAPNs?
        var channels: [ObjectIdentifier: any Channel] = [:]
        var count = 0
    }

    private let state = Mutex(State())

    /// Connections made so far.
    var count: Int { state.withLock { $0.count } }

    /// Passes requests on to a fake.
    func serve(_ fake: FakeAPNs) {
        state.withLock { $0.fake = fake }
    }

    /// The fake that deals with requests; nil when its test let go of it.
    var fake: FakeAPNs? { state.withLock { $0.fake } }

    /// Closes what is open.
    func closeAll() {
        let channels = state.withLock { Array($0.channels.values) }
        for channel in channels { channel.close(promise: nil) }
    }

    /// Lets a new connection speak HTTP/2. To be called on its event loop.
    func add(_ channel: any Channel) throws {
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: Self.concurrentStreams),
            HTTP2Setting(
                parameter: .maxHeaderListSize, value: HPACKDecoder.defaultMaxHeaderListSize),
        ]
        _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: configuration,
            streamConfiguration: NIOHTTP2Handler.StreamConfiguration()
        ) { [weak self, weak channel] stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(
                    FakeAPNsStream(connections: self, connection: channel)
                )
            }
        }
        let id = ObjectIdentifier(channel)
        state.withLock { state in
            state.channels[id] = channel
            state.count += 1
        }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLock { $0.channels[id] = nil }
        }
    }
}

/// One request of a connection and its answer.
private final class FakeAPNsStream: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    /// Bytes of a body that are kept: enough to see that it is too large.
    private static let bodyLimit = 64 * 1024

    private let connections: FakeAPNsConnections?
    private weak var connection: (any Channel)?
    private var headers: [(name: String, value: String)] = []
    private var body: [UInt8] = []

    init(connections: FakeAPNsConnections?, connection: (any Channel)?) {
        self.connections = connections
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let frame):
            headers += frame.headers.map { ($0.name, $0.value) }
            if frame.endStream { end(context) }
        case .data(let frame):
            if case .byteBuffer(let bytes) = frame.data, body.count < Self.bodyLimit {
                body += bytes.readableBytesView
            }
            if frame.endStream { end(context) }
        default: break
        }
    }

    private func end(_ context: ChannelHandlerContext) {
        guard let fake = connections?.fake else { return context.close(promise: nil) }
        let (stream, connection) = (context.channel, connection)
        fake.receive(APNsMessage(headers: headers, body: body)) { reaction in
            switch reaction {
            case .answer(let status, let id, let body, let retryAfter):
                stream.answer(status, id: id, body: body, retryAfter: retryAfter)
            case .hangUp: connection?.close(promise: nil)
            case .goAway: connection?.sayGoodBye()
            }
        }
    }
}

extension Channel {
    /// Writes an answer on a stream; one whose client has gone is dropped.
    fileprivate func answer(_ status: Int, id: String, body: [UInt8], retryAfter: Int?) {
        var headers: HPACKHeaders = [":status": "\(status)", "apns-id": id]
        if let retryAfter { headers.add(name: "retry-after", value: "\(retryAfter)") }
        let head = HTTP2Frame.FramePayload.headers(
            .init(headers: headers, endStream: body.isEmpty)
        )
        guard !body.isEmpty else { return writeAndFlush(head, promise: nil) }
        write(head, promise: nil)
        let buffer = ByteBuffer(bytes: body)
        writeAndFlush(
            HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(buffer), endStream: true)),
            promise: nil
        )
    }

    /// Ends a connection politely: nothing under way on it was dealt with.
    fileprivate func sayGoodBye() {
        let frame = HTTP2Frame(
            streamID: .rootStream,
            payload: .goAway(lastStreamID: .rootStream, errorCode: .noError, opaqueData: nil)
        )
        writeAndFlush(frame).whenComplete { _ in self.close(promise: nil) }
    }
}
