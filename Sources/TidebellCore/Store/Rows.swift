// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// A user of a container as stored.
package struct StoredUser: Sendable, Hashable {
    package var id: UserID
    package var account: AccountID
    package var container: ContainerKey
    /// `_` and 32 hex digits (ACCT-5).
    package var recordName: String
    /// When the account first used the container; zero for users from before that was
    /// written down.
    package var createdAt: Instant

    package init(
        id: UserID, account: AccountID, container: ContainerKey, recordName: String,
        createdAt: Instant = Instant(rawValue: 0)
    ) {
        self.id = id
        self.account = account
        self.container = container
        self.recordName = recordName
        self.createdAt = createdAt
    }
}

/// A database as stored.
package struct StoredDatabase: Sendable, Hashable {
    package var id: DatabaseID
    package var key: DatabaseKey
    /// The position of its latest change.
    package var head: Position
    /// Tokens of the database from before this position expired: traces of deleted
    /// zones up to it were removed.
    package var floor: Position
    /// Which kinds of subscription exist in it; a change in a database without
    /// any writes no outbox entry.
    package var subscriptionKinds: Set<WireSubscription.Kind>
    /// What its living custom zones and all living records take.
    package var use: StorageUse

    package init(
        id: DatabaseID,
        key: DatabaseKey,
        head: Position,
        floor: Position = .start,
        subscriptionKinds: Set<WireSubscription.Kind>,
        use: StorageUse = .zero
    ) {
        self.id = id
        self.key = key
        self.head = head
        self.floor = floor
        self.subscriptionKinds = subscriptionKinds
        self.use = use
    }
}

/// A zone as stored: alive, or the trace it left in the database's history.
package struct StoredZone: Sendable, Hashable {
    package var key: ZoneKey
    package var database: DatabaseID
    package var name: String
    /// The position of the zone's latest change, which is also its position in the
    /// database's history.
    package var position: Position
    /// Tokens from before this position expired: tombstones up to it were removed.
    package var floor: Position
    /// Why the zone is gone; nil while it lives.
    package var deletion: ZoneDeletionReason?
    /// The newest client change token given by a writer (TOK-24).
    package var clientChangeToken: [UInt8]?
    /// The key of its encrypted fields.
    package var fieldKey: StoredZoneKey
    /// What of it is shared.
    package var sharing: ZoneSharing
    /// Whether records are still to follow what is above them into hierarchies or out of them.
    package var isUnsettled: Bool
    /// Whether it has indexes, which every change of its records keeps.
    package var isIndexed: Bool

    package init(
        key: ZoneKey,
        database: DatabaseID,
        name: String,
        position: Position,
        floor: Position = .start,
        deletion: ZoneDeletionReason? = nil,
        clientChangeToken: [UInt8]? = nil,
        fieldKey: StoredZoneKey = .none,
        sharing: ZoneSharing = .none,
        isUnsettled: Bool = false,
        isIndexed: Bool = false
    ) {
        self.key = key
        self.database = database
        self.name = name
        self.position = position
        self.floor = floor
        self.deletion = deletion
        self.clientChangeToken = clientChangeToken
        self.fieldKey = fieldKey
        self.sharing = sharing
        self.isUnsettled = isUnsettled
        self.isIndexed = isIndexed
    }
}

/// A record as stored: alive, or its tombstone.
package struct StoredRecord: Sendable, Hashable {
    package var name: String
    package var type: String
    /// The position of its latest change; also its change tag.
    package var position: Position
    package var created: RecordStamp
    package var modified: RecordStamp
    package var parent: String?
    /// Empty for a tombstone.
    package var fields: RecordFields
    package var isDeleted: Bool
    /// Whether the stored fields are not what was written: they are lost, and none are here.
    package var isDamaged = false
    /// What it takes with its files, see ``StorageUse``; 0 for a tombstone.
    package var size: Int64

    package init(
        name: String,
        type: String,
        position: Position,
        created: RecordStamp,
        modified: RecordStamp,
        parent: String? = nil,
        fields: RecordFields,
        isDeleted: Bool = false,
        size: Int64 = 0
    ) {
        self.name = name
        self.type = type
        self.position = position
        self.created = created
        self.modified = modified
        self.parent = parent
        self.fields = fields
        self.isDeleted = isDeleted
        self.size = size
    }
}

/// A reference that has consequences when its target is deleted.
package struct StoredReference: Sendable, Hashable {
    /// What the source asked for.
    package enum Kind: Int, Sendable {
        /// Deleting the target deletes the source (REF-2).
        case deleteSelf = 1
        /// The target cannot be deleted while the source lives (SAVE-24).
        case parent = 2
        /// The same by a field, which the source must lose first (REF-10).
        case validate = 3
    }

    package var source: String
    package var target: String
    package var kind: Kind

    package init(source: String, target: String, kind: Kind) {
        self.source = source
        self.target = target
        self.kind = kind
    }
}

/// A subscription as stored; its identity is (database, user, subscriptionID)
/// (SUB-29).
package struct StoredSubscription: Sendable, Hashable {
    /// Set by the store.
    package var serial: SubscriptionSerial
    package var database: DatabaseID
    package var user: UserID
    package var subscription: WireSubscription

    package init(
        serial: SubscriptionSerial = .start, database: DatabaseID, user: UserID,
        subscription: WireSubscription
    ) {
        self.serial = serial
        self.database = database
        self.user = user
        self.subscription = subscription
    }
}

/// A subscription that a change may concern, as its index knows it: its content is
/// read for those alone that are looked at.
package struct SubscriptionOutline: Sendable, Hashable {
    package var serial: SubscriptionSerial
    package var user: UserID

    /// Creates an outline.
    package init(serial: SubscriptionSerial, user: UserID) {
        self.serial = serial
        self.user = user
    }
}

/// What saving a subscription needs to know of the user's others: not their content.
package struct SubscriptionSummary: Sendable, Hashable {
    package var id: String
    package var kind: WireSubscription.Kind
    /// See ``WireSubscription/duplicateHash``.
    package var duplicateHash: UInt64
    /// Bytes of the subscription as JSON.
    package var bytes: Int

    /// Creates a value.
    package init(id: String, kind: WireSubscription.Kind, duplicateHash: UInt64, bytes: Int) {
        self.id = id
        self.kind = kind
        self.duplicateHash = duplicateHash
        self.bytes = bytes
    }
}

/// What a changed record is to query subscriptions: those on its type that have
/// one of its terms are to be looked at.
package struct SubscriptionTrigger: Sendable, Hashable {
    package var recordType: String
    /// The term, or the first one of several that stand beside one another.
    package var term: SubscriptionTerm
    /// The first term after these; nil for one alone.
    package var end: SubscriptionTerm?

    /// Creates the trigger of one term.
    package init(recordType: String, term: SubscriptionTerm) {
        self.recordType = recordType
        self.term = term
    }

    /// Creates the trigger of several terms.
    package init(recordType: String, terms: TermRange) {
        self.recordType = recordType
        (term, end) = (terms.first, terms.end)
    }
}
