// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A zone of which somebody accepted a share just now, or left one: it comes into their shared database, or
/// goes, before they are answered.
///
/// Everybody else's database is reached by the outbox (``NotifyParticipants``). Whoever did it
/// fetches at once (SHARE-16), and is sent no push that would have them fetch again. This is a
/// step of the same write but of another scope; where the write ends between both, the outbox makes
/// up for it, as the step then does for what comes by the outbox. Whoever accepts once more what they have
/// accepted changes nothing: the zone is there then, and what they see by it was somebody's doing that is
/// on its way to all of their devices.
package struct OwnSharedZone: Sendable {
    /// Whose shared database it is.
    private let user: StoredUser
    private let id: GrantedZoneID
    private let zone: ZoneKey
    /// The position of what they did.
    private let source: Position
    /// Whether the zone is shared with them now.
    private let isShared: Bool
    /// Whether they did anything that they had not done before.
    private let isNews: Bool
    private let originClient: String?
    private let committedAt: Instant

    /// Takes what a call did to a zone that is shared with its user, or was.
    init(
        _ access: ZoneAccess, _ zone: ZoneKey, at source: Position, isShared: Bool,
        isNews: Bool = true, by user: StoredUser, _ call: Call
    ) {
        self.user = user
        id = GrantedZoneID(owner: access.database.ownerName, zone: access.zoneID.zoneName)
        self.zone = zone
        self.source = source
        self.isShared = isShared
        self.isNews = isNews
        originClient = call.clientID
        committedAt = call.now
    }

    /// Takes the step.
    package func run(as steps: some StoreSteps) throws {
        let key = DatabaseKey(container: user.container, scope: .shared, owner: user.id)
        try steps.write(.database(key)) { transaction in
            let database = try transaction.makeDatabase(key)
            let known = try transaction.sharedZone(id, in: database.id)
            let isThere = known.map { $0.zone == zone && $0.deletion == nil } ?? false
            guard isShared, isThere || !isNews else {
                let arrival = SharedZoneArrival(
                    id: id, zone: zone, source: source,
                    event: isShared ? .zoneCreated : .zoneDeleted(.deleted, subscriptions: []),
                    deletion: isShared ? nil : .deleted, originUser: user.id,
                    originClient: originClient, committedAt: committedAt)
                return try arrival.run(over: known, in: database, at: committedAt, transaction)
            }
            guard isNews || !isThere else { return }
            try show(over: known, in: database, transaction)
        }
    }

    /// Has the database list the zone as the newest one. What else happened to it and is on its way,
    /// be it by another share or that somebody gave back what they had taken, is notified as what it is,
    /// once it comes by the outbox.
    private func show(
        over known: StoredSharedZone?, in database: StoredDatabase,
        _ transaction: some ZoneWriting & SharedZoneWriting
    ) throws {
        var shown = StoredSharedZone(
            owner: id.owner, name: id.zone, zone: zone, position: .start, source: .start,
            deletedAt: committedAt)
        if let known {
            // A zone that was made again under its name is one of later positions.
            guard known.source < source else { return }
            if known.zone == zone {
                shown = known
                shown.deletion = nil
            }
        }
        shown.position = try transaction.advance(database.id, by: 1, at: committedAt)
        try transaction.putSharedZone(shown, in: database.id)
    }
}
