// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import TidebellCore
import TidebellWire

/// Turns committed changes into notifications, and notifications into pushes.
///
/// Guarantees (DESIGN.md says how): every change is told at least once, never
/// before it is visible; all devices of a user get the same notification ID; the
/// origin is left out; order for one user and subscription is commit order.
package final class PushPipeline: Service {
    private let store: any Store
    private let routes: [any PushRoute]
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Instant
    private let makeUUID: @Sendable () -> UUID
    private let logger: Logger
    private let configuration: PushConfiguration
    private let metrics: PushMetrics
    private let reached: @Sendable (PassStep) async throws -> Void
    private let turnstile = Turnstile()
    private let damage: DamageReport
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
        makeUUID: @escaping @Sendable () -> UUID = { UUID.random() },
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
        self.reached = reached
    }

    /// Tells every change that is pending now, and returns how many notifications
    /// that made; fails with the store's error, having lost nothing.
    ///
    /// May be called while ``run()`` runs. A cancelled task ends it after the stage that
    /// is under way: what is pending then stays in the outbox.
    package func drain() async throws -> Int {
        var count = 0
        while let told = try await pass() { count += told }
        return count
    }

    /// One round through all stages; nil when nothing was pending.
    ///
    /// Only one at a time: what is committed first has to be published first.
    private func pass() async throws -> Int? {
        try await turnstile.run {
            try Task.checkCancellation()
            let batch = try await read()
            try await reached(.read)
            try Task.checkCancellation()
            guard var plan = match(batch) else { return nil }
            try await reached(.matched)
            try Task.checkCancellation()
            coalesce(&plan)
            try await reached(.coalesced)
            let notifications = build(plan, batch)
            try await reached(.built)
            let stored = try await commit(notifications, plan)
            try await reached(.committed)
            publish(stored)
            try await reached(.published)
            return stored.count
        }
    }
}

// MARK: - The stages

extension PushPipeline {
    /// What a pass is going to do to the store.
    struct Plan {
        var matches: [SubscriptionMatch] = []
        /// What is told of the matches.
        var told: [CoalescedMatch] = []
        /// Decodes the fields of the changed records, once for all stages.
        var builder = NotificationBuilder()
        /// `firesOnce` subscriptions that are used up (SUB-19).
        var consumed: [StoredSubscription] = []
        /// The changes that are told in full.
        var changes: [OutboxEntry] = []
        /// The newest of them of each database, in the order of the batch.
        var lastEntries: [(database: DatabaseID, entry: Int64)] = []
        /// The entry after it, where it has more subscribers than a pass tells,
        /// and how far it is told.
        var unfinished: OutboxBatch.Progress?
        /// Whether how far can be noted with the entry.
        var isUnfinishedChangeable = true
        /// Those of the changes that could not be read.
        var damaged: [OutboxEntry] { changes.filter { $0.damage != nil } }

        /// Notes that a change is told in full.
        mutating func finish(_ entry: OutboxEntry) {
            changes.append(entry)
            if lastEntries.last?.database == entry.database { lastEntries.removeLast() }
            lastEntries.append((entry.database, entry.id))
        }
    }

    /// Reads what is pending, and all that the rules ask about it.
    func read() async throws -> OutboxBatch {
        let configuration = configuration
        let progress = unchangeable.withLock { $0 }
        let batch = try await store.read { reader in
            try OutboxBatch(from: reader, within: configuration, goingOnFrom: progress)
        }
        damage.report(batch)
        if batch.isCutByBytes { metrics.cutPasses.increment() }
        metrics.outboxDepth.record(batch.depth)
        metrics.outboxLag.record(batch.oldest.map { now().seconds(since: $0) } ?? 0)
        return batch
    }

    /// Decides which subscriptions fire; nil for an empty batch.
    func match(_ batch: OutboxBatch) -> Plan? {
        guard !batch.items.isEmpty else { return nil }
        var plan = Plan()
        var matcher = SubscriptionMatcher()
        for item in batch.items where plan.matches.count < configuration.notificationsPerPass {
            let outcome = matcher.matches(
                item.entry, candidates: item.candidates, records: item.records,
                devices: batch.devices,
                limit: configuration.notificationsPerPass - plan.matches.count
            )
            plan.matches += outcome.matches
            if let toldThrough = outcome.toldThrough ?? item.readThrough {
                plan.unfinished = .init(entry: item.entry.id, toldThrough: toldThrough)
                plan.isUnfinishedChangeable = item.entry.damage != .row
                break
            }
            plan.finish(item.entry)
        }
        plan.consumed = matcher.consumed
        return plan
    }

    /// Drops what a newer match of the batch replaces.
    func coalesce(_ plan: inout Plan) {
        plan.told = NotificationCoalescer.coalesced(plan.matches) {
            plan.builder.collapseID(of: $0)
        }
        metrics.coalesced.increment(by: plan.matches.count - plan.told.count)
    }

