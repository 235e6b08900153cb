// SPDX-License-Identifier: Apache-2.0
import Foundation
package import TidebellScheduling

/// A file on its way to the server.
package struct TransportFile: Sendable {
    /// The number of bytes.
    package var size: Int64
    /// Returns the next bytes, nil after the last; called by one reader, in turn.
    package var next: @Sendable () async throws -> [UInt8]?

    /// Creates a file.
    package init(size: Int64, next: @escaping @Sendable () async throws -> [UInt8]?) {
        self.size = size
        self.next = next
    }
}

// Transports that know nothing of files carry them all the same.
extension Transport {
    /// Sends the file as the body of the request, which is in memory as a whole.
    package func upload(
        _ request: TransportRequest, of file: TransportFile, stallTimeout: Duration
    ) async throws -> TransportResponse {
        var request = request
        var body: [UInt8] = []
        while let piece = try await file.next() { body += piece }
        request.body = body
        return try await send(request, timeout: stallTimeout)
    }

    /// Sends the request as that of a stream.
    package func download(_ request: TransportRequest) async throws -> TransportStream {
        try await stream(request)
    }
}

/// Runs `body` and ends it with `timedOut` when the counter stands still for a time: a
/// file may take as long as it takes, as long as it moves.
package func whileMoving<Value: Sendable>(
    _ counter: Locked<Int>, stallTimeout: Duration, on clock: any Clock<Duration>,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            var seen = -1
            while seen != counter.current {
                seen = counter.current
                try await clock.sleep(for: stallTimeout)
            }
            throw TransportError.timedOut(stallTimeout)
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
