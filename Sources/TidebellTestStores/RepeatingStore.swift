// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellCore
import TidebellScheduling

/// Opens stores that run the body of every write twice.
struct RepeatingFactory: StoreFactory {
    let base: any StoreFactory

    func open(
        in folder: URL, for purpose: StorePurpose, bounds: StoreBounds, time: Time,
        randomness: Randomness
    ) throws(StoreOpenError) -> any OpenedStore {
        let store = try base.open(
            in: folder, for: purpose, bounds: bounds, time: time, randomness: randomness
        )
        return RepeatingStore(store)
    }
}

/// A store that runs the body of every write twice, as an engine may: the first time it is
/// undone, as after a conflict with another transaction.
///
/// Both runs must come to the same, be it a result or an error: otherwise a body takes
/// chance or the time from elsewhere than its inputs, or keeps something from run to run.
package final class RepeatingStore: OpenedStore {
    /// The store whose writes are repeated.
    package let base: any OpenedStore
    private let turn = Turn()

    /// Repeats the writes of a store.
    package init(_ base: any OpenedStore) {
        self.base = base
    }

    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
    ) async throws -> Result {
        // Nobody else's write may come between the two runs.
        await turn.begin()
        defer { turn.end() }
        let first = Mutex<String?>(nil)
        do {
            try await base.write { transaction in
                first.withLock { $0 = Self.outcome { try body(transaction) } }
                throw Undone()
            }
        } catch is Undone {}
        return try await base.write { transaction in
            let result = Swift.Result { try body(transaction) }
            let (first, second) = (first.withLock(\.self), Self.outcome(result.get))
            guard first == second else {
                throw DifferentOutcome(first: first ?? "", second: second)
            }
            return try result.get()
        }
    }

    /// What a body came to, as text that is equal for equal values.
    private static func outcome(_ run: () throws -> some Any) -> String {
        do {
            return try CanonicalText.of(run())
        } catch {
            return "fails: \(error)"
        }
    }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        try await base.read(body)
    }

    package func read<Result: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        try await base.read(length, body)
    }

    package var identity: UInt64 { base.identity }
    package var incarnation: Incarnation { base.incarnation }
    package var cameBackOlder: Bool { base.cameBackOlder }
    package var troubles: StoreTroubles { base.troubles }

    package func claimOutboxes(_ claim: OutboxClaim) async throws -> ClaimedOutboxes {
        try await base.claimOutboxes(claim)
    }

    package func returnOutboxes(_ leases: [ReturnedLease]) async throws {
        try await base.returnOutboxes(leases)
    }

    package func claimDeliveries(_ claim: DeliveryClaim) async throws -> ClaimedDeliveries {
        try await base.claimDeliveries(claim)
    }

    package func returnDeliveries(_ leases: [ReturnedDelivery]) async throws {
        try await base.returnDeliveries(leases)
    }

    package func outboxCommits() -> AsyncStream<Void> { base.outboxCommits() }
    package func accessCommits() -> AsyncStream<Void> { base.accessCommits() }
    package func probe() async throws { try await base.probe() }
    package func close() async throws { try await base.close() }

    package func beginNewIncarnation(at now: Instant) async throws {
        try await base.beginNewIncarnation(at: now)
    }
}

/// The end of a run that is undone.
private struct Undone: Error {}

/// A body came to something else when it ran again.
package struct DifferentOutcome: Error {
    package var first: String
    package var second: String
}

/// Lets one in after the other.
private final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func begin() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken { state.waiting.append(continuation) }
                defer { state.isTaken = true }
                return !state.isTaken
            }
            if isFree { continuation.resume() }
        }
    }

    func end() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.isTaken = false
            return nil
        }
        next?.resume()
    }
}