    /// Makes the notifications, each with its payload, encoded once and pruned.
    func build(_ plan: Plan, _ batch: OutboxBatch) -> [BuiltNotification] {
        var builder = plan.builder
        var badges = BadgeCounters(batch.badges)
        let moment = now()
        let notifications = plan.told.compactMap { told -> BuiltNotification? in
            let subscription = told.match.subscription
            guard let database = batch.databases[subscription.database],
                let owner = batch.users[subscription.user]
            else { return nil }
            let id = makeUUID().uuidString.lowercased()
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
    /// Badges are counted again there, from what the store has then: a user may
    /// have set one since the batch was read (NOTIF-14). Of users who were removed or
    /// disabled since, nothing is written.
    func commit(
        _ notifications: [BuiltNotification], _ plan: Plan
    ) async throws -> [StoredNotification] {
        let keepsExplanations = configuration.keepsExplanations
        let damaged = plan.damaged
        // A row that cannot be read cannot be removed either.
        let kept = Set(damaged.filter { $0.damage == .row }.map(\.database))
        let stored = try await store.write { transaction in
            let reachable = try transaction.reachableUsers(
                among: Set(notifications.map(\.notification.user))
            )
            let notifications = try transaction.numbered(
                notifications.filter { reachable[$0.notification.user] != nil }
            )
            let stored =
                notifications.isEmpty
                ? [] : try transaction.appendNotifications(notifications.map(\.notification))
            for subscription in plan.consumed { try subscription.remove(from: transaction) }
            for entry in damaged where entry.damage == .event {
                try transaction.setToldThrough(.setAside, ofOutboxEntry: entry.id)
            }
            for (database, entry) in plan.lastEntries {
                try transaction.markTold(
                    upTo: entry, in: database,
                    keeping: keepsExplanations || kept.contains(database)
                )
            }
            if let unfinished = plan.unfinished, plan.isUnfinishedChangeable {
                try transaction.setToldThrough(
                    unfinished.toldThrough, ofOutboxEntry: unfinished.entry)
            }
            if keepsExplanations {
                try ToldAccount(of: plan.changes, notifications, as: stored).keep(in: transaction)
            }
            return stored
        }
        if !plan.isUnfinishedChangeable { unchangeable.withLock { $0 = plan.unfinished } }
        damage.report(damaged)
        metrics.built.increment(by: stored.count)
        metrics.pruned.increment(by: stored.count { $0.fullPayload != nil })
        return stored
    }

    /// Hands the notifications to every route. A route that is away finds them in
    /// the log.
    func publish(_ notifications: [StoredNotification]) {
        guard !notifications.isEmpty else { return }
        for route in routes { route.publish(notifications) }
        logger.debug("notifications published", metadata: ["count": "\(notifications.count)"])
    }
}

// MARK: - The service

extension PushPipeline {
    /// Runs until the task is cancelled or the service group shuts down
    /// gracefully; what is pending then stays in the outbox for the next start.
    package func run() async throws {
        // Before the first pass, so that no commit falls between the two.
        let commits = store.outboxCommits()
        let wake = WakeSignal(isRaised: true)
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in commits { wake.raise() } }
                group.addTask { await self.raise(wake) }
                await self.tell(whenever: wake)
                group.cancelAll()
            }
        }
    }

    /// Covers wake-ups that got lost.
    private func raise(_ wake: WakeSignal) async {
        // Sleeping fails by cancellation only, which is the end.
        while (try? await clock.sleep(for: configuration.pollInterval)) != nil {
            wake.raise()
        }
    }

    private func tell(whenever wake: WakeSignal) async {
        var failures = 0
        while await wake.wait() {
            do {
                if configuration.coalescingWindow > .zero {
                    try await clock.sleep(for: configuration.coalescingWindow)
                }
                _ = try await drain()
                if failures > 0 { logger.notice("push pipeline works again") }
                failures = 0
            } catch {
                guard !Task.isCancelled else { return }
                failures += 1
                await rest(after: failures, error)
                wake.raise()
            }
        }
    }

    private func rest(after failures: Int, _ error: any Error) async {
        metrics.failures.increment()
        if failures == 1 {
            // Once, not at every try: the next news is that it works again.
            logger.warning(
                "push pipeline failed; pushes wait in the outbox and are tried again",
                metadata: ["error": "\(error)"]
            )
        }
        // Cancellation ends the rest; the caller's next wait notices it.
        try? await clock.sleep(for: configuration.retryDelay(after: failures))
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

extension StoredSubscription {
    /// Removes the subscription unless it was saved anew since it was read.
    fileprivate func remove(from transaction: some SubscriptionWriting) throws {
        let id: Set = [subscription.subscriptionID]
        guard try transaction.subscriptions(id, of: user, in: database) == [self] else { return }
        try transaction.removeSubscriptions(id, of: user, in: database)
    }
}

extension Instant {
    /// The seconds since an earlier moment.
    fileprivate func seconds(since earlier: Instant) -> Double {
        Double(rawValue - earlier.rawValue) / 1000
    }
}
