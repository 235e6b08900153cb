// SPDX-License-Identifier: Apache-2.0
import CloudKit
internal import TidebellHTTP
internal import TidebellServer

/// Carries requests to a server of the same process, without sockets.
///
/// The server sees what it would see over HTTP: method, path, headers, bytes.
struct InProcessTransport: Transport {
    /// The name the server is called by.
    static let host = "cloud.test"

    let cloud: CloudServices

    func send(_ request: TransportRequest, timeout: Duration) async throws -> TransportResponse {
        let response = await cloud.respond(to: WebRequest(request))
        return TransportResponse(
            status: response.status,
            headers: response.headers.pairs,
            body: try await response.body.collect()
        )
    }

    func stream(_ request: TransportRequest) async throws -> TransportStream {
        let response = await cloud.respond(to: WebRequest(request))
        guard response.status == 200 else {
            return TransportStream(
                refusal: TransportResponse(
                    status: response.status,
                    headers: response.headers.pairs,
                    body: try await response.body.collect()
                )
            )
        }
        return TransportStream(headers: response.headers.pairs, chunks: response.body.pieces)
    }
}

extension WebRequest {
    fileprivate init(_ request: TransportRequest) {
        var headers = Headers()
        headers.append("Host", InProcessTransport.host)
        for (name, value) in request.headers { headers.append(name, value) }
        self.init(
            Method(request.method),
            request.path,
            headers: headers,
            body: .bytes(request.body ?? [])
        )
    }
}

extension Headers {
    fileprivate var pairs: [(String, String)] { fields.map { ($0.name, $0.value) } }
}
