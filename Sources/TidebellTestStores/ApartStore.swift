// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
package import TidebellCore
import TidebellSQL

/// A store that commits every step of a write by itself, as one of many parts does, and that can
/// end a write between two of its steps, as the death of a process does.
package final class ApartStore: WrappedStore {
    /// Ended a write where ``stop(before:)`` asked for it.
    package struct Stopped: Error {}

    package let base: any OpenedStore
    private let stop = Mutex<Int?>(nil)

    /// Takes the steps of writes to a store apart.
    package init(_ base: any OpenedStore) {
        self.base = base
    }

    /// Ends one write before it takes a step: `number` steps are taken from now on, of whatever
    /// writes.
    package func stop(before number: Int) { stop.withLock { $0 = number } }

    /// Whether no write was ended since ``stop(before:)``: there were fewer steps.
    package var isStopAhead: Bool { stop.withLock { $0 != nil } }

    package func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            // A body is synchronous, and each of its steps is waited for.
            Thread.detachNewThread {
                let steps = ApartSteps(store: self, caller: caller)
                continuation.resume(with: Swift.Result { try body(steps) })
            }
        }
    }

    fileprivate func begin() throws {
        try stop.withLock { stop in
            guard let left = stop else { return }
            stop = left > 0 ? left - 1 : nil
            if left == 0 { throw Stopped() }
        }
    }
}

/// The steps of one write, each a write of its own.
private struct ApartSteps: StoreSteps {
    let store: ApartStore
    let caller: AccountID?

    var areTogether: Bool { false }

    func write<Result: Sendable>(
        _ scope: StoreScope, _ body: (any StoreTransaction) throws -> Result
    ) throws -> Result {
        try store.begin()
        return try BlockingStep.run(body) { [store, caller] body in
            try await store.base.write(scope, for: caller, body)
        }
    }
}
