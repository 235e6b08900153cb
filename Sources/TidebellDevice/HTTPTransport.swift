// SPDX-License-Identifier: Apache-2.0
import CTidebellNetwork
package import Foundation
package import TidebellTransport

/// The transport over HTTP: keeps connections open and shares them in the process.
///
/// What it does stands in `TidebellNetwork`, which is linked but not imported, so that an
/// app sees nothing of the modules an HTTP client needs.
package struct HTTPTransport: Transport {
    private let network: any Transport

    /// Creates a transport to a server, whose path is put before every request's.
    ///
    /// - Parameter leastTimeout: How long every answer is waited for at least, however short its own
    ///   time is: for tests, where time stands still and the machine may be slow.
    package init(server: URL, leastTimeout: Duration = .zero) {
        let made = tidebell_network_transport(server.absoluteString, leastTimeout / .seconds(1))
        network = Unmanaged<MadeTransport>.fromOpaque(made).takeRetainedValue().transport
    }

    package func send(
        _ request: TransportRequest, timeout: Duration
    ) async throws -> TransportResponse {
        try await network.send(request, timeout: timeout)
    }

    package func stream(_ request: TransportRequest) async throws -> TransportStream {
        try await network.stream(request)
    }

    package func upload(
        _ request: TransportRequest, of file: TransportFile, stallTimeout: Duration
    ) async throws -> TransportResponse {
        try await network.upload(request, of: file, stallTimeout: stallTimeout)
    }

    package func download(_ request: TransportRequest) async throws -> TransportStream {
        try await network.download(request)
    }
}
