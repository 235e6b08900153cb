// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOEmbedded
import Testing

@testable import TidebellAPNs

@Suite("What a connection to Apple's push service is given in one turn")
struct TurnFlushTests {
    /// Notes what comes to the system, and where it is flushed.
    private final class System: ChannelOutboundHandler {
        typealias OutboundIn = IOData

        var seen = ""

        func write(
            context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
        ) {
            if case .byteBuffer(let bytes) = unwrapOutboundIn(data) {
                seen += String(buffer: bytes)
            }
            context.write(data, promise: promise)
        }

        func flush(context: ChannelHandlerContext) {
            seen += "|"
            context.flush()
        }
    }

    private let system = System()
    private let channel: EmbeddedChannel

    init() throws {
        channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandlers([system, TurnFlush()])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 443)).wait()
    }

    private func send(_ text: String) {
        channel.writeAndFlush(IOData.byteBuffer(ByteBuffer(string: text)), promise: nil)
    }

    @Test(
        "Requests of one turn are flushed together, at its end, and those of the next by themselves"
    )
    func together() throws {
        for text in ["a", "b", "c"] { send(text) }
        #expect(system.seen == "abc")
        channel.embeddedEventLoop.run()
        #expect(system.seen == "abc|")
        channel.embeddedEventLoop.run()
        send("d")
        channel.embeddedEventLoop.run()
        #expect(system.seen == "abc|d|")
        _ = try channel.finish()
    }

    @Test("A connection that closes gives what it has before, once")
    func closing() throws {
        send("a")
        channel.close(promise: nil)
        #expect(system.seen == "a|")
        channel.embeddedEventLoop.run()
        #expect(system.seen == "a|")
    }

    @Test("What is written and not flushed waits")
    func unflushed() throws {
        channel.write(IOData.byteBuffer(ByteBuffer(string: "a")), promise: nil)
        channel.embeddedEventLoop.run()
        #expect(system.seen == "a")
        _ = try channel.finish()
    }
}
