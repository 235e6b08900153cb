// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The work of an operation: its properties when it started (OP-4), and what is done
/// with it.
protocol OperationWork: Sendable {
    /// What the work is done for; nothing where all of it is handed over item by item.
    associatedtype Value: Sendable

    /// Reports to the app how the operation ended.
    var completion: Completion<Value> { get }

    /// Does the work, and settles every item once.
    ///
    /// What the operation as a whole failed with is thrown, or noted in the ledger.
    func perform(_ ledger: inout OperationLedger) async throws(CKError) -> Value
}

extension OperationWork {
    /// What the operation runs: the work, then the callback with its result.
    var plan: OperationPlan {
        { run in
            var ledger = OperationLedger(run)
            let outcome: Result<Value, CKError>
            do throws(CKError) {
                outcome = .success(try await perform(&ledger))
            } catch {
                ledger.fail(error)
                outcome = .failure(error)
            }
            let ended = ledger
            return LastCallback { completion.call(outcome, ended) }
        }
    }
}

/// The work of an operation without items: requests that together give a value.
struct RequestWork<Value: Sendable>: OperationWork {
    let completion: Completion<Value>
    let requests: @Sendable (inout OperationLedger) async throws(CKError) -> Value

    func perform(_ ledger: inout OperationLedger) async throws(CKError) -> Value {
        try await requests(&ledger)
    }
}

/// The app's block for the end of an operation; of an old and a new one the new one is
/// called (OP-11).
struct Completion<Value: Sendable>: @unchecked Sendable {
    // Sendable: called on the operation's callback queue only.

    /// Reports to the app what the work gave, and what became of its items.
    let call: (Result<Value, CKError>, OperationLedger) -> Void

    /// Takes a block that hands over a value.
    ///
    /// - Parameters:
    ///   - block: Gets the value, or why the operation failed as a whole: failing items
    ///     do not count, they were reported themselves (ERR-3).
    ///   - old: Gets the value, if any, and the error of the whole or a summary of those
    ///     of items (ERR-3).
    init(
        _ block: ((Result<Value, any Error>) -> Void)? = nil,
        old: @escaping (Value?, CKError?) -> Void
    ) {
        call = { outcome, ledger in
            if let block {
                block(ledger.failure.map { .failure($0) } ?? outcome.mapError { $0 })
            } else {
                old(try? outcome.get(), ledger.completionError)  // the error is the ledger's
            }
        }
    }
}
