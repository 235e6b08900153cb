// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Takes a change of a shared zone to the shared databases of its participants (SUB-57): there it
/// moves the zone to the end of that database's history, and notifies who subscribed to that.
///
/// Each participant's database is a step of its own. A change that comes again finds that the
/// zone stands for it already, and does nothing.
package struct NotifyParticipants: Sendable {
    /// What a change is to one participant.
    private struct News {
        var user: StoredUser
        var event: OutboxEntry.Event
        /// Nil while the zone is shared with them.
        var deletion: ZoneDeletionReason?
    }

    /// Some of those who have access.
    private struct Page {
        /// Once for each grant.
        var users: [UserID]
        var news: [News]
    }

    private let entry: OutboxEntry
    private var shared: SharedChange

    /// Takes a change; nil for one that is nothing to anybody else.
    package init?(_ entry: OutboxEntry) {
        guard let shared = entry.sharing else { return nil }
        self.entry = entry
        self.shared = shared
    }

    /// Takes changes that are processed together, in their order.
    ///
    /// Steps in which records follow into hierarchies are one where they stand next to one another:
    /// each costs a write for every participant, and all that these notice of them is the newest
    /// position and what kinds of changes there were.
    package static func of(_ entries: [OutboxEntry]) -> [NotifyParticipants] {
        var found: [NotifyParticipants] = []
        for entry in entries {
            guard let next = NotifyParticipants(entry) else { continue }
            if let last = found.last, let both = last.joined(with: next) {
                found[found.count - 1] = both
            } else {
                found.append(next)
            }
        }
        return found
    }

    /// Both as one, if they are steps in the same zone.
    private func joined(with next: NotifyParticipants) -> NotifyParticipants? {
        guard isStep, next.isStep, entry.database == next.entry.database,
            shared.zone == next.shared.zone
        else { return nil }
        var joined = next
        joined.shared.hierarchies = shared.hierarchies.merging(next.shared.hierarchies) { $0 + $1 }
        joined.shared = joined.shared.thinned
        return joined
    }

    /// Whether it is nobody's change: records followed into hierarchies, or out of them.
    private var isStep: Bool {
        guard case .records(let changes) = entry.event, changes.isEmpty else { return false }
        return entry.originUser == nil && !shared.isZoneWide && shared.ended.isEmpty
    }

    /// Takes all steps.
    package func run(at now: Instant, as steps: some StoreSteps) throws {
        var last: UserID?
        var hasMore = true
        var ended = Set(shared.ended)
        while hasMore {
            // Nothing is written here: it is found out who has access now.
            let page = try steps.write(.batch) { transaction -> Page in
                let grants = try transaction.grants(
                    in: shared.zone, of: nil, after: last, limit: ShareGrant.perPage
                )
                return Page(
                    users: grants.map(\.user),
                    news: try news(
                        of: Dictionary(grouping: grants, by: \.user), ended, in: transaction)
                )
            }
            hasMore = page.users.count >= ShareGrant.perPage
            for one in page.news { try notify(one, at: now, as: steps) }
            ended.subtract(page.users)
            last = page.users.last ?? last
        }
        let lost = ended
        let gone = try steps.write(.batch) { try $0.users(lost) }
        for user in gone.values.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
            let reason = deletion
            try notify(
                News(
                    user: user, event: .zoneDeleted(reason, subscriptions: []), deletion: reason),
                at: now, as: steps
            )
        }
    }

    /// Why the zone is gone for those who lost it.
    private var deletion: ZoneDeletionReason {
        if case .zoneDeleted(let reason, _) = entry.event { reason } else { .deleted }
    }

    /// What the change is to users who have access, each with what they may know of it.
    private func news(
        of grants: [UserID: [ShareGrant]], _ ended: Set<UserID>, in reader: some UserReading
    ) throws -> [News] {
        let users = try reader.users(Set(grants.keys))
        return grants.keys.sorted { $0.rawValue < $1.rawValue }.compactMap { id in
            guard let user = users[id] else { return nil }
            // Who came later saw nothing of it, and is notified of the change by which they came.
            let known = grants[id]?.filter { $0.position <= shared.position } ?? []
            var changes =
                shared.isZoneWide && !known.isEmpty ? entry.changes.map(\.withoutFields) : []
            for grant in known { changes += shared.hierarchies[grant.share] ?? [] }
            if changes.isEmpty, ended.contains(id) {
                // They have another share of the zone, and lost this one.
                changes = [
                    RecordChange(
                        recordName: "", recordType: ShareNames.recordType, event: .deleted)
                ]
            }
            guard !changes.isEmpty else { return nil }
            return News(user: user, event: .records(changes))
        }
    }

    private func notify(_ news: News, at now: Instant, as steps: some StoreSteps) throws {
        let key = DatabaseKey(container: news.user.container, scope: .shared, owner: news.user.id)
        try steps.write(.database(key)) { transaction in
            let database = try transaction.makeDatabase(key)
            let id = GrantedZoneID(owner: entry.zoneOwner, zone: entry.zoneName)
            let arrival = SharedZoneArrival(
                id: id, zone: shared.zone, source: shared.position, event: news.event,
                deletion: news.deletion, originUser: entry.originUser,
                originClient: entry.originClient, committedAt: entry.committedAt)
            try arrival.run(
                over: try transaction.sharedZone(id, in: database.id), in: database, at: now,
                transaction)
        }
    }
}

/// A change of a zone as it comes into the shared database of somebody whom it is shared with.
struct SharedZoneArrival {
    var id: GrantedZoneID
    var zone: ZoneKey
    /// The position of the change in the zone's own database.
    var source: Position
    var event: OutboxEntry.Event
    /// Nil while the zone is shared with them.
    var deletion: ZoneDeletionReason?
    var originUser: UserID?
    var originClient: String?
    var committedAt: Instant

    /// Moves the zone to the end of the database's history, and notifies who subscribed to that;
    /// where the database is as far already, nothing happens.
    func run(
        over known: StoredSharedZone?, in database: StoredDatabase, at now: Instant,
        _ transaction: some ZoneWriting & SharedZoneWriting & OutboxWriting
    ) throws {
        // NB: who accepted may have fetched the zone before it came here, so that its end is
        // news also where nothing is known of it.
        if let known {
            // An older zone of the same name, which is one of earlier positions, means nothing for this one.
            guard known.source < source else { return }
        }
        let position = try transaction.advance(database.id, by: 1, at: now)
        try transaction.putSharedZone(
            StoredSharedZone(
                owner: id.owner, name: id.zone, zone: zone, position: position, source: source,
                deletion: deletion, deletedAt: deletion == nil ? nil : now
            ),
            in: database.id
        )
        guard !database.subscriptionKinds.isEmpty else { return }
        let isNew = known.map { $0.deletedAt != nil || $0.zone != zone } ?? true
        try transaction.appendOutbox([
            OutboxEntry(
                database: database.id, zoneName: id.zone, zoneOwner: id.owner,
                // SUB-58: what is there for the first time is a zone that began.
                event: isNew && deletion == nil ? .zoneCreated : event,
                originUser: originUser, originClient: originClient, committedAt: committedAt
            )
        ])
    }
}

extension RecordChange {
    /// What only database subscriptions see: these look into no fields.
    var withoutFields: RecordChange {
        RecordChange(recordName: recordName, recordType: recordType, event: event)
    }
}
