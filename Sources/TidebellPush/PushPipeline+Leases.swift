// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire
import Metrics

extension PushPipeline {
    /// Claims the databases whose turn it is, and reads what is pending there; nil where that
    /// fails, or nothing could be claimed.
    func claim() async throws -> (claimed: ClaimedLeases<DatabaseID>, batch: OutboxBatch?) {
        let now = now()
        let claim = LeaseClaim(
            holder: LeaseHolder(rawValue: makeUUID()), now: now,
            vestingAt: now.advanced(by: configuration.leaseDuration),
            limit: configuration.entriesPerPass
        )
        let reading = reading
        let (claimed, batch) = try await store.claimOutboxes(claim) { leases, reader in
            try? reading(leases, reader)
        }
        if claimed.leases.isEmpty {
            metrics.outboxDepth.record(0)
            metrics.outboxLag.record(0)
        }
        return (claimed, batch ?? nil)
    }

    /// Gives leases back after a pass: whoever comes next may claim the databases, but those
    /// that could not be read wait.
    func giveBack(
        _ leases: [OutboxLease], _ batch: OutboxBatch, after plan: PassPlan?
    ) async {
        // Without a plan nothing was processed: those that have entries all the same wait.
        let stuck =
            plan == nil ? batch.heldUp.union(batch.held.map(\.lease.key)) : batch.heldUp
        let notified = plan?.touched ?? Set(leases.map(\.key)).subtracting(stuck)
        await giveBack(leases) { lease in
            if stuck.contains(lease.key) { return .failed(vestingAt: retry(lease)) }
            return notified.contains(lease.key) ? .done : .untouched
        }
    }

    /// Gives the leases of a failed pass back.
    ///
    /// Which of several databases failed it is found out by passes over each alone, at once.
    /// Where the store itself is in trouble, none has, and the error is thrown on.
    func fail(_ leases: [OutboxLease], _ error: any Error) async throws -> PassOutcome {
        guard !error.isOfTheStore, !Task.isCancelled else {
            await giveBack(leases) { _ in .untouched }
            throw error
        }
        metrics.failures.increment()
        if leases.count == 1 { failing.failed(leases[0].key, error) }
        let now = now()
        await giveBack(leases) { lease in
            .failed(vestingAt: leases.count > 1 ? now : retry(lease))
        }
        return .failed(error)
    }

    private func giveBack(
        _ leases: [OutboxLease], _ outcome: (OutboxLease) -> LeaseOutcome
    ) async {
        let returned = leases.map { ReturnedLease($0, outcome($0)) }
        // A lease that cannot be given back vests.
        try? await store.returnOutboxes(returned)
    }

    /// When a database is tried again over which a pass failed.
    private func retry(_ lease: OutboxLease) -> Instant {
        now().advanced(by: configuration.retry.wait(after: lease.failures + 1))
    }
}

extension Error {
    /// Whether the store can do nothing for anybody now.
    fileprivate var isOfTheStore: Bool {
        self is StoreUnavailable || (self as? WireError)?.code == .tryAgainLater
    }
}
