// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// What of a zone is shared (SHARE-1, SHARE-5): one kind at a time.
package enum ZoneSharing: Int, Sendable, Hashable {
    case none = 0
    /// Some records, each with all below it.
    case hierarchies = 1
    /// The zone as a whole.
    case zoneWide = 2
}

/// A share as stored, beside its record, which has its fields.
package struct StoredShare: Sendable, Hashable {
    /// The name of its record.
    package var name: String
    /// The record that is shared with all below it; nil shares the zone.
    package var root: String?
    /// The last part of its URL (SHARE-6).
    package var shortGUID: String
    package var publicPermission: SharePermission
    /// All but the owner, in the order in which they were added.
    package var participants: [StoredParticipant]
    /// Whether those who are not invited may ask for access (SHARE-21).
    package var allowsAccessRequests: Bool
    /// Who asked for access, or may not, in the order of ``StoredOutsider/since``; of those who came
    /// at the same time, in the order of their users.
    package var outsiders: [StoredOutsider]

    package init(
        name: String, root: String?, shortGUID: String, publicPermission: SharePermission = .none,
        participants: [StoredParticipant] = [], allowsAccessRequests: Bool = false,
        outsiders: [StoredOutsider] = []
    ) {
        self.name = name
        self.root = root
        self.shortGUID = shortGUID
        self.publicPermission = publicPermission
        self.participants = participants
        self.allowsAccessRequests = allowsAccessRequests
        self.outsiders = outsiders
    }
}

/// A participant of a share as stored.
package struct StoredParticipant: Sendable, Hashable {
    /// Set by the server, kept as long as the participant is one.
    package var id: String
    /// Nil for an address without an account.
    package var user: UserID?
    /// Who it is, as others know them.
    package var identity: UserIdentity
    package var permission: SharePermission
    package var role: ParticipantRole
    package var acceptance: ParticipantAcceptance
    /// Whether they had asked for access when they were added (SHARE-21).
    package var isApprovedRequester: Bool
    /// What their one-time URL has beside the share's own; nil for one who was invited otherwise
    /// (SHARE-20).
    package var oneTimeKey: String?

    package init(
        id: String, user: UserID?, identity: UserIdentity, permission: SharePermission,
        role: ParticipantRole, acceptance: ParticipantAcceptance,
        isApprovedRequester: Bool = false, oneTimeKey: String? = nil
    ) {
        self.id = id
        self.user = user
        self.identity = identity
        self.permission = permission
        self.role = role
        self.acceptance = acceptance
        self.isApprovedRequester = isApprovedRequester
        self.oneTimeKey = oneTimeKey
    }
}

/// Somebody who takes no part in a share, and asked to or may not (SHARE-21).
package struct StoredOutsider: Sendable, Hashable {
    package var user: UserID
    /// Who it is, as those who manage the share know them.
    package var identity: UserIdentity
    /// When they asked; of one who never did, when they were blocked.
    package var since: Instant
    /// Whether they may not ask, nor take part.
    package var isBlocked: Bool

    package init(user: UserID, identity: UserIdentity, since: Instant, isBlocked: Bool = false) {
        self.user = user
        self.identity = identity
        self.since = since
        self.isBlocked = isBlocked
    }
}

/// What a share lets one user do: made when it is accepted, and kept when it ends.
package struct ShareGrant: Sendable, Hashable {
    /// How many of a zone are read together.
    package static let perPage = 200

    package var zone: ZoneKey
    package var user: UserID
    /// The name of the share's record.
    package var share: String
    /// The record that is shared with all below it; nil shares the zone.
    package var root: String?
    package var permission: SharePermission
    /// Whether the user manages participants (SHARE-9).
    package var isAdministrator: Bool
    /// Where in the zone's history it began or ended: tokens of the user from before are of
    /// other records than they see since.
    package var position: Position
    package var hasEnded: Bool

    package init(
        zone: ZoneKey, user: UserID, share: String, root: String?, permission: SharePermission,
        isAdministrator: Bool, position: Position, hasEnded: Bool = false
    ) {
        self.zone = zone
        self.user = user
        self.share = share
        self.root = root
        self.permission = permission
        self.isAdministrator = isAdministrator
        self.position = position
        self.hasEnded = hasEnded
    }
}

/// A zone of somebody else's as it was shared with a user.
package struct GrantedZone: Sendable, Hashable {
    package var owner: StoredUser
    package var database: StoredDatabase
    package var zone: StoredZone
    /// The user's grants there, those that ended included; one at least has not.
    package var grants: [ShareGrant]
    /// Up to where retention removed what had left a hierarchy that is shared with the user.
    package var floor: Position

    package init(
        owner: StoredUser, database: StoredDatabase, zone: StoredZone, grants: [ShareGrant],
        floor: Position = .start
    ) {
        self.owner = owner
        self.database = database
        self.zone = zone
        self.grants = grants
        self.floor = floor
    }
}

