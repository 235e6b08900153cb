// SPDX-License-Identifier: Apache-2.0
import TidebellCore

extension Exchange {
    /// Runs a read, which comes to nothing but its answer: it runs twice where an engine reads ahead.
    func readAtOnce<Answer: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Answer
    ) async throws -> Answer {
        try await cloud.store.read { reader in
            reader.readAhead { _ = try body($0) }
            return try body(reader)
        }
    }

    /// Runs a read that may turn out to be long: first as a short one, within
    /// `budget`; where that does not suffice, again when the caller's turn at the
    /// long ones has come.
    ///
    /// A read that runs twice costs one budget more, and a short one never
    /// waits for long ones.
    func look<Answer: Sendable>(
        within budget: ReadBudget,
        _ body: @escaping @Sendable (any StoreReader) throws -> Answer
    ) async throws -> Answer {
        do {
            return try await cloud.store.read(.within(budget), body)
        } catch is ReadBudgetPassed {
            let caller: LongReads.Caller =
                call.user.map { .account($0.account) } ?? .anonymous(call.container)
            return try await cloud.longReads.run(for: caller, presence: request.presence) {
                try await self.cloud.store.read(.long, body)
            }
        }
    }
}
