// SPDX-License-Identifier: Apache-2.0
import Dispatch
import TidebellCore
import TidebellSQL

/// A transaction of another cell, which its lane holds open while a step of the directory works on it.
///
/// Only steps of `store`, `catalogue`, `batch` and `everything` have some. Those of `batch` and `everything` are alone: they hold the
/// directory's lock. The others go from cell to cell in the order of their numbers, as whoever moves something does, so that
/// none waits for another's.
///
/// `@unchecked Sendable`: the lane waits while the step's thread uses the transaction.
final class HeldTransaction: @unchecked Sendable {
    /// Undoes the transaction.
    private struct Undone: Error {}

    private static let conflict = StoreUnavailable(
        .isLocked, detail: "a transaction of another cell met a conflict")

    /// How long the directory waits for another cell: its writes wait meanwhile.
    private static let patience = 60

    private var held: SQLTransaction?
    private var isCommitted = false
    private var failure: (any Error)?
    private let isOpen = DispatchSemaphore(value: 0)
    private let mayEnd = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Waits for a transaction, on a thread that is none of Swift's concurrency.
    init(in store: PostgresStore) throws {
        Task {
            do {
                try await store.write(.everything) { transaction throws in
                    // The step knows nothing of a lane that runs its transaction again.
                    guard self.held == nil else { throw Self.conflict }
                    self.held = PostgresStore.transaction(transaction)
                    self.isOpen.signal()
                    self.mayEnd.wait()
                    if !self.isCommitted { throw Undone() }
                }
            } catch {
                self.failure = error
            }
            self.isOpen.signal()
            self.hasEnded.signal()
        }
        guard isOpen.wait(timeout: .now() + .seconds(Self.patience)) == .success else {
            // Undone as soon as it is open.
            mayEnd.signal()
            throw StoreUnavailable(
                .isUnreachable, detail: "\(store.place): no answer in \(Self.patience) seconds")
        }
        guard held != nil else { throw failure ?? Self.conflict }
    }

    /// The transaction, until it is ended.
    var transaction: SQLTransaction {
        guard let held else {
            preconditionFailure("a transaction that is not open is not handed out")
        }
        return held
    }

    /// Commits or undoes it, and waits for that.
    func end(committing: Bool) throws {
        isCommitted = committing
        mayEnd.signal()
        hasEnded.wait()
        if committing, let failure { throw failure }
    }
}
