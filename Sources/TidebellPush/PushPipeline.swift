// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import TidebellCore
import TidebellScheduling
import TidebellWire
import Metrics

/// Turns committed changes into notifications, and notifications into pushes.
///
/// Guarantees (DESIGN.md says how): every change is told at least once, never
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
    /// How far an entry is told that cannot be changed, for the next pass; after a start it is
    /// told from the beginning. One is enough: its database keeps its turn.
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

    /// Tells every change that is pending now and that nobody else is telling, and returns
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
            let claimed = try await claim()
            guard !claimed.leases.isEmpty else { return .nothing(claimed.nextVesting) }
            let logged: Logged
            do {
                logged = try await work(on: claimed.leases)
            } catch {
                return try await fail(claimed.leases, error)
            }
            // The notifications are in the log: what fails from here on is no failed pass.
            try await reached(.committed)
            publish(logged)
            try await reached(.published)
            return .done(logged.notifications.count)
        }
    }

    /// Takes databases without changes out of the queue, unless one was put there since.
    private func remove(_ unneeded: [(database: DatabaseID, done: Int64)]) async throws {
        guard !unneeded.isEmpty else { return }
        try await store.write { transaction in
            for (database, done) in unneeded {
                try transaction.markTold(upTo: done, in: database, keeping: true)
            }
        }
    }

    /// All stages up to the commit.
    private func work(on leases: [OutboxLease]) async throws -> Logged {
        let batch = try await read(leases)
        try await reached(.read)
        try Task.checkCancellation()
        try await remove(batch.unneeded)
        guard var plan = try match(batch) else {
            await giveBack(leases, batch)
            return Logged()
        }
        try await reached(.matched)
        try Task.checkCancellation()
        coalesce(&plan)
        try await reached(.coalesced)
        let notifications = build(plan, batch)
        try await reached(.built)
        let logged = try await commit(notifications, plan, batch)
        failing.told(plan.touched)
        await giveBack(leases, batch, after: plan)
        return logged
    }
}

// MARK: - The stages

extension PushPipeline {
    /// Reads what is pending, and all that the rules ask about it.
    func read(_ leases: [OutboxLease]) async throws -> OutboxBatch {
        let configuration = configuration
        let progress = unchangeable.withLock { $0 }
        let batch = try await store.read { reader in
            try OutboxBatch(
                of: leases, from: reader, within: configuration, goingOnFrom: progress
            )
        }
        damage.report(batch)
        if batch.isCutByBytes { metrics.cutPasses.increment() }
        metrics.outboxDepth.record(batch.depth)
        metrics.outboxLag.record(batch.oldest.map { now().seconds(since: $0) } ?? 0)
        return batch
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
            if let toldThrough = outcome.toldThrough ?? item.readThrough {
                plan.unfinished = .init(
                    database: item.entry.database, entry: item.entry.id, toldThrough: toldThrough
                )
                plan.isUnfinishedChangeable = item.entry.damage != .row
                break
            }
            plan.finish(item.entry)
        }
        plan.consumed = matcher.consumed
        let isCut = matcher.work.isDone && plan.changes.count < batch.items.count
        if isCut, !batch.isCutByBytes { metrics.cutPasses.increment() }
        return plan
    }

    /// Drops what a newer match of the batch replaces.
    func coalesce(_ plan: inout PassPlan) {
        plan.told = NotificationCoalescer.coalesced(plan.matches) {
            plan.builder.collapseID(of: $0)
        }
        metrics.coalesced.increment(by: plan.matches.count - plan.told.count)
    }

    /// Makes the notifications, each with its payload, encoded once and pruned.
    func build(_ plan: PassPlan, _ batch: OutboxBatch) -> [BuiltNotification] {
        var builder = plan.builder
        var badges = BadgeCounters(batch.badges)
        let moment = now()
        let notifications = plan.told.compactMap { told -> BuiltNotification? in
            let subscription = told.match.subscription
            guard let database = batch.databases[subscription.database],
                let owner = batch.users[subscription.user]
            else { return nil }
            let id = DerivedNotificationID.of(told.match, in: store.identity)
            var payload = builder.payload(
                for: told.match, in: database, owner: owner, notificationID: id
            )
            if told.countsBadge { payload.badge = badges.next(for: owner.id) }
            return BuiltNotification(
                told, saying: payload, notificationID: id, createdAt: moment,
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

    /// Makes the notifications durable and the outbox entries told, or told as far
    /// as they are, in one transaction: the point after which a push exists.
    ///
    /// What of it is about a database whose lease was lost is thrown away. Badges are counted
    /// again there, from what the store has then: a user may have set one since the batch was
    /// read (NOTIF-14). Of users who were removed or disabled since, nothing is written.
    func commit(
        _ notifications: [BuiltNotification], _ plan: PassPlan, _ batch: OutboxBatch
    ) async throws -> Logged {
        let keepsExplanations = configuration.keepsExplanations
        let (logged, held) = try await store.write { transaction in
            let held = try Set(
                batch.held.filter { try transaction.holds($0.lease, at: $0.version) }
                    .map(\.lease.database)
            )
            let plan = plan.part(of: held)
            let reachable = try transaction.reachableUsers(
                among: Set(notifications.map(\.notification.user))
            )
            let notifications = try transaction.numbered(
                notifications.filter {
                    held.contains($0.notification.database)
                        && reachable[$0.notification.user] != nil
                }
            )
            var logged = Logged()
            if !notifications.isEmpty {
                logged.ends = try transaction.newestNotifications(of: Set(reachable.keys))
                logged.notifications = try transaction.appendNotifications(
                    notifications.map(\.notification), unlessAfter: batch.logEnds
                )
            }
            try plan.settle(in: transaction, keeping: keepsExplanations)
            if keepsExplanations {
                try ToldAccount(of: plan.changes, notifications, as: logged.notifications)
                    .keep(in: transaction)
            }
            return (logged, held)
        }
        let lost = batch.held.count - held.count
        if lost > 0 { metrics.lostLeases.increment(by: lost) }
        let told = plan.part(of: held)
        if !told.isUnfinishedChangeable { unchangeable.withLock { $0 = told.unfinished } }
        damage.report(told.damaged)
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

extension BadgeWriting {
    /// Gives the notifications that count their badges, and stores what they come
    /// to.
    fileprivate func numbered(
        _ notifications: [BuiltNotification]
    ) throws -> [BuiltNotification] {
        let users = Set(notifications.filter(\.told.countsBadge).map(\.notification.user))
        guard !users.isEmpty else { return notifications }
        var notifications = notifications
        var badges = BadgeCounters(try badges(of: users))
        badges.number(&notifications)
        try putBadges(badges.counts)
        return notifications
    }
}

extension Instant {
    /// The seconds since an earlier moment.
    fileprivate func seconds(since earlier: Instant) -> Double {
        Double(rawValue - earlier.rawValue) / 1000
    }
}
