// SPDX-License-Identifier: Apache-2.0
import CloudKit
import HTTPTypes
import Synchronization
import TidebellHTTP
import TidebellServer

/// Carries requests to a server of the same process, without sockets.
///
/// The server sees what it would see over HTTP: method, path, headers, bytes.
struct InProcessTransport: Transport {
    /// The name the server is called by.
    static let host = "cloud.test"

    let cloud: CloudServices

    func send(_ request: TransportRequest, timeout: Duration) async throws -> TransportResponse {
        let response = await cloud.respond(to: try WebRequest(request))
        return TransportResponse(
            status: response.status,
            headers: response.headers.pairs,
            body: try await response.body.collect()
        )
    }

    func upload(
        _ request: TransportRequest, of file: TransportFile, stallTimeout: Duration
    ) async throws -> TransportResponse {
        let failure = Mutex<(any Error)?>(nil)
        var upload = try WebRequest(request)
        upload.headers[.contentLength] = String(file.size)
        upload.body = .stream { writer in
            while true {
                let piece: [UInt8]?
                do {
                    piece = try await file.next()
                } catch {
                    // The server sees a connection that ended, the device gets the reason.
                    failure.withLock { $0 = error }
                    throw CancellationError()
                }
                guard let piece else { return }
                try await writer.write(piece)
            }
        }
        let response = await cloud.respond(to: upload)
        if let error = failure.withLock({ $0 }) { throw error }
        return TransportResponse(
            status: response.status,
            headers: response.headers.pairs,
            body: try await response.body.collect()
        )
    }

    func download(_ request: TransportRequest) async throws -> TransportStream {
        try await stream(request, statuses: [200, 206])
    }

    func stream(_ request: TransportRequest) async throws -> TransportStream {
        try await stream(request, statuses: [200])
    }

    private func stream(
        _ request: TransportRequest, statuses: [Int]
    ) async throws -> TransportStream {
        let response = await cloud.respond(to: try WebRequest(request))
        guard statuses.contains(response.status) else {
            return TransportStream(
                refusal: TransportResponse(
                    status: response.status,
                    headers: response.headers.pairs,
                    body: try await response.body.collect()
                )
            )
        }
        return TransportStream(
            status: response.status, headers: response.headers.pairs,
            chunks: response.body.pieces
        )
    }
}

/// The method of a request is none that HTTP can carry (RFC 9110, 9.1).
struct MalformedMethod: Error {
    let method: String
}

extension WebRequest {
    fileprivate init(_ request: TransportRequest) throws {
        guard let method = HTTPRequest.Method(request.method) else {
            throw MalformedMethod(method: request.method)
        }
        var headers = HTTPFields(request.headers.lazy.map { (key: $0.0, value: $0.1) })
        headers[.hostField] = InProcessTransport.host
        self.init(
            method,
            request.path,
            headers: headers,
            body: .bytes(request.body ?? [])
        )
    }
}

extension HTTPFields {
    fileprivate var pairs: [(String, String)] { map { ($0.name.rawName, $0.value) } }
}
