// SPDX-License-Identifier: Apache-2.0
import Dispatch
import TidebellCore
import TidebellSQL

/// A transaction of another cell, which its lane holds open while a step of the directory works on it.
///
/// Only steps of `store`, `catalogue`, `account`, `uses`, `batch` and `everything` have some. Those of `batch` and `everything` are alone: they hold the
/// directory's lock. The others go from cell to cell in the order of their numbers, as whoever moves something does, so that
/// none waits for another's; those of an account have one in its cell only, with the lock of the account, or, where they end a
/// session, with that of the cell.
///
/// `@unchecked Sendable`: the lane waits while the step's thread uses the transaction.
final class HeldTransaction: WaitingWrite, @unchecked Sendable {
    /// Undoes the transaction.
    private struct Undone: Error {}

    private static let conflict = StoreUnavailable(
        .isLocked, detail: "a transaction of another cell met a conflict")

    /// Seconds for which the directory waits for another cell: a lane of it, or all its writes, wait meanwhile. What is noted each
    /// minute waits for less.
    private static func patience(for scope: StoreScope) -> Int { scope == .uses ? 5 : 60 }

    private let scope: StoreScope
    let topic: WriteTopic
    let caller: AccountID? = nil
    /// Nobody else waits for its end.
    let runsAlone = true
    let durability = Durability.immediate

    private var held: SQLTransaction?
    private var isCommitted = false
    private var failure: (any Error)?
    private let isOpen = DispatchSemaphore(value: 0)
    private let mayEnd = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Waits for a transaction, on a thread that is none of Swift's concurrency: nor does the lane wait for one of those.
    ///
    /// - Parameter scope: What is locked in the other cell.
    init(in store: PostgresStore, of scope: StoreScope) throws {
        self.scope = scope
        topic = store.topic(of: scope)
        store.submit(self)
        let patience = Self.patience(for: scope)
        guard isOpen.wait(timeout: .now() + .seconds(patience)) == .success else {
            // Undone as soon as it is open.
            mayEnd.signal()
            throw StoreUnavailable(
                .isUnreachable, detail: "\(store.place): no answer in \(patience) seconds")
        }
        guard held != nil else { throw failure ?? Self.conflict }
    }

    func run(in steps: any StoreSteps) throws {
        try steps.write(scope) { transaction in
            // The step knows nothing of a lane that runs its transaction again.
            guard held == nil else { throw Self.conflict }
            held = PostgresStore.transaction(transaction)
            isOpen.signal()
            mayEnd.wait()
            if !isCommitted { throw Undone() }
        }
    }

    func finish(_ error: (any Error)?) {
        failure = error
        isOpen.signal()
        hasEnded.signal()
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
