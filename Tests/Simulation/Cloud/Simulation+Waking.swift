// SPDX-License-Identifier: Apache-2.0
import TestSupport
import TidebellPush
import TidebellCore

/// The pipeline as it runs by itself: woken by commits, or by its timer where a wake-up is lost.
extension Simulation {
    /// Makes changes while the pipeline runs, and waits after each until it is delivered.
    func listen(_ changes: [WokenChange]) async throws {
        active = 0
        var commits = base.outboxCommits().makeAsyncIterator()
        let pollInterval = PushConfiguration().pollInterval
        let idleClaims = store.idleClaims
        let service = Task { [pipeline = pipelines[0]] in try await pipeline.run() }
        do {
            // What waited from before is delivered at the start.
            try await untilIdle(after: idleClaims) {}
            for change in changes {
                let entries = changeCount
                try await self.change(change.action)
                // Every commit that left something in the outbox is signalled.
                if changeCount > entries { await commits.next(isolation: self) }
                await clock.waitForSleeper(of: pollInterval)
                try await untilIdle(after: store.idleClaims) {
                    if change.isWakeUpLost {
                        clock.advance(by: pollInterval)
                    } else {
                        store.wake()
                    }
                }
            }
        } catch {
            service.cancel()
            _ = await service.result
            throw error
        }
        service.cancel()
        _ = await service.result
    }

    /// Has something happen, and waits until the pipeline has nothing left to do.
    private func untilIdle(after claims: Int, _ body: () -> Void) async throws {
        body()
        let store = store
        await eventually { store.idleClaims > claims || violation != nil }
        if let violation { throw violation }
        try demand(model.pending.isEmpty, "the pipeline rests, and changes are left in the outbox")
    }
}
