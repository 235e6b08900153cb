// SPDX-License-Identifier: Apache-2.0
import TidebellWire

// What changes of shared zones were to those they are shared with. It follows from what is stored now:
// who may see what, and which change took it from them.
extension PushExplainer {
    /// Participants shown of one change.
    static let participants = 20
    /// Zones of others looked at of one shared database.
    private static let sharedZones = 100

    /// Adds what a change of a shared zone was to its participants; of whom is asked for, to them alone.
    mutating func addParticipants(
        to explained: inout ExplainedChange, _ change: KeptChange, in database: StoredDatabase
    ) throws {
        guard database.key.scope == .private, query.notificationID == nil,
            let ownerID = database.key.owner, let owner = try reader.users([ownerID])[ownerID],
            let zone = try sharedZone(of: change.entry, in: database, owner)
        else { return }
        for user in try participants(of: zone) where user.id != ownerID {
            if explained.participants.count == Self.participants {
                explained.hasMoreParticipants = true
                break
            }
            guard let participant = try participant(user, change, in: zone) else { continue }
            explained.participants.append(participant)
        }
    }

    /// Returns changes of zones that others share with the account asked for, or did, and that were
    /// not taken to it: at most `limit`, the newest.
    mutating func changesNotTaken(limit: Int) throws -> [ExplainedChange] {
        guard let account, query.scope == nil || query.scope == .shared,
            query.notificationID == nil
        else { return [] }
        var found: [ExplainedChange] = []
        for user in try reader.users(of: account, limit: Self.databasesSearched)
        where query.concerns(user.container) {
            let key = DatabaseKey(container: user.container, scope: .shared, owner: user.id)
            guard let database = try reader.database(key) else { continue }
            let zones = try reader.sharedZoneChanges(
                in: database.id, after: .start, limit: Self.sharedZones)
            for zone in zones where query.zoneName == nil || query.zoneName == zone.name {
                found += try changesNotTaken(of: zone, in: user.container, limit: limit)
            }
        }
        return Array(found.sorted { $0.committedAt > $1.committedAt }.prefix(limit))
    }

    private mutating func changesNotTaken(
        of zone: StoredSharedZone, in container: ContainerKey, limit: Int
    ) throws -> [ExplainedChange] {
        guard let owner = try reader.user(recordName: zone.owner, in: container) else { return [] }
        var found: [ExplainedChange] = []
        var kept = KeptChangeQuery(ofZone: zone.name, of: owner, .private)
        kept.recordName = query.recordName
        try kept.forEach(in: reader, upTo: Self.changesLookedAt) { change in
            let sharing = change.entry.sharing
            guard sharing.map({ $0.zone == zone.zone }) ?? (zone.deletion != nil),
                let explained = try explained(change),
                explained.participants.contains(where: { $0.outcome != .taken })
            else { return true }
            found.append(explained)
            return found.count < limit
        }
        return found
    }

    /// A zone that is shared, in its owner's database, as one change of it had it.
    private struct SharedZone {
        var database: StoredDatabase
        var owner: StoredUser
        var name: String
        var shared: SharedChange

        init(database: StoredDatabase, owner: StoredUser, name: String, _ shared: SharedChange) {
            (self.database, self.owner) = (database, owner)
            (self.name, self.shared) = (name, shared)
        }

        /// What participants know it by.
        var id: GrantedZoneID { GrantedZoneID(owner: owner.recordName, zone: name) }
    }

