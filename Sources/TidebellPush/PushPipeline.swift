// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import Logging
import ServiceLifecycle
import Synchronization
package import TidebellCore
package import TidebellScheduling
import TidebellWire
import Metrics

/// Turns committed changes into notifications, and notifications into pushes.
///
/// Guarantees (DESIGN.md describes how): every change is delivered at least once, never
/// before it is visible; all devices of a user get the same notification ID; the
/// origin is left out; order for one user and subscription is commit order.
package final class PushPipeline: Service {
    let store: any Store
    private let routes: [any PushRoute]
    let clock: any Clock<Duration>
    let now: @Sendable () -> Instant
    let makeUUID: @Sendable () -> UUID
    let logger: Logger
    let configuration: PushConfiguration
    let metrics: PushMetrics
    private let reached: @Sendable (PassStep) async throws -> Void
    /// Lets one pass run at a time: the loop's, or that of whoever drains.
    private let passing = FairLock()
    private let damage: DamageReport
    let failing: FailingDatabases
    /// How far an entry is processed that cannot be changed, for the next pass; after a start it is
    /// processed from the beginning. One is enough: its database keeps its turn.
    private let unchangeable = Mutex<OutboxBatch.Progress?>(nil)

    /// Creates a pipeline; ``run()`` starts it.
    ///
    /// `reached` is for tests: it is waited for after every stage of a pass, and
    /// a failure ends the pass there.
    package init(
        store: any Store,
        routes: [any PushRoute],
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Instant,
        makeUUID: @escaping @Sendable () -> UUID,
        logger: Logger,
        configuration: PushConfiguration = PushConfiguration(),
        metrics: PushMetrics = PushMetrics(),
        reached: @escaping @Sendable (PassStep) async throws -> Void = { _ in }
    ) {
        self.store = store
        self.routes = routes
        self.clock = clock
        self.now = now
        self.makeUUID = makeUUID
        self.logger = logger
        self.configuration = configuration
        self.metrics = metrics
        damage = DamageReport(logger: logger, metrics: metrics)
        failing = FailingDatabases(logger: logger)
        self.reached = reached
    }

    /// Processes every change that is pending now and that nobody else processes, and returns
    /// how many notifications that made; fails with the first error of a pass, having lost
    /// nothing.
    ///
    /// May be called while ``run()`` runs. A cancelled task ends it after the stage that
    /// is under way: what is pending then stays in the outbox.
    package func drain() async throws -> Int {
        let round = try await round()
        if let failure = round.failure { throw failure }
        return round.notifications
    }

    /// Passes until none has anything to do, or too many fail one after the other; fails
    /// where the store itself seems to be in trouble.
    func round() async throws -> PassRound {
        var round = PassRound()
        var failures = 0
        while failures < configuration.failuresPerRound {
            switch try await pass() {
            case .nothing(let nextVesting):
                round.nextVesting = nextVesting
                round.isComplete = true
                return round
            case .done(let notifications):
                round.notifications += notifications
                failures = 0
            case .failed(let error):
                round.failure = round.failure ?? error
                failures += 1
            }
        }
        return round
    }

    /// One pass through all stages, over databases that it holds meanwhile.
    ///
    /// Only one at a time: other pipelines have leases of their own.
    private func pass() async throws -> PassOutcome {
        try await passing.withLock {
            try Task.checkCancellation()
            let (claimed, batch) = try await claim()
            guard !claimed.leases.isEmpty else { return .nothing(claimed.nextVesting) }
            let passed: Passed
            do {
                passed = try await work(on: claimed.leases, with: batch)
            } catch {
                return try await fail(claimed.leases, error)
            }
            // The notifications are in the log: what fails from here on is no failed pass.
            do {
                try await reached(.committed)
            } catch {
                await giveBack(claimed.leases, passed.batch, after: passed.plan)
                throw error
            }
            // Before the leases are given back, which nobody waits for but other pipelines.
            publish(passed.logged)
            await giveBack(claimed.leases, passed.batch, after: passed.plan)
            try await reached(.published)
            return .done(passed.logged.notifications.count)
        }
    }

    /// Takes databases without changes out of the queue, unless one was put there since.
    private func remove(_ unneeded: [(database: DatabaseID, done: OutboxPosition)]) async throws {
        guard !unneeded.isEmpty else { return }
        try await store.writeInSteps(
            for: nil, about: .databaseWithID(unneeded[0].database), durability: .eventual
        ) { steps in
            for (database, done) in unneeded {
                try steps.write(.databaseWithID(database)) {
                    try $0.markNotified(upTo: done, in: database, keeping: true)
                }
            }
        }
    }

    /// What a pass came to.
    private struct Passed {
        var batch: OutboxBatch
        /// Nil where there was nothing to do.
        var plan: PassPlan?
        var logged = Logged()
    }

    /// All stages up to the commit, over what was read with the claim.
    private func work(
        on leases: [OutboxLease], with claimed: OutboxBatch?
    ) async throws -> Passed {
        // A read of its own is tried again where a damaged page can be mended, and has the error.
        let batch = if let claimed { claimed } else { try await read(leases) }
        note(batch)
        try await reached(.read)
        try Task.checkCancellation()
        try await remove(batch.unneeded)
        guard var plan = try match(batch) else { return Passed(batch: batch) }
        try await reached(.matched)
        try Task.checkCancellation()
        coalesce(&plan)
        try await reached(.coalesced)
        let notifications = build(plan, batch)
        try await reached(.built)
        let logged = try await commit(notifications, plan, batch)
        failing.notified(plan.touched)
        return Passed(batch: batch, plan: plan, logged: logged)
    }
}

