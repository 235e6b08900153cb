// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

/// A write that waits for its turn and its commit.
package protocol WaitingWrite: AnyObject, Sendable {
    /// Whose turn it is when it runs; nil for the server itself.
    var caller: AccountID? { get }

    /// What it is about, as far as that is known before it runs.
    var topic: WriteTopic { get }

    /// Whether it is the only write of its transaction.
    var runsAlone: Bool { get }

    /// When it is durable.
    var durability: Durability { get }

    /// Runs all steps of the body; called again where the transaction was undone for another's sake.
    func run(in steps: any StoreSteps) throws

    /// Resumes the caller: with the body's result, or with `error`; called once,
    /// and without an error only after ``run(in:)`` returned.
    func finish(_ error: (any Error)?)
}

/// The write of one caller.
///
/// `@unchecked Sendable`: `result` is only touched by the drain that
/// runs the write, on its queue.
package final class PendingWrite<Result: Sendable>: WaitingWrite, @unchecked Sendable {
    private let body: @Sendable (any StoreSteps) throws -> Result
    private let continuation: CheckedContinuation<Result, any Error>
    private var result: Result?
    package let caller: AccountID?
    package let topic: WriteTopic
    package let runsAlone: Bool
    package let durability: Durability

    /// Creates a write that resumes `continuation`.
    package init(
        for caller: AccountID?, about topic: WriteTopic = .unknown, alone: Bool = false,
        durability: Durability = .immediate,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result,
        _ continuation: CheckedContinuation<Result, any Error>
    ) {
        self.caller = caller
        self.topic = topic
        runsAlone = alone
        self.durability = durability
        self.body = body
        self.continuation = continuation
    }

    package func run(in steps: any StoreSteps) throws {
        result = try body(steps)
    }

    package func finish(_ error: (any Error)?) {
        if let error {
            continuation.resume(throwing: error)
        } else if let result {
            continuation.resume(returning: result)
        } else {
            preconditionFailure("a write finished without having run")
        }
    }
}
