// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// One record's part of a change.
package struct RecordChange: Sendable, Hashable {
    package var recordName: String
    package var recordType: String
    package var event: RecordEvent
    /// The fields after the change (of a deletion: before it); only kept when
    /// the database has query subscriptions.
    package var fields: RecordFields?
    /// What filters on system fields look at; kept together with the fields.
    package var system: SystemValues?

    package init(
        recordName: String,
        recordType: String,
        event: RecordEvent,
        fields: RecordFields? = nil,
        system: SystemValues? = nil
    ) {
        self.recordName = recordName
        self.recordType = recordType
        self.event = event
        self.fields = fields
        self.system = system
    }

    /// The system fields of a record beside its name and type.
    package struct SystemValues: Sendable, Hashable {
        package var created: RecordStamp
        package var modified: RecordStamp
        package var parent: String?

        package init(created: RecordStamp, modified: RecordStamp, parent: String? = nil) {
            self.created = created
            self.modified = modified
            self.parent = parent
        }
    }
}

/// A committed change the pipeline has yet to process: what one request did
/// to one zone (SUB-62).
package struct OutboxEntry: Sendable, Hashable {
    /// What happened to the zone.
    package enum Event: Sendable, Hashable {
        case records([RecordChange])
        case zoneCreated
        /// Carries the subscriptions that went with the zone (SUB-65): when the
        /// pipeline processes the deletion they are no longer in the store.
        case zoneDeleted(ZoneDeletionReason, subscriptions: [StoredSubscription])
    }

    /// Set by the store.
    package var position: OutboxPosition
    package var database: DatabaseID
    package var zoneName: String
    /// The zone owner as payloads name it (`zoid`).
    package var zoneOwner: String
    package var event: Event
    /// What it is to participants of shares; nil where there is nobody to notify.
    package var sharing: SharedChange?
    /// The user who made the change.
    package var originUser: UserID?
    /// The client ID of the device that made it; never notified (SUB-46).
    package var originClient: String?
    package var committedAt: Instant
    /// Everybody up to here was notified; the rest follows in later passes.
    package var notifiedThrough: SubscriptionSerial
    /// What of it cannot be read, so that the event is empty; nil where it is whole.
    package var damage: Damage?

    /// How much of an entry is lost.
    package enum Damage: Sendable, Hashable {
        /// What happened; where and by whom is known.
        case event
        /// All but the database and the zone; the row cannot be changed either.
        case row
    }

    /// How long a damaged entry is kept at least, so that somebody can look into it.
    package static let setAsideRetention = Duration.seconds(7 * 86_400)

    /// What names it.
    package var id: OutboxEntryID { OutboxEntryID(database: database, position: position) }

    package init(
        position: OutboxPosition = .start,
        database: DatabaseID,
        zoneName: String,
        zoneOwner: String,
        event: Event,
        sharing: SharedChange? = nil,
        originUser: UserID?,
        originClient: String?,
        committedAt: Instant,
        notifiedThrough: SubscriptionSerial = .start
    ) {
        self.position = position
        self.database = database
        self.zoneName = zoneName
        self.zoneOwner = zoneOwner
        self.event = event
        self.sharing = sharing
        self.originUser = originUser
        self.originClient = originClient
        self.committedAt = committedAt
        self.notifiedThrough = notifiedThrough
    }
}

/// The oldest pending entries of one database, in commit order.
package struct DatabaseOutbox: Sendable, Hashable {
    package var database: DatabaseID
    /// What the database's position in the queue is.
    package var version: OutboxVersion
    package var entries: [OutboxEntry]
    /// Whether the database may have further entries.
    package var mayHaveMore: Bool
    /// Whether there are more for which no bytes were left.
    package var isCutByBytes: Bool
    /// Whether its entries cannot be read, not even one by one.
    package var isUnreadable: Bool

    package init(
        database: DatabaseID, version: OutboxVersion, entries: [OutboxEntry], mayHaveMore: Bool,
        isCutByBytes: Bool = false, isUnreadable: Bool = false
    ) {
        self.database = database
        self.version = version
        self.entries = entries
        self.mayHaveMore = mayHaveMore
        self.isCutByBytes = isCutByBytes
        self.isUnreadable = isUnreadable
    }
}

/// A notification in the log: one event for one user, delivered to every device of
/// the user but the origin (PUSH-9).
package struct StoredNotification: Sendable, Hashable {
    /// Set by the store.
    package var sequence: NotificationSequence
    package var user: UserID
    /// Lower-case UUID (PUSH-7).
    package var notificationID: String
    package var database: DatabaseID
    package var subscriptionID: String
    package var originClient: String?
    /// The payload as Apple's push service takes it, encoded once for all devices.
    package var payload: [UInt8]
    /// The payload as it was before pruning, up to ``PayloadPruner/historyLimit``; nil if nothing was
    /// pruned, or once the notification was read (NOTIF-8).
    package var fullPayload: [UInt8]?
    /// The payload for routes that have room for more than Apple's push service (PRUNE-8).
    package var wholePayload: [UInt8] { fullPayload ?? payload }
    /// Whether it is a background push: APNs priority 5 (NINFO-25).
    package var isBackground: Bool
    /// Notifications of one user, database, subscription and origin with equal
    /// collapse IDs replace one another, the newest stays; nil is never replaced
    /// (PUSH-2: silent query pushes are background pushes, yet all are delivered).
    package var collapseID: CollapseID?
    package var createdAt: Instant

    package init(
        sequence: NotificationSequence = .start,
        user: UserID,
        notificationID: String,
        database: DatabaseID,
        subscriptionID: String,
        originClient: String?,
        payload: [UInt8],
        fullPayload: [UInt8]? = nil,
        isBackground: Bool,
        collapseID: CollapseID?,
        createdAt: Instant
    ) {
        self.sequence = sequence
        self.user = user
        self.notificationID = notificationID
        self.database = database
        self.subscriptionID = subscriptionID
        self.originClient = originClient
        self.payload = payload
        self.fullPayload = fullPayload
        self.isBackground = isBackground
        self.collapseID = collapseID
        self.createdAt = createdAt
    }
}

/// A registered device.
package struct StoredDevice: Sendable, Hashable {
    package var key: DeviceKey
    package var user: UserID
    /// The installation's own ID, sent with every request.
    package var clientID: String
    /// Everything up to here was received.
    package var acknowledged: NotificationSequence

    package init(
        key: DeviceKey,
        user: UserID,
        clientID: String,
        acknowledged: NotificationSequence
    ) {
        self.key = key
        self.user = user
        self.clientID = clientID
        self.acknowledged = acknowledged
    }
}

/// A push token: one we issued, with its courier, or a native one.
package struct StoredPushToken: Sendable, Hashable {
    package var token: String
    package var apnsEnvironment: CloudEnvironment
    /// The capability in the courier URL; nil for a native token.
    package var courier: String?
    package var topic: String?
    /// When a device registered it last.
    package var registeredAt: Instant

    package init(
        token: String,
        apnsEnvironment: CloudEnvironment,
        courier: String?,
        topic: String? = nil,
        registeredAt: Instant = Instant(rawValue: 0)
    ) {
        self.token = token
        self.apnsEnvironment = apnsEnvironment
        self.courier = courier
        self.topic = topic
        self.registeredAt = registeredAt
    }

    /// Whether it is one of Apple's, not one we issued.
    package var isNative: Bool { courier == nil }
}