// MARK: - The stages

extension PushPipeline {
    /// Reads what is pending, and all that the rules ask about it.
    func read(_ leases: [OutboxLease]) async throws -> OutboxBatch {
        let reading = reading
        return try await store.read { try reading(leases, $0) }
    }

    /// What the next read reads.
    var reading: @Sendable ([OutboxLease], any StoreReader) throws -> OutboxBatch {
        let configuration = configuration
        let progress = unchangeable.withLock { $0 }
        return { leases, reader in
            try OutboxBatch(
                of: leases, from: reader, within: configuration, goingOnFrom: progress
            )
        }
    }

    /// Reports and measures what was read.
    private func note(_ batch: OutboxBatch) {
        damage.report(batch)
        if batch.isCutByBytes { metrics.cutPasses.increment() }
        metrics.outboxDepth.record(batch.depth)
        metrics.outboxLag.record(batch.oldest.map { now().seconds(since: $0) } ?? 0)
    }

    /// Decides which subscriptions fire; nil for an empty batch. Fails in a cancelled task.
    func match(_ batch: OutboxBatch) throws -> PassPlan? {
        guard !batch.items.isEmpty else { return nil }
        var plan = PassPlan()
        var matcher = SubscriptionMatcher(work: MatchingWork(configuration.matchingBytesPerPass))
        for item in batch.items where plan.matches.count < configuration.notificationsPerPass {
            guard !matcher.work.isDone else { break }
            let outcome = try matcher.matches(
                item.entry, candidates: item.candidates, records: item.records,
                devices: batch.devices,
                limit: configuration.notificationsPerPass - plan.matches.count
            )
            plan.matches += outcome.matches
            if let notifiedThrough = outcome.notifiedThrough ?? item.readThrough {
                plan.unfinished = .init(
                    entry: item.entry.id, notifiedThrough: notifiedThrough)
                plan.isUnfinishedChangeable = item.entry.damage != .row
                break
            }
            plan.finish(item.entry)
        }
        plan.consumed = matcher.consumed
        if matcher.unindexed > 0 {
            metrics.unindexedSubscriptions.increment(by: matcher.unindexed)
        }
        let isCut = matcher.work.isDone && plan.changes.count < batch.items.count
        if isCut, !batch.isCutByBytes { metrics.cutPasses.increment() }
        return plan
    }

