// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore

/// One promise of ``Store`` and its transactions, as a test for any engine.
package struct Check: Sendable, CustomTestStringConvertible {
    /// The promise, with the number of the behaviour it serves.
    package let title: String
    private let body: @Sendable (any Store, any StoreEngine) async throws -> Void

    package var testDescription: String { title }

    /// Creates a check that only needs a store.
    init(_ title: String, _ body: @escaping @Sendable (any Store) async throws -> Void) {
        self.title = title
        self.body = { store, _ in try await body(store) }
    }

    /// Creates a check that also opens its store again.
    init(
        reopening title: String,
        _ body: @escaping @Sendable (any Store, any StoreEngine) async throws -> Void
    ) {
        self.title = title
        self.body = body
    }

    /// Runs the check on a new store, which is removed afterwards.
    package func run(on engine: some StoreEngine) async throws {
        let store = try await engine.makeStore()
        do {
            try await body(store, engine)
        } catch {
            try await engine.remove(store)
            throw error
        }
        try await engine.remove(store)
    }
}

/// All promises of ``Store``; each engine's tests run every one:
///
/// ```swift
/// @Test("The store contract", arguments: StoreConformance.checks)
/// func contract(check: Check) async throws { try await check.run(on: engine) }
/// ```
package enum StoreConformance {
    /// The checks, part by part.
    package static let checks: [Check] =
        transactions + concurrency + scopes + databases + zones + zoneChanges + records
        + recordChanges
        + assets + scans + fieldIndexes + sharing + settling + addresses + references + retention
        + model + schema + wholeSchemas + subscriptions
        + subscriptionMatching + texts
        + outbox + leases
        + explanations + explanationBounds + notifications + badges + history + devices + pushTokens
        + pushTargets + pushTokenLimits + couriers + unused + webhooks + accounts + signIns + tokens
        + users
        + erasure
        + keptAnswers + readingAhead + secrets + rootKeys + bounds
}

/// An error a body throws on purpose.
struct Refused: Error, Hashable {
    var reason = "on purpose"
}