/// A share, and where it is.
package struct LocatedShare: Sendable, Hashable {
    package var database: StoredDatabase
    package var zone: StoredZone
    package var share: StoredShare

    package init(database: StoredDatabase, zone: StoredZone, share: StoredShare) {
        self.database = database
        self.zone = zone
        self.share = share
    }
}

/// That a record is in a hierarchy that is shared, or was.
package struct SharedRecord: Sendable, Hashable {
    package var name: String
    /// The name of the share's record.
    package var share: String
    /// Where the hierarchy's history has the record: where it changed last, came in or left.
    package var position: Position
    /// Where it came in (``HierarchyMembership/entry``); of one that left, since when nobody sees it
    /// there, which is before it left where it followed something that left.
    package var entry: Position
    /// The entry of the record above it.
    package var above: Position
    /// When it left, to live elsewhere or deleted; nil for one that is there.
    package var leftAt: Instant?
    /// Of one that comes back before all below it has followed, since when nobody saw it: what is below
    /// and relies on an entry of before is hidden since then. It is kept beside the row until the zone
    /// is settled (``SharedRecordReading/departures(of:in:)``).
    package var hiddenBefore: Position?

    /// Creates a row; one without an entry comes in, or leaves, at its position.
    package init(
        name: String, share: String, position: Position, entry: Position? = nil,
        above: Position = .start, leftAt: Instant? = nil, hiddenBefore: Position? = nil
    ) {
        self.name = name
        self.share = share
        self.position = position
        self.entry = entry ?? position
        self.above = above
        self.leftAt = leftAt
        self.hiddenBefore = hiddenBefore
    }
}

/// A change in the history of a hierarchy.
package struct SharedRecordChange: Sendable, Hashable {
    package var share: String
    /// Where the hierarchy's history has it.
    package var position: Position
    /// Of a record that left, since when nobody sees it there: to whoever began to look after that
    /// it is no news. Else its position.
    package var hiddenSince: Position
    /// As it is now; of one that left, without fields and deleted.
    package var record: StoredRecord

    package init(
        share: String, position: Position, hiddenSince: Position? = nil, record: StoredRecord
    ) {
        self.share = share
        self.position = position
        self.hiddenSince = hiddenSince ?? position
        self.record = record
    }

    /// The same for who sees that the record left, and nothing of what it is now.
    package var leaving: SharedRecordChange {
        var change = self
        change.record.fields = .none
        change.record.parent = nil
        change.record.isDeleted = true
        change.record.isDamaged = false
        return change
    }
}

/// A zone in the history of a shared database: there, or the trace it left.
package struct StoredSharedZone: Sendable, Hashable {
    /// The record name of the zone's owner, which with the name is its ID there.
    package var owner: String
    package var name: String
    package var zone: ZoneKey
    /// In the history of the shared database.
    package var position: Position
    /// The newest position of the zone that this one stands for.
    package var source: Position
    /// Why it is gone; nil while it is shared.
    package var deletion: ZoneDeletionReason?
    /// When it went. A zone that is shared has it while nobody was notified yet that it came
    /// (``OwnSharedZone``).
    package var deletedAt: Instant?

    package init(
        owner: String, name: String, zone: ZoneKey, position: Position, source: Position,
        deletion: ZoneDeletionReason? = nil, deletedAt: Instant? = nil
    ) {
        self.owner = owner
        self.name = name
        self.zone = zone
        self.position = position
        self.source = source
        self.deletion = deletion
        self.deletedAt = deletedAt
    }
}

/// What a change is to those whom the zone is shared with: what crosses to their databases.
package struct SharedChange: Sendable, Hashable {
    package var zone: ZoneKey
    /// The zone's newest position after the change.
    package var position: Position
    /// Whether the zone itself is shared, so that all of the change is for all of them.
    package var isZoneWide: Bool
    /// What happened in each hierarchy, by the name of its share; without fields.
    package var hierarchies: [String: [RecordChange]]
    /// Users whose grant ended.
    package var ended: [UserID]

    package init(
        zone: ZoneKey, position: Position, isZoneWide: Bool = false,
        hierarchies: [String: [RecordChange]] = [:], ended: [UserID] = []
    ) {
        self.zone = zone
        self.position = position
        self.isZoneWide = isZoneWide
        self.hierarchies = hierarchies
        self.ended = ended
    }
}
