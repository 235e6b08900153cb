// SPDX-License-Identifier: Apache-2.0
import ServiceLifecycle
import TidebellCore

/// Ends the server once its store can be served no more until a restart, so that whoever looks after the process
/// starts it again.
struct LostStore: Service {
    private let losses: AsyncStream<StoreOpenError>

    init(_ store: some OpenedStore) {
        let (losses, continuation) = AsyncStream.makeStream(
            of: StoreOpenError.self, bufferingPolicy: .bufferingOldest(1))
        self.losses = losses
        store.whenLost { continuation.yield($0) }
    }

    /// Waits for the loss, and fails with it.
    func run() async throws {
        try await cancelWhenGracefulShutdown {
            for await loss in losses { throw OperatorError("The server has stopped: \(loss)") }
        }
    }
}
