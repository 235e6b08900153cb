// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import NIOHTTP1

/// HTTP/2 connections that stay open, as Apple asks for; requests take turns.
///
/// NB: AsyncHTTPClient opens one HTTP/2 connection for each client and host, however
/// many requests wait, so there is a client for each connection.
final class APNsConnections: APNsSender {
    /// How long a connection may be idle: Apple closes it before.
    private static let idleTimeout = TimeAmount.hours(12)
    /// How long sent bytes may stay unconfirmed before the connection counts as
    /// dead. AsyncHTTPClient sends no pings, and would wait for a dead one for long.
    private static let deadAfter = Duration.seconds(20)
    /// The longest body read; Apple's have less than 100 bytes.
    private static let bodyLimit = 4096

    private struct Clients {
        var all: [HTTPClient] = []
        var turn = 0
    }

    private let configuration: APNsConfiguration
    // Made by the first request, because a client that was made has to be ended.
    private let clients = Mutex(Clients())

    /// Creates connections; nothing is connected before the first request.
    init(_ configuration: APNsConfiguration) {
        self.configuration = configuration
    }

    /// The client whose turn it is.
    private func nextClient() -> HTTPClient {
        clients.withLock { clients in
            if clients.all.isEmpty {
                let http = Self.http(configuration)
                clients.all = (0..<max(1, configuration.connections)).map { _ in
                    HTTPClient(eventLoopGroupProvider: .singleton, configuration: http)
                }
            }
            clients.turn = (clients.turn + 1) % clients.all.count
            return clients.all[clients.turn]
        }
    }

    private static func http(_ configuration: APNsConfiguration) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let file = configuration.trustRoots { tls.trustRoots = .file(file) }
        var http = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(configuration.requestTimeout))
        )
        http.connectionPool.idleTimeout = idleTimeout
        // The route waits by itself, for all its requests together.
        http.connectionPool.retryConnectionEstablishment = false
        http.http2ConnectionDebugInitializer = { connection in
            connection.eventLoop.flatSubmit {
                connection.flushOnceATurn()
                return connection.noticeDeath(after: deadAfter)
            }
        }
        return http
    }

    func send(
        _ request: APNsRequest, authorization: String, to gateway: APNsGateway
    ) async -> APNsAnswer {
        var message = HTTPClientRequest(url: gateway.url + request.path)
        message.method = .POST
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        message.headers.add(name: "authorization", value: "bearer \(authorization)")
        message.body = .bytes(ByteBuffer(bytes: request.payload))
        do {
            let answer = try await nextClient().execute(
                message, timeout: TimeAmount(configuration.requestTimeout)
            )
            let body = try await answer.body.collect(upTo: Self.bodyLimit)
            return APNsAnswer(
                status: Int(answer.status.code),
                retryAfter: answer.headers.first(name: "retry-after"),
                body: [UInt8](body.readableBytesView)
            )
        } catch {
            return .silence(APNsAnswer.Silence(error))
        }
    }

    func close() async {
        let all = clients.withLock { clients in
            defer { clients.all = [] }
            return clients.all
        }
        // A client fails to shut down only when it is down already.
        for client in all { try? await client.shutdown() }
    }
}

extension APNsAnswer.Silence {
    fileprivate init(_ error: any Error) {
        switch error {
        case let error as HTTPClientError where error == .deadlineExceeded: self = .timedOut
        case let error as HTTPClientError where error == .connectTimeout: self = .unreachable
        case is NIOConnectionError, is NIOSSLError: self = .unreachable
        case let error as IOError where error.errnoCode == ECONNREFUSED: self = .unreachable
        default: self = .lost
        }
    }
}

extension Channel {
    /// Has the connection hand over what is written in a turn of its loop at once.
    fileprivate func flushOnceATurn() {
        let pipeline = pipeline.syncOperations
        // One that has closed meanwhile has no TLS any more, and nothing to send.
        guard let tls = try? pipeline.handler(type: NIOSSLClientHandler.self) else { return }
        try? pipeline.addHandler(TurnFlush(), position: .after(tls))
    }

    /// Lets the system end the connection when what was sent stays unconfirmed.
    fileprivate func noticeDeath(after time: Duration) -> EventLoopFuture<Void> {
        #if os(Linux)
            let option = ChannelOptions.Types.SocketOption(
                level: .tcp, name: .init(rawValue: TCP_USER_TIMEOUT)
            )
            return setOption(option, value: Int(time.components.seconds * 1000))
        #else
            return eventLoop.makeSucceededVoidFuture()
        #endif
    }
}
