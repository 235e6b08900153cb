// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import TidebellTransport

/// Stands in for the file of the same name, so that fuzzing builds without the HTTP client.
package struct HTTPTransport: Transport {
    package let server: URL

    package init(server: URL) {
        self.server = server
    }

    package func send(_: TransportRequest, timeout: Duration) async throws -> TransportResponse {
        throw TransportError.unreachable("there is no network")
    }

    package func stream(_: TransportRequest) async throws -> TransportStream {
        throw TransportError.unreachable("there is no network")
    }

    package func upload(
        _: TransportRequest, of file: TransportFile, stallTimeout: Duration
    ) async throws -> TransportResponse {
        throw TransportError.unreachable("there is no network")
    }

    package func download(_: TransportRequest) async throws -> TransportStream {
        throw TransportError.unreachable("there is no network")
    }
}
