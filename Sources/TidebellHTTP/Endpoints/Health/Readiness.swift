// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellScheduling
import TidebellWire

/// Whether the server can do its work: whether its store can be read, and written.
package final class Readiness: Sendable {
    /// Seconds after which a server that is about to stop may be asked again.
    private static let retryAfter = 10.0

    private let isEnding = Mutex(false)
    /// One row by its key: whether there is such a webhook does not matter.
    private let reading = StoreProbe { store in
        _ = try await store.read { try $0.webhook(WebhookID(rawValue: 0)) }
    }
    private let writing = StoreProbe { try await $0.probe() }

    /// Creates a readiness of which nothing is known yet.
    package init() {}

    /// Notes that the server is about to stop: it is not ready any more, and answers all the same.
    package func noteEnd() { isEnding.withLock { $0 = true } }

    /// Fails where reads do, as they do.
    func checkReading(_ store: any Store, in time: Time) async throws {
        try await reading.check(store, in: time)
    }

    /// Fails with the reason, a `WireError`, where writes do, and where the server is about to stop.
    func check(_ store: any Store, in time: Time) async throws {
        guard !isEnding.withLock({ $0 }) else {
            throw WireError(
                .tryAgainLater, "the server is about to stop", retryAfter: Self.retryAfter)
        }
        do {
            try await writing.check(store, in: time)
        } catch let error as StoreUnavailable {
            throw error.answer
        } catch let error as WireError {
            throw error
        } catch {
            throw WireError(
                .tryAgainLater, "the server's store cannot be written",
                retryAfter: Self.retryAfter)
        }
    }
}
