// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Synchronization

/// Stops a device's transfers of files after some bytes, so that a test can do something
/// while they are on their way.
package final class TransferHold: Sendable {
    private struct State {
        var hasReached = false
        var isReleased = false
    }

    private let bytes: Int
    private let changes: Changes
    private let safetyLimit: Duration
    private let state = Mutex(State())

    init(after bytes: Int, changes: Changes, safetyLimit: Duration) {
        self.bytes = bytes
        self.changes = changes
        self.safetyLimit = safetyLimit
    }

    /// Returns when a transfer has come to the point.
    package func reached() async throws {
        try await wait("no transfer reached byte \(bytes)") { $0.hasReached }
    }

    /// Lets the transfers go on.
    package func release() {
        state.withLock { $0.isReleased = true }
        changes.notify()
    }

    /// Waits at the point, until the test lets the transfer go on.
    fileprivate func pass(_ moved: Int) async throws {
        guard moved >= bytes else { return }
        state.withLock { $0.hasReached = true }
        changes.notify()
        try await wait("the test did not release the transfer") { $0.isReleased }
    }

    private func wait(
        _ failure: String, until condition: @escaping @Sendable (State) -> Bool
    ) async throws {
        _ = try await changes.first(within: safetyLimit, otherwise: { failure }) {
            self.state.withLock { condition($0) } ? true : nil
        }
    }
}

extension TransferHold {
    /// Returns a file that is read no further than to the point.
    func holding(_ file: TransportFile) -> TransportFile {
        let moved = Mutex(0)
        return TransportFile(size: file.size) {
            try await self.pass(moved.withLock { $0 })
            let piece = try await file.next()
            moved.withLock { $0 += piece?.count ?? 0 }
            return piece
        }
    }

    /// Returns an answer that is read no further than to the point.
    func holding(_ answer: TransportStream) -> TransportStream {
        let reader = HeldReader(answer.chunks, hold: self)
        var answer = answer
        answer.chunks = AsyncThrowingStream { try await reader.next() }
        return answer
    }
}

/// The pieces of an answer, each of which waits for the hold.
private final class HeldReader: @unchecked Sendable {
    // Sendable: only the one reader of the stream made of it calls `next`, in turn.
    private var iterator: AsyncThrowingStream<[UInt8], any Error>.AsyncIterator
    private var moved = 0
    private let hold: TransferHold

    init(_ chunks: AsyncThrowingStream<[UInt8], any Error>, hold: TransferHold) {
        iterator = chunks.makeAsyncIterator()
        self.hold = hold
    }

    func next() async throws -> [UInt8]? {
        try await hold.pass(moved)
        let piece = try await iterator.next()
        moved += piece?.count ?? 0
        return piece
    }
}
