// SPDX-License-Identifier: Apache-2.0
import TidebellHTTP

/// The pieces of a streamed body as text.
struct Pieces {
    private var iterator: AsyncThrowingStream<[UInt8], any Error>.AsyncIterator

    init(_ response: WebResponse) { iterator = response.body.pieces.makeAsyncIterator() }

    mutating func next() async throws -> String? {
        try await iterator.next().map { String(decoding: $0, as: UTF8.self) }
    }
}
