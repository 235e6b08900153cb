// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import TidebellCore

/// A step of a write that another thread runs, as a write of its own, while the thread of the write waits for it.
///
/// `@unchecked Sendable`: the body and its outcome are used by one thread after the other.
package final class BlockingStep<Result: Sendable>: @unchecked Sendable {
    /// Nil once it is done: it must not be held when its thread goes on.
    private var body: ((any StoreTransaction) throws -> Result)?
    private var outcome: Swift.Result<Result, any Error>?
    private let isDone = DispatchSemaphore(value: 0)

    private init(_ body: @escaping (any StoreTransaction) throws -> Result) { self.body = body }

    /// Runs a body in `write`, and returns when that has.
    ///
    /// Blocks its thread, which must not be one of Swift's concurrency.
    package static func run(
        _ body: (any StoreTransaction) throws -> Result,
        in write:
            @escaping @Sendable (
                @escaping @Sendable (any StoreTransaction) throws -> Result
            ) async throws -> Result
    ) throws -> Result {
        try withoutActuallyEscaping(body) { body in
            let step = BlockingStep(body)
            Task { await step.run(in: write) }
            return try step.result()
        }
    }

    private func run(
        in write:
            @Sendable (@escaping @Sendable (any StoreTransaction) throws -> Result)
            async throws -> Result
    ) async {
        do {
            outcome = .success(
                try await write { transaction in
                    guard let body = self.body else { preconditionFailure("the step is done") }
                    return try body(transaction)
                }
            )
        } catch {
            outcome = .failure(error)
        }
        body = nil
        isDone.signal()
    }

    private func result() throws -> Result {
        isDone.wait()
        guard let outcome else { preconditionFailure("a step that is done has an outcome") }
        return try outcome.get()
    }
}
