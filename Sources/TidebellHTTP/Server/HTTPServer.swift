// SPDX-License-Identifier: Apache-2.0
import Foundation
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import TidebellCore
import TidebellWire

/// The API on a socket: HTTP/1.1.
package struct HTTPServer: Service {
    /// How long after the shutdown began a connection is closed whatever it does, such as
    /// a client that does not read its answer; shorter than what the services have.
    package static let drainTime = Duration.seconds(8)
    /// Slots kept for connections beyond the limit: half of them for those that get an answer
    /// which states it, the others for those that are closed at once. Without them, clients that
    /// wait for that answer would keep the server from accepting anybody.
    private static let spareSlots = 32

    private let webServices: WebServices
    private let address: ListenAddress
    private let connectionLimit: Int
    private let drainClock: any Clock<Duration>
    private let onRunning: @Sendable (ListenAddress) async -> Void
    private let tls: TLSCertificates?

    /// A host and a port; port 0 lets the system choose.
    package struct ListenAddress: Sendable, Hashable {
        package var host: String
        package var port: Int
        /// Whether it speaks TLS.
        package var isSecure: Bool

        /// Creates an address.
        package init(host: String, port: Int, isSecure: Bool = false) {
            self.host = host
            self.port = port
            self.isSecure = isSecure
        }

        /// Where the server listens and, if that is another address, the URL that clients use.
        package func description(publicURL: String?) -> String {
            let isEverywhere = ["0.0.0.0", "::"].contains(host)
            let listening =
                isEverywhere
                ? "port \(port) of all addresses (\(host)), here \(clientURL)" : clientURL
            return listening + (publicURL.map { "; clients use \($0)" } ?? "")
        }

        /// The URL under which programs on this machine reach the server there.
        package var clientURL: String {
            let scheme = isSecure ? "https" : "http"
            return switch host {
            case "0.0.0.0": "\(scheme)://127.0.0.1:\(port)"
            case "::": "\(scheme)://[::1]:\(port)"
            case _ where host.contains(":"): "\(scheme)://[\(host)]:\(port)"
            default: "\(scheme)://\(host):\(port)"
            }
        }
    }

    /// Creates a server; `onRunning` learns the port it listens on, ``drainTime`` is measured by
    /// `drainClock`.
    ///
    /// - Parameter tls: What connections are encrypted with; nil for plain HTTP.
    package init(
        _ webServices: WebServices,
        at address: ListenAddress,
        connectionLimit: Int,
        drainClock: any Clock<Duration>,
        tls: TLSCertificates? = nil,
        onRunning: @escaping @Sendable (ListenAddress) async -> Void = { _ in }
    ) {
        self.webServices = webServices
        self.address = address
        self.connectionLimit = connectionLimit
        self.drainClock = drainClock
        self.onRunning = onRunning
        self.tls = tls
    }

    /// Serves until the service group shuts down; a socket that cannot be opened
    /// fails with ``CannotListen``.
    package func run() async throws {
        let address = address
        let (onRunning, tls) = (onRunning, tls)
        let logger = webServices.cloud.logger
        let shares = webServices.cloud.shares
        let spare = min(Self.spareSlots, max(2, connectionLimit / 8))
        let connections = Connections(
            limit: connectionLimit - spare, refusals: spare / 2, shares: shares)
        let underway = Underway()
        let setup = ConnectionSetup(
            responder: SocketResponder(webServices: webServices, isSecure: tls != nil),
            connections: connections, underway: underway, shares: shares, tls: tls)
        let server = setup.server(
            configuration: ServerConfiguration(
                address: .hostname(address.host, port: address.port),
                availableConnectionsDelegate: MaximumAvailableConnections(
                    connectionLimit, logger: logger)
            ),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? address.port
                await onRunning(
                    ListenAddress(host: address.host, port: port, isSecure: tls != nil))
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger
        )
        do {
            try await run(server, connections, underway)
        } catch let error as IOError {
            throw CannotListen(at: address, because: error)
        } catch is SocketAddressError.UnknownHost {
            throw CannotListen(unknownHost: address)
        } catch is SocketAddressError {
            throw CannotListen(unknownHost: address)
        }
    }

    /// Serves until the service group shuts down and all connections are closed: most as
    /// soon as their requests are answered, the rest when their time is up.
    private func run(
        _ server: any Service, _ connections: Connections, _ underway: Underway
    ) async throws {
        let (clock, logger) = (drainClock, webServices.cloud.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await gracefulShutdown()
                    try await clock.sleep(for: Self.drainTime)
                    let closed = connections.closeAll()
                    guard closed > 0 else { return }
                    logger.notice(
                        "connections closed: the drain time is over",
                        metadata: ["connections": "\(closed)"])
                } catch is CancellationError {
                    // The server ended before.
                }
            }
            defer { group.cancelAll() }
            // Until no more connections are accepted.
            try await server.run()
            await withTaskCancellationHandler {
                await underway.untilNone()
            } onCancel: {
                _ = connections.closeAll()
            }
        }
    }
}

/// The socket could not be opened.
package struct CannotListen: Error, CustomStringConvertible {
    /// One sentence for the operator.
    package let description: String

    init(at address: HTTPServer.ListenAddress, because error: IOError) {
        switch error.errnoCode {
        case EADDRINUSE:
            description =
                "Port \(address.port) of \(address.host) is already in use; "
                + "choose another one with --port."
        case EACCES, EPERM:
            description = "Listening on port \(address.port) is not allowed; choose one above 1023."
        case EADDRNOTAVAIL:
            description = "\(address.host) is not an address of this machine."
        default:
            description = "Cannot listen on \(address.host), port \(address.port): \(error)."
        }
    }

    init(unknownHost address: HTTPServer.ListenAddress) {
        description = "The host '\(address.host)' is not known."
    }
}
