// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHPACK
import NIOHTTP2
import Synchronization

/// The open connections of a ``FakeAPNsServer``.
final class FakeAPNsConnections: Sendable {
    /// Requests on one connection at a time, as Apple announces at its beginning.
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