    /// Returns the zone of a change as it was shared; nil where it was not, nor with the user asked
    /// for before.
    private mutating func sharedZone(
        of entry: OutboxEntry, in database: StoredDatabase, _ owner: StoredUser
    ) throws -> SharedZone? {
        if let shared = entry.sharing {
            return SharedZone(database: database, owner: owner, name: entry.zoneName, shared)
        }
        let id = GrantedZoneID(owner: owner.recordName, zone: entry.zoneName)
        guard let account, let user = try reader.user(of: account, in: owner.container),
            let theirs = try reader.database(
                DatabaseKey(container: user.container, scope: .shared, owner: user.id)),
            let trace = try reader.sharedZone(id, in: theirs.id), trace.deletion != nil
        else { return nil }
        let zone = SharedZone(
            database: database, owner: owner, name: entry.zoneName,
            SharedChange(zone: trace.zone, position: Position(rawValue: .max)))
        let end = try self.change(after: trace.source, in: zone)
        return end.map { $0 < entry.id.position } ?? true ? zone : nil
    }

    /// The user asked for, or those who have access to a zone and those who lost it by the change.
    private func participants(of zone: SharedZone) throws -> [StoredUser] {
        let container = zone.database.key.container
        if let account { return try reader.user(of: account, in: container).map { [$0] } ?? [] }
        let grants = try reader.grants(
            in: zone.shared.zone, of: nil, after: nil, limit: Self.participants + 1)
        var seen: Set<UserID> = []
        let ids = (grants.map(\.user) + zone.shared.ended).filter { seen.insert($0).inserted }
        let users = try reader.users(Set(ids))
        return ids.compactMap { users[$0] }
    }

    /// Returns what a change was to one participant; nil where that is not asked for.
    private mutating func participant(
        _ user: StoredUser, _ change: KeptChange, in zone: SharedZone
    ) throws -> ExplainedParticipant? {
        let key = DatabaseKey(container: user.container, scope: .shared, owner: user.id)
        let database = try reader.database(key)
        var ids = try database.map { try reader.subscriptionIDs(of: user.id, in: $0.id) } ?? []
        if let asked = query.subscriptionID {
            ids = ids.filter { $0 == ExactText(asked) }
            guard !ids.isEmpty else { return nil }
        }
        let (outcome, rule) = try verdict(on: change, for: user, database, in: zone)
        return ExplainedParticipant(
            userName: try name(of: user.id), subscriptionIDs: ids.map(\.text).sorted(),
            outcome: outcome, rule: rule)
    }

    private mutating func verdict(
        on change: KeptChange, for user: StoredUser, _ database: StoredDatabase?,
        in zone: SharedZone
    ) throws -> (ExplainedParticipant.Outcome, ExplainedRule) {
        let granted = try reader.grantedZones(to: user.id, among: [zone.id])
            .first { $0.zone.key == zone.shared.zone }
        let grants = granted?.grants.filter { !$0.hasEnded } ?? []
        guard let began = grants.map(\.position).min() else {
            return try verdictOnStranger(to: zone, change, user, database)
        }
        guard began <= zone.shared.position else {
            return (.notTaken, .participantSince(try self.change(after: began, in: zone)))
        }
        if let rule = try ruleOfHidden(change.entry, from: Set(grants.map(\.share)), in: zone) {
            return (.notTaken, rule)
        }
        guard change.isNotified else { return (.waiting, .notTakenYet) }
        if let position = try counterpart(of: change.entry, for: user, database, in: zone) {
            return (.taken, .taken(as: position))
        }
        return (.taken, database?.subscriptionKinds.isEmpty ?? true ? .nobodyAsked : .takenBefore)
    }

    /// What a change was to somebody with whom the zone is not shared now.
    private mutating func verdictOnStranger(
        to zone: SharedZone, _ change: KeptChange, _ user: StoredUser, _ database: StoredDatabase?
    ) throws -> (ExplainedParticipant.Outcome, ExplainedRule) {
        let trace = try database.flatMap { try reader.sharedZone(zone.id, in: $0.id) }
        let isLast = zone.shared.ended.contains(user.id)
        guard change.isNotified || !isLast, trace.map({ $0.deletion != nil }) ?? true else {
            return (.waiting, .notTakenYet)
        }
        guard let trace else { return (.notTaken, .noParticipant) }
        if isLast || trace.source > zone.shared.position,
            let position = try counterpart(of: change.entry, for: user, database, in: zone)
        {
            return (.taken, .taken(as: position))
        }
        return (.notTaken, .noLongerParticipant(try self.change(after: trace.source, in: zone)))
    }

