// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension Simulation {
    /// Looks at what is durable now: what a pass took from the outbox was processed, and
    /// the log holds what it must.
    func observe() async throws {
        guard !walk.hasSharing else { return try await observeSharing() }
        let ends = people.enumerated().map { ($1.id, model.logEnd(of: $0)) }
        let (outbox, notifications) = try await base.read { reader in
            let notifications = try ends.flatMap { user, newest in
                try reader.notifications(
                    for: user, after: NotificationSequence(rawValue: newest),
                    excludingOrigin: nil, limit: 10_000
                )
            }
            return (try reader.allOutboxEntries(), notifications)
        }
        let ids = Set(outbox.map(\.id))
        let notified = model.pending.filter { $0.entry.map { !ids.contains($0) } ?? false }
        model.pending.removeAll { $0.entry.map { !ids.contains($0) } ?? false }
        let pending = Dictionary(grouping: model.pending.compactMap(\.entry), by: \.database)
        try demand(
            model.pending.allSatisfy { $0.entry != nil }
                && pending == Dictionary(grouping: outbox.map(\.id), by: \.database),
            "the outbox lost or changed entries"
        )
        let entries = Dictionary(uniqueKeysWithValues: outbox.map { ($0.id, $0) })
        var parts: [Change] = []
        for index in model.pending.indices {
            let change = model.pending[index]
            guard let entry = change.entry.flatMap({ entries[$0] }) else { continue }
            let isFirst = !model.pending[..<index].contains { $0.home.owner == change.home.owner }
            try demand(
                (isFirst || entry.notifiedThrough == .start)
                    && !notified.contains {
                        $0.home.owner == change.home.owner
                            && ($0.entry?.position ?? .start) > entry.position
                    },
                "a change was processed before an older one of its database"
            )
            guard entry.notifiedThrough > change.notifiedThrough else { continue }
            model.pending[index].notifiedThrough = entry.notifiedThrough
            parts.append(model.pending[index])
        }
        let rows = try await read(notifications.sorted { $0.sequence < $1.sequence })
        if !notified.isEmpty || !rows.isEmpty {
            guard let found = found[active] else {
                throw Violation("something was sent outside a pass")
            }
            try model.settle(notified, andParts: parts, into: rows, finding: found)
        }
        let expected = Set(model.log.filter { $0.state == .living }.map(\.sequence))
        let living = try await livingSequences()
        try demand(
            living == expected,
            "the log holds \(living.sorted()), expected \(expected.sorted())"
        )
    }

    /// The sequences of all notifications in the log.
    func livingSequences() async throws -> Set<Int64> {
        let users = Set(people.map(\.id))
        return try await base.read { reader in
            Set(
                try users.flatMap { user in
                    try reader.notifications(
                        for: user, after: .start, excludingOrigin: nil, limit: 10_000
                    )
                }.map(\.sequence.rawValue)
            )
        }
    }

    /// Finds the entry of each new change; one without fired nothing.
    func findEntries() async throws {
        let (people, newest) = (people.map(\.id), newestEntries)
        // By the owner of their database.
        var entries = try await base.read { reader in
            var entries: [Int?: ArraySlice<OutboxEntry>] = [:]
            for outbox in try reader.outboxes(limit: 10_000) {
                let owner = try reader.database(id: outbox.database)?.key.owner
                let known = newest[outbox.database] ?? .start
                entries[owner.flatMap { people.firstIndex(of: $0) }, default: []] +=
                    outbox.entries.filter { $0.position > known }
            }
            return entries
        }
        for index in model.pending.indices where model.pending[index].entry == nil {
            let change = model.pending[index]
            guard let entry = entries[change.home.owner]?.first, change.isWritten(as: entry) else {
                try demand(change.due.isEmpty, "a change of \(change.home) left no outbox entry")
                continue
            }
            model.pending[index].entry = entry.id
            newestEntries[entry.database] = entry.position
            changeCount += 1
            entries[change.home.owner]?.removeFirst()
        }
        try demand(
            entries.values.allSatisfy(\.isEmpty), "the outbox holds what did not happen: \(entries)"
        )
        model.pending.removeAll { $0.entry == nil }
    }

    /// Checks what a notification contains, whatever its change.
    private func read(_ notifications: [StoredNotification]) async throws -> [Row] {
        var rows: [Row] = []
        for notification in notifications {
            let push = try Push(notification.payload)
            guard let user = people.firstIndex(where: { $0.id == notification.user }) else {
                throw Violation("a notification is for nobody")
            }
            let owner = push.scope == .public ? ZoneID.publicOwner : people[user].recordName
            try demand(
                push.owner == people[user].recordName && push.zoneOwner == owner
                    && push.container == Self.container.container && !push.isPruned
                    && push.notificationID == notification.notificationID
                    && push.subscriptionID == notification.subscriptionID
                    && push.isVisual != notification.isBackground,
                "a payload contradicts its notification: \(push)"
            )
            try demand(
                // What a lost life sent is sent again under the same ID.
                !model.log.contains {
                    $0.push.notificationID == push.notificationID && $0.state != .lost
                },
                "two notifications have the ID \(push.notificationID)"
            )
            rows.append(
                Row(
                    sequence: notification.sequence.rawValue, user: user,
                    origin: notification.originClient,
                    subscription: SubscriptionName(
                        user: user, scope: push.scope, id: push.subscriptionID
                    ),
                    push: push, payload: notification.payload,
                    createdAt: notification.createdAt, isBackground: notification.isBackground,
                    collapseID: notification.collapseID
                )
            )
        }
        return rows
    }

    /// Checks the whole promise: every device received every event of its user,
    /// or a later one that stands for it, unless it is the origin or was away
    /// longer than the log reaches.
    func checkCoverage() throws {
        for device in model.devices.values {
            for row in model.log
            where row.user == device.user && row.sequence > device.start
                && row.origin != device.client && row.state != .trimmed && row.state != .lost
            {
                let isDelivered =
                    device.delivered.contains(row.sequence)
                    || row.replaceKey != nil
                        && model.log.contains {
                            $0.sequence > row.sequence && $0.replaceKey == row.replaceKey
                                && (device.delivered.contains($0.sequence) || $0.state == .trimmed)
                        }
                try demand(isDelivered, "\(device.client) never received \(row.push)")
            }
        }
    }
}

extension Change {
    /// Whether an outbox entry is this change's.
    fileprivate func isWritten(as entry: OutboxEntry) -> Bool {
        guard entry.zoneName == home.zone, entry.originClient == origin else { return false }
        switch (event, entry.event) {
        case (.records(let facts), .records(let changes)):
            return Set(facts.map(\.name)) == Set(changes.map(\.recordName))
        case (.zoneCreated, .zoneCreated): return true
        case (.zoneDeleted, .zoneDeleted): return true
        default: return false
        }
    }
}

extension StoreReader {
    /// The pending changes of all databases, in the order of each.
    fileprivate func allOutboxEntries() throws -> [OutboxEntry] {
        try outboxes(limit: 10_000).flatMap(\.entries)
    }
}
