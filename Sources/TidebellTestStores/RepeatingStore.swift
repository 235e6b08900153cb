// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import TidebellCore
import TidebellScheduling

/// A store that runs the body of every write twice, as an engine may: the first time it is
/// undone, as after a conflict with another transaction.
///
/// Both runs must come to the same, be it a result or an error: otherwise a body takes
/// chance or the time from elsewhere than its inputs, or keeps something from run to run.
package final class RepeatingStore: WrappedStore {
    /// The store whose writes are repeated.
    package let base: any OpenedStore
    private let lock = FairLock()

    /// Repeats the writes of a store.
    package init(_ base: any OpenedStore) {
        self.base = base
    }

    package func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        // Nobody else's write may come between the two runs.
        try await lock.withLock {
            try await runTwice(for: caller, about: scope, durability: durability, body)
        }
    }

    private func runTwice<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        let first = Mutex<String?>(nil)
        do {
            try await base.writeInSteps(for: caller, about: scope, durability: durability) {
                steps in
                first.withLock { $0 = Self.outcome { try body(steps) } }
                throw Undone()
            }
        } catch is Undone {}
        return try await base.writeInSteps(for: caller, about: scope, durability: durability) {
            steps in
            let result = Swift.Result { try body(steps) }
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
}

/// The end of a run that is undone.
private struct Undone: Error {}

/// A body came to something else when it ran again.
package struct DifferentOutcome: Error {
    package var first: String
    package var second: String
}
