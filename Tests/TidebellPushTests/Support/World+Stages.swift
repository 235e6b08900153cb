// SPDX-License-Identifier: Apache-2.0
import TidebellCore
@testable import TidebellPush

extension World {
    /// What the next pass reads.
    func readBatch() async throws -> OutboxBatch {
        try await pipeline.read(try await pipeline.claim().claimed.leases)
    }

    /// Gives back what was claimed for a batch.
    func giveBack(_ batch: OutboxBatch) async throws {
        try await store.returnOutboxes(batch.held.map { ReturnedLease($0.lease, .done) })
    }
}
