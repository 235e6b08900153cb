// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOPosix
import NIOSSL

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