    /// Drops what a newer match of the batch replaces.
    func coalesce(_ plan: inout PassPlan) {
        plan.coalesced = NotificationCoalescer.coalesced(plan.matches) {
            plan.builder.collapseID(of: $0)
        }
        metrics.coalesced.increment(by: plan.matches.count - plan.coalesced.count)
    }

    /// Makes the notifications, each with its payload, encoded once and pruned.
    func build(_ plan: PassPlan, _ batch: OutboxBatch) -> [BuiltNotification] {
        var builder = plan.builder
        var badges = BadgeCounters(batch.badges)
        let moment = now()
        let notifications = plan.coalesced.compactMap { coalesced -> BuiltNotification? in
            let subscription = coalesced.match.subscription
            guard let database = batch.databases[subscription.database],
                let owner = batch.users[subscription.user]
            else { return nil }
            let id = DerivedNotificationID.of(coalesced.match, in: store.identity)
            var payload = builder.payload(
                for: coalesced.match, in: database, owner: owner, notificationID: id
            )
            if coalesced.countsBadge { payload.badge = badges.next(for: owner.id) }
            return BuiltNotification(
                coalesced, payload: payload, notificationID: id, createdAt: moment,
                pruning: configuration.pruning
            )
        }
        if builder.unreadableRecords > 0 {
            logger.error(
                "record fields in the outbox are unreadable; pushes lack them",
                metadata: ["records": "\(builder.unreadableRecords)"]
            )
        }
        return notifications
    }

    /// Makes the notifications durable, user by user, and then the outbox entries processed, or
    /// processed as far as they are, database by database: the point after which a push exists.
    ///
    /// What ends between two steps leaves notifications in logs whose changes are processed once
    /// more, under the same IDs: they are there once. What is about a database whose lease was lost
    /// is thrown away. Badges are counted again with the log, from what the store has then: a user
    /// may have set one since the batch was read (NOTIF-14). Of users who were removed or
    /// disabled since, nothing is written.
    func commit(
        _ notifications: [BuiltNotification], _ plan: PassPlan, _ batch: OutboxBatch
    ) async throws -> Logged {
        let commit = PassCommit(
            plan: plan, batch: batch, keepsExplanations: configuration.keepsExplanations,
            now: now()
        )
        // A power cut only has the pass made again, under the same IDs, unless it changes more than what
        // follows from the outbox: databases of participants, subscriptions that fire once.
        let changesMore = !plan.consumed.isEmpty || !NotifyParticipants.of(plan.changes).isEmpty
        let (logged, held) = try await store.writeInSteps(
            for: nil, about: batch.onlyDatabase.map { .databaseWithID($0) },
            durability: changesMore ? .immediate : .eventual
        ) {
            try commit.run(notifications, as: $0)
        }
        let lost = batch.held.count - held.count
        if lost > 0 { metrics.lostLeases.increment(by: lost) }
        let part = plan.part(of: held)
        if !part.isUnfinishedChangeable { unchangeable.withLock { $0 = part.unfinished } }
        damage.report(part.damaged)
        metrics.built.increment(by: logged.notifications.count)
        metrics.pruned.increment(by: logged.notifications.count { $0.fullPayload != nil })
        return logged
    }

    /// Hands the notifications to every route. A route that is away finds them in
    /// the log.
    func publish(_ logged: Logged) {
        guard !logged.notifications.isEmpty else { return }
        for route in routes { route.publish(logged.notifications, after: logged.ends) }
        logger.debug(
            "notifications published", metadata: ["count": "\(logged.notifications.count)"])
    }
}

extension Instant {
    /// The seconds since an earlier moment.
    fileprivate func seconds(since earlier: Instant) -> Double {
        Double(rawValue - earlier.rawValue) / 1000
    }
}
