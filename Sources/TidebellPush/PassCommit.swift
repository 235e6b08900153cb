// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// How what a pass decided becomes durable: first in the logs of users, step by step, then in the
/// databases whose changes are processed by it.
///
/// In this order, because a step that comes again then changes nothing: a notification that is in
/// the log is known by its ID and counts no badge again, and a change that was processed is not in
/// the outbox any more.
struct PassCommit: Sendable {
    let plan: PassPlan
    let batch: OutboxBatch
    let keepsExplanations: Bool
    /// The moment of the pass.
    let now: Instant

    /// What came of a notification.
    private struct Appended {
        var built: BuiltNotification
        var stored: StoredNotification
    }

    /// Takes the steps; returns what is in the log, and the databases that were held all the time.
    func run(
        _ notifications: [BuiltNotification], as steps: some StoreSteps
    ) throws -> (logged: Logged, held: Set<DatabaseID>) {
        invariant(
            plan.touched.isSubset(of: batch.held.map(\.lease.key)),
            "a pass processes changes of databases that it holds"
        )
        // Nothing is written here: it is found out what may be notified.
        let users = Set(notifications.map(\.notification.user))
        let first = batch.held.first?.lease.key
        let (held, reachable) = try steps.write(.looking(at: first)) { transaction in
            transaction.readAhead { _ = try $0.reachableUsers(among: users) }
            return (
                Set(
                    try batch.held.filter { try transaction.holds($0.lease, at: $0.version) }
                        .map(\.lease.key)
                ),
                try transaction.reachableUsers(among: users)
            )
        }
        var logged = Logged()
        let appended = try append(
            notifications.filter {
                held.contains($0.notification.database) && reachable[$0.notification.user] != nil
            }, to: &logged, as: steps
        )
        logged.notifications = appended.map(\.stored)
        try notifyParticipants(of: held, as: steps)
        return (logged, try settle(held, appended, as: steps))
    }

    /// Appends to the log of each user; returns what came of each notification, in their order.
    private func append(
        _ notifications: [BuiltNotification], to logged: inout Logged, as steps: some StoreSteps
    ) throws -> [Appended] {
        var positions: [UserID: [Int]] = [:]
        var users: [UserID] = []
        for (index, built) in notifications.enumerated() {
            let user = built.notification.user
            if positions[user] == nil { users.append(user) }
            positions[user, default: []].append(index)
        }
        // Others may append to the same logs: in one order, nobody waits for who waits for them.
        if !steps.areTogether { users.sort { $0.rawValue < $1.rawValue } }
        var appended = [Appended?](repeating: nil, count: notifications.count)
        for user in users {
            let indices = positions[user] ?? []
            let ids = Set(indices.map { notifications[$0].notification.notificationID })
            let (end, own) = try steps.write(.user(user)) { transaction in
                transaction.readAhead { ahead in
                    _ = try ahead.newestNotifications(of: [user])
                    _ = try ahead.badges(of: [user])
                    if !steps.areTogether { _ = try ahead.notificationSequences(ids, of: user) }
                }
                return (
                    try transaction.newestNotifications(of: [user])[user],
                    try append(
                        indices.map { notifications[$0] }, of: user, in: transaction,
                        lookingForAll: !steps.areTogether
                    )
                )
            }
            logged.ends[user] = end
            for (index, one) in zip(indices, own) { appended[index] = one }
        }
        return appended.compactMap(\.self)
    }

    /// Appends to one log, with the badge that each counts.
    ///
    /// - Parameter looksForAll: Whether a pass before may have appended some of them.
    private func append(
        _ notifications: [BuiltNotification], of user: UserID,
        in transaction: some NotificationLogWriting & NotificationHistoryReading & BadgeWriting,
        lookingForAll looksForAll: Bool
    ) throws -> [Appended] {
        var notifications = notifications
        if notifications.contains(where: \.coalesced.countsBadge) {
            let ids = Set(notifications.map(\.notification.notificationID))
            let known = looksForAll ? try transaction.notificationSequences(ids, of: user) : [:]
            let before = BadgeCounters(try transaction.badges(of: [user]))
            var badges = before
            for index in notifications.indices where notifications[index].coalesced.countsBadge {
                let isKnown = known[notifications[index].notification.notificationID] != nil
                notifications[index].setBadge(
                    isKnown ? before.counts[user] ?? 0 : badges.next(for: user)
                )
            }
            if badges != before { try transaction.putBadges(badges.counts) }
        }
        let stored = try transaction.appendNotifications(
            notifications.map(\.notification), unlessAfter: looksForAll ? [:] : batch.logEnds
        )
        return zip(notifications, stored).map { Appended(built: $0, stored: $1) }
    }

    /// Takes what is processed to the databases of those with whom its zones are shared: before it
    /// leaves the outbox, because what comes again there changes nothing.
    private func notifyParticipants(
        of held: Set<DatabaseID>, as steps: some StoreSteps
    ) throws {
        let changes = plan.changes.filter { held.contains($0.database) }
        for change in NotifyParticipants.of(changes) { try change.run(at: now, as: steps) }
    }

    /// Takes what is processed out of each outbox; returns the databases that were held until then.
    private func settle(
        _ held: Set<DatabaseID>, _ appended: [Appended], as steps: some StoreSteps
    ) throws -> Set<DatabaseID> {
        let notified = Dictionary(grouping: appended, by: \.stored.database)
        let parts = plan.byDatabase()
        var settled = held
        for (lease, version) in batch.held where held.contains(lease.key) {
            guard let part = parts[lease.key] else { continue }
            let notified = notified[lease.key] ?? []
            let isHeld = try steps.write(.databaseWithID(lease.key)) { transaction in
                // Whoever claimed it meanwhile has notified the same, under the same IDs. Nobody
                // can between steps of one transaction.
                guard try steps.areTogether || transaction.holds(lease, at: version) else {
                    return false
                }
                try part.settle(in: transaction, keeping: keepsExplanations)
                if keepsExplanations {
                    try PassExplanation(
                        of: part.changes, notified.map(\.built), as: notified.map(\.stored)
                    ).keep(in: transaction)
                }
                return true
            }
            if !isHeld { settled.remove(lease.key) }
        }
        invariant(
            settled.isSubset(of: held), "what is settled was held when its users were notified")
        return settled
    }
}
