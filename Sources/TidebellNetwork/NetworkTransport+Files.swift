// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import NIOCore
import TidebellScheduling
import TidebellTransport
import NIOHTTP1

// Files are read and written piece by piece: memory does not grow with them.
extension NetworkTransport {
    func upload(
        _ request: TransportRequest, of file: TransportFile, stallTimeout: Duration
    ) async throws -> TransportResponse {
        let stallTimeout = max(stallTimeout, leastTimeout)
        let moved = Locked(0)
        let failure = Locked<(any Error)?>(nil)
        var message = httpRequest(request)
        message.body = .stream(
            FileBody(file: file, moved: moved, failure: failure), length: .known(file.size)
        )
        do {
            return try await whileMoving(
                moved, stallTimeout: stallTimeout, on: ContinuousClock()
            ) { [message] in
                let response = try await Self.client.execute(message, deadline: .distantFuture)
                return try await collect(response, upTo: Self.maximumRefusalSize)
            }
        } catch {
            // What went wrong with the file explains more than the broken request.
            if let failure = failure.current { throw failure }
            throw TransportError.of(error, in: .head(stallTimeout))
        }
    }

    func download(_ request: TransportRequest) async throws -> TransportStream {
        let response = try await within(headTimeout) {
            try await Self.client.execute(httpRequest(request), deadline: .distantFuture)
        }
        guard response.status == .ok || response.status == .partialContent else {
            let refusal = try await within(headTimeout) {
                try await collect(response, upTo: Self.maximumRefusalSize)
            }
            return TransportStream(refusal: refusal)
        }
        let chunks = Chunks(response.body)
        return TransportStream(
            status: Int(response.status.code),
            headers: response.headers.map { ($0.name, $0.value) },
            chunks: AsyncThrowingStream { try await chunks.next() }
        )
    }
}

/// The pieces of a file as the HTTP client takes them.
private struct FileBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let file: TransportFile
    let moved: Locked<Int>
    let failure: Locked<(any Error)?>

    func makeAsyncIterator() -> Iterator { Iterator(body: self) }

    struct Iterator: AsyncIteratorProtocol {
        let body: FileBody

        mutating func next() async throws -> ByteBuffer? {
            body.moved.withLock { $0 += 1 }
            do {
                return try await body.file.next().map { ByteBuffer(bytes: $0) }
            } catch {
                body.failure.withLock { $0 = $0 ?? error }
                throw error
            }
        }
    }
}
