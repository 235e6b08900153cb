// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A zone of which somebody accepted a share just now, or left one: it comes into their shared database, or
/// goes, before they are answered.
///
/// Everybody else's database is reached by the outbox (``NotifyParticipants``). Whoever did it
/// fetches at once (SHARE-16), and is sent no push that would have them fetch again. This is a
/// step of the same write but of another scope; where the write ends between both, the outbox makes
/// up for it, as the step then does for what comes by the outbox.
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
            var known = try transaction.sharedZone(id, in: database.id)
            guard isShared, known?.zone == zone, known?.deletion == nil else {
                let arrival = SharedZoneArrival(
                    id: id, zone: zone, source: source,
                    event: isShared ? .zoneCreated : .zoneDeleted(.deleted, subscriptions: []),
                    deletion: isShared ? nil : .deleted, originUser: user.id,
                    originClient: originClient, committedAt: committedAt)
                return try arrival.run(over: known, in: database, at: committedAt, transaction)
            }
            // The zone is there by another share. It is only moved: what else changed in it and is
            // on its way is notified as what it is, once it comes by the outbox.
            guard isNews, let source = known?.source, source < self.source else { return }
            known?.position = try transaction.advance(database.id, by: 1, at: committedAt)
            if let known { try transaction.putSharedZone(known, in: database.id) }
        }
    }
}
