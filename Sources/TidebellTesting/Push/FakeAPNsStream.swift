// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHPACK
import NIOHTTP2

/// One request of a connection and its answer.
final class FakeAPNsStream: ChannelInboundHandler {
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
            case .goAway: connection?.sendGoAway()
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
    fileprivate func sendGoAway() {
        let frame = HTTP2Frame(
            streamID: .rootStream,
            payload: .goAway(lastStreamID: .rootStream, errorCode: .noError, opaqueData: nil)
        )
        writeAndFlush(frame).whenComplete { _ in self.close(promise: nil) }
    }
}