    /// Why a change of a zone is hidden from who has these shares of it; nil where it is not.
    private mutating func ruleOfHidden(
        _ entry: OutboxEntry, from shares: Set<String>, in zone: SharedZone
    ) throws -> ExplainedRule? {
        guard !zone.shared.isZoneWide else { return nil }
        let shown = zone.shared.hierarchies.filter { shares.contains($0.key) }.flatMap(\.value)
        guard let name = query.recordName else { return shown.isEmpty ? .hidden : nil }
        guard !shown.contains(where: { $0.recordName == name }) else { return nil }
        // Of many records that changed alike one is noted.
        if let share = try reader.sharesHolding([name], in: zone.shared.zone)[name],
            shares.contains(share)
        {
            return nil
        }
        let left = try participantLookups.departure(
            of: name, from: shares, in: zone.shared.zone, reader)
        guard let left else { return .hidden }
        guard left <= zone.shared.position else { return nil }
        return .hidden(since: try self.change(after: left, in: zone))
    }

    /// Returns which change of a participant's shared database stands for one of the zone.
    private mutating func counterpart(
        of entry: OutboxEntry, for user: StoredUser, _ database: StoredDatabase?,
        in zone: SharedZone
    ) throws -> OutboxPosition? {
        guard let database else { return nil }
        return try participantLookups.changes(ofZone: zone.name, of: user, .shared, reader).first {
            $0.id.database == database.id && $0.zoneOwner == zone.owner.recordName
                && $0.committedAt == entry.committedAt && $0.originUser == entry.originUser
                && $0.originClient == entry.originClient
        }?.id.position
    }

    /// Returns the change of the zone that brought its history to a position; nil where it is not
    /// kept.
    private mutating func change(
        after position: Position, in zone: SharedZone
    ) throws -> OutboxPosition? {
        try participantLookups.changes(ofZone: zone.name, of: zone.owner, .private, reader).last {
            $0.zone == zone.shared.zone && $0.position.map { $0 >= position } ?? false
        }?.id.position
    }
}

extension PushExplanation.Query {
    fileprivate func concerns(_ key: ContainerKey) -> Bool {
        (container == nil || container == key.container)
            && (environment == nil || environment == key.environment)
    }
}

extension ExplainedRule {
    fileprivate static func taken(as position: OutboxPosition) -> ExplainedRule {
        ExplainedRule("it is change \(position.rawValue) of their shared database", "SUB-57")
    }

    fileprivate static let takenBefore = ExplainedRule(
        "a later change of the zone was taken to their shared database before it, and stands for it",
        "PUSH-2")

    fileprivate static let nobodyAsked = ExplainedRule(
        "it shows in their shared database, where they have no subscription", "SUB-40")

    fileprivate static let notTakenYet = ExplainedRule("it is not in their shared database yet")

    fileprivate static let noParticipant = ExplainedRule("not a participant", "SHARE-17")

    fileprivate static func noLongerParticipant(_ change: OutboxPosition?) -> ExplainedRule {
        ExplainedRule("no longer a participant" + since(change), "SUB-59")
    }

    fileprivate static func participantSince(_ change: OutboxPosition?) -> ExplainedRule {
        ExplainedRule(
            "became a participant later" + (change.map { ", by change \($0.rawValue)" } ?? ""),
            "SHARE-17")
    }

    fileprivate static let hidden = ExplainedRule(
        "not in what is shared with this participant", "SHARE-1")

    fileprivate static func hidden(since change: OutboxPosition?) -> ExplainedRule {
        ExplainedRule(
            "not visible to this participant" + (change == nil ? " any more" : since(change)),
            "SHARE-1")
    }

    private static func since(_ change: OutboxPosition?) -> String {
        change.map { " since change \($0.rawValue)" } ?? ""
    }
}
