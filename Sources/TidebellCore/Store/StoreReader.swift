// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What can be read in a transaction.
///
/// Every call is set-shaped: its cost in statements does not grow with the
/// number of records asked for.
package protocol StoreReader {
    // MARK: Databases and zones

    /// Returns the database, or nil while nothing was ever written to it.
    func database(_ key: DatabaseKey) throws -> StoredDatabase?

    /// Returns the database with an ID that the store gave.
    func database(id: DatabaseID) throws -> StoredDatabase?

    /// Returns the zones with these names, deleted ones included; nil asks for
    /// all living zones, by name.
    func zones(_ names: Set<String>?, in database: DatabaseID) throws -> [StoredZone]

    /// Returns zones whose position is after `position`, oldest change first,
    /// deleted ones included.
    func zoneChanges(
        in database: DatabaseID,
        after position: Position,
        limit: Int
    ) throws -> [StoredZone]

    // MARK: Encrypted fields

    /// What tells the root key that the store works with from others; nil before the first.
    func rootKeyID() throws -> String?

    /// Returns living zones with encrypted fields whose key is gone or is not wrapped by
    /// this root key, in the order of their keys; at most `limit`.
    func zonesWithoutFieldKey(wrappedBy rootKeyID: String, limit: Int) throws -> [StoredZone]

    /// Returns how much goes when what this root key does not open is given up
    /// (``ResetLostZones``, ``StoreTransaction/adoptRootKey(_:)``).
    func lossWithout(_ rootKeyID: String) throws -> KeyLoss

    /// Returns a zone that may have records with encrypted values in clear text, as
    /// versions before 4 stored them, and the names of some of those records; nil when
    /// there are none.
    func unsealedRecords(limit: Int) throws -> (zone: StoredZone, names: Set<String>)?

    /// How many zones of a database live.
    func livingZoneCount(in database: DatabaseID) throws -> Int

    /// What the private databases of an account's users take together.
    func privateUse(of account: AccountID) throws -> StorageUse

    /// What every account, by name, and every container's public database takes.
    func storageUses() throws -> [NamedStorageUse]

    // MARK: Records
    //
    // A record whose fields are damaged is returned as such, so that it is one record that
    // fails and not the page it stands on.

    /// Returns the living records with these names; nil when their fields have more
    /// than `byteLimit` bytes.
    func records(
        _ names: Set<String>, in zone: ZoneKey, byteLimit: Int
    ) throws -> [String: StoredRecord]?

    /// Returns the living records with these names without their fields, whose bytes it
    /// does not read.
    func recordsWithoutFields(
        _ names: Set<String>, in zone: ZoneKey
    ) throws -> [String: StoredRecord]

    /// Returns a page of the zone's history after `position`, tombstones
    /// included, oldest change first; with `reverse`, newest first, *before*
    /// `position`.
    ///
    /// The page ends after `limit` records, or after the record that brings the
    /// bytes of its fields to `byteLimit`; it is complete when no record lies
    /// beyond it.
    func recordChanges(
        in zone: ZoneKey, after position: Position, limit: Int, byteLimit: Int, reverse: Bool
    ) throws -> (records: [StoredRecord], isComplete: Bool)

    /// Calls `body` with the living records of a type in these zones, and with
    /// the zone of each, until it returns false: zone by zone in the order of
    /// `zones`, in each the oldest change first, those after `place` only.
    ///
    /// Holds one record at a time. Zones before that of `place` are left out;
    /// `zones` must be in ascending order. `body` must not use the reader.
    func scanRecords(
        of type: String, in zones: [ZoneKey], after place: RecordPlace?,
        _ body: (StoredRecord, ZoneKey) throws -> Bool
    ) throws

    /// Returns the references that point to these records.
    func references(to targets: Set<String>, in zone: ZoneKey) throws -> [StoredReference]

    /// Returns how many records refer to each of these records with `DELETE_SELF`;
    /// a record that none refers to is absent.
    func deleteSelfCounts(to targets: Set<String>, in zone: ZoneKey) throws -> [String: Int]

    // MARK: Assets

    /// Returns the kept files with these contents.
    func assets(_ contents: Set<AssetContent>) throws -> [AssetContent: StoredAsset]

    /// Returns which of these file names are those of kept files.
    func knownAssetFiles(among files: Set<String>) throws -> Set<String>

    /// Returns an upload that has not come yet; expired ones too.
    func awaitedUpload(tokenHash: [UInt8]) throws -> AwaitedUpload?

    // MARK: Schema

    /// Returns the known fields of these record types; a type that no record
    /// ever had is absent (ENV-1).
    func fields(
        of recordTypes: Set<String>,
        in container: ContainerKey
    ) throws -> [String: [String: StoredField]]

    // MARK: Subscriptions

    /// Returns a user's subscriptions in a database, by ID; nil asks for all.
    func subscriptions(
        _ ids: Set<String>?,
        of user: UserID,
        in database: DatabaseID
    ) throws -> [StoredSubscription]

    /// Returns outlines of the subscriptions of all users that a change in the zone can
    /// concern, those after `serial`, in the order of their serials, at most
    /// `limit`: database kinds, those on the zone, and query kinds without zone or
    /// on it; of query kinds only those whose type and term are a trigger's.
    ///
    /// Cost grows with what is returned and with the triggers, not with what
    /// exists.
    func subscriptionOutlines(
        in database: DatabaseID,
        zoneName: String,
        triggers: Set<SubscriptionTrigger>,
        after serial: SubscriptionSerial,
        limit: Int
    ) throws -> [SubscriptionOutline]

    /// Reads subscriptions in the order of their serials, until one brings the bytes of
    /// their JSON to `byteLimit`; returns them with these bytes. What is gone is left out.
    func subscriptions(
        _ serials: [SubscriptionSerial], byteLimit: Int
    ) throws -> (subscriptions: [StoredSubscription], bytes: Int)

    /// Returns what is to be known of all subscriptions of a user when one is saved;
    /// reads none of their contents.
    func subscriptionSummaries(
        of user: UserID, in database: DatabaseID
    ) throws -> [SubscriptionSummary]

    /// How many record types a container has.
    func recordTypeCount(in container: ContainerKey) throws -> Int

    /// How many uploads a user has asked for that may still come.
    func awaitedUploadCount(of user: UserID, at now: Instant) throws -> Int

    // MARK: Push

    /// Returns the oldest outbox entries of the databases whose turn it is: those that
    /// were told longest ago, or came first. At most `limit` entries, of which each
    /// database has an equal share, so that nobody waits for the backlog of another.
    func outboxes(limit: Int) throws -> [DatabaseOutbox]

    /// Returns the first entry after the one with `id` that tells of the zone's
    /// deletion; nil when there is none.
    func zoneEnd(
        _ zoneName: String, in database: DatabaseID, afterOutbox id: Int64
    ) throws -> OutboxEntry?

    /// Returns a user's notifications after `sequence`, oldest first, without
    /// those whose origin is `client` and without replaced ones.
    func notifications(
        for user: UserID,
        after sequence: NotificationSequence,
        excludingOrigin client: String?,
        limit: Int
    ) throws -> [StoredNotification]

    /// The place of the newest notification.
    func notificationHead() throws -> NotificationSequence

    /// Returns the user's devices.
    func devices(of user: UserID) throws -> [StoredDevice]

    /// Returns those of the users whom a notification can reach: their account is there
    /// and not disabled, and they have a device, or their container has a webhook.
    func reachableUsers(among users: Set<UserID>) throws -> [UserID: StoredUser]

    /// Returns the push token, and the devices it tells now, found by its courier
    /// capability; ``StoredDevice/acknowledged`` is how far the courier has given out
    /// what is for the device, which is the token's own position.
    ///
    /// A token tells a device while the session lasts in which it was registered for it;
    /// tokens from before sessions, while the account is not disabled.
    func pushToken(
        courier: String, at now: Instant
    ) throws -> (token: StoredPushToken, devices: [StoredDevice])?

    /// Returns those of the listeners who may go on hearing. Cost grows with the
    /// listeners, in a bounded number of statements.
    func listening(among listeners: Set<Listener>, at now: Instant) throws -> Set<Listener>

    /// Returns a push token.
    func pushToken(_ token: String) throws -> StoredPushToken?

    // MARK: Badges and history

    /// Returns the users' badges (NINFO-11); who never had one is absent.
    func badges(of users: Set<UserID>) throws -> [UserID: Int]

    /// Returns the user's notifications after a place of the history, oldest
    /// first: the unread ones, at their sequence, and the marks of the read ones,
    /// at the place where they were read.
    ///
    /// - Parameter marks: Which marks are wanted.
    func notificationHistory(
        of user: UserID, after place: NotificationSequence, marks: ReadMarks, limit: Int
    ) throws -> [HistoryEntry]

    /// Returns where in the log the user's notifications with these IDs are.
    ///
    /// Reads the user's log backwards until it has found all; an index by ID
    /// would make every notification cost more, for a call that few apps make.
    func notificationSequences(
        _ ids: Set<String>, of user: UserID
    ) throws -> [String: NotificationSequence]

    /// The place up to which retention has removed notifications of any user.
    func notificationFloor() throws -> NotificationSequence

    /// The place up to which notifications of a user were removed: by their age, or
    /// because there were too many.
    func notificationFloor(of user: UserID) throws -> NotificationSequence

    /// Returns users with more than `count` notifications, at most `limit`.
    ///
    /// Cost grows with the log.
    func usersWithNotifications(moreThan count: Int, limit: Int) throws -> [UserID]

    // MARK: Couriers

    /// Returns the place of the oldest of the newest `count` notifications that
    /// ``notifications(for:after:excludingOrigin:limit:)`` would give; nil when
    /// there are fewer.
    func notificationPlace(
        for user: UserID,
        after sequence: NotificationSequence,
        excludingOrigin client: String?,
        newest count: Int
    ) throws -> NotificationSequence?

    // MARK: Webhooks

    /// Returns all webhooks, oldest first.
    func webhooks() throws -> [StoredWebhook]

    /// Returns a webhook; nil when it was removed.
    func webhook(_ id: WebhookID) throws -> StoredWebhook?

    /// Returns the notifications of all users of a container after `sequence` and
    /// up to `last`, oldest first, without replaced ones.
    ///
    /// Cost grows with the length of the range in the log, whoever's it is.
    func notifications(
        of container: ContainerKey,
        after sequence: NotificationSequence,
        upTo last: NotificationSequence,
        limit: Int
    ) throws -> [StoredNotification]

    /// Returns the devices of users with their native push tokens, by client ID
    /// within each user; devices without such a token too.
    func devicesWithTokens(of users: Set<UserID>) throws -> [DeviceTokens]

    // MARK: Native push tokens

    /// Returns a target as it is now, or nil if it is gone, or its session has ended.
    func pushTarget(_ key: PushTargetKey, at now: Instant) throws -> PushTarget?

    /// Returns the targets that the notifications after `sequence` are for, at
    /// most `limit` notifications, and the place of the last one looked at.
    func pushTargets(
        notifiedAfter sequence: NotificationSequence,
        limit: Int
    ) throws -> (targets: [PushTargetKey: ContainerKey], upTo: NotificationSequence)

    /// Looks at the next `limit` devices of a container after `device` and
    /// returns those of their targets that have something pending, and where to
    /// look on; nil when there are no further devices.
    func pendingPushTargets(
        in container: ContainerKey,
        after device: DeviceKey?,
        limit: Int
    ) throws -> (targets: [PushTargetKey], next: DeviceKey?)

    // MARK: Accounts

    /// Returns the web token with this hash, also one that has expired.
    func webToken(hash: [UInt8]) throws -> StoredWebToken?

    /// Returns the account with this name.
    func account(named name: String) throws -> AccountID?

    /// Returns how the account with this name signs in.
    func signIn(named name: String) throws -> StoredSignIn?

    /// Returns the names of the accounts that may not be used.
    func disabledAccountNames() throws -> Set<String>

    /// Returns all account names in alphabetical order.
    func accountNames() throws -> [String]

    /// Returns the accounts that were removed while their data was kept, or is being
    /// erased; at most `limit`.
    func removedAccounts(limit: Int) throws -> [RemovedAccount]

    /// Returns an account that was removed; nil when nothing of it is left.
    func removedAccount(_ account: AccountID) throws -> RemovedAccount?

    /// Returns the users of an account, at most `limit`.
    func users(of account: AccountID, limit: Int) throws -> [StoredUser]

    /// Returns the names of living records of the zone that a user made, after `position`
    /// in the zone's history: at most `limit`, among the next `rows` records and
    /// tombstones; and where to look on, nil at the end.
    func records(
        createdBy user: String, in zone: ZoneKey, after position: Position, limit: Int,
        lookingAt rows: Int
    ) throws -> (names: [String], next: Position?)

    /// Returns what was erased of an account so far.
    func erased(of account: AccountID) throws -> [ErasedKind: Int]

    /// Whether an API token with this hash exists that is valid for the
    /// container now (tokens may be for all containers).
    func hasAPIToken(hash: [UInt8], for container: ContainerKey, at now: Instant) throws -> Bool

    /// Returns the sessions of an account that have a token which is valid at `now`,
    /// oldest first, at most `limit`.
    func sessions(of account: AccountID, at now: Instant, limit: Int) throws -> [StoredSession]

    /// Until when the session has a valid token, unless that is renewed; nil when it is
    /// signed out, expired, or its account disabled or removed.
    func end(of session: SessionID, at now: Instant) throws -> Instant?

    /// Returns the API or the management tokens, oldest first, at most `limit`; expired
    /// ones too.
    func tokens(_ kind: TokenKind, limit: Int) throws -> [StoredToken]

    /// Returns an account's user in a container; nil before its first access.
    func user(of account: AccountID, in container: ContainerKey) throws -> StoredUser?

    /// Returns the user of a container with this record name.
    func user(recordName: String, in container: ContainerKey) throws -> StoredUser?

    /// Returns what the user answered to an app that asked for a permission; nil
    /// before the first answer.
    func permission(_ permission: ApplicationPermission, of user: UserID) throws
        -> PermissionAnswer?

    /// Returns users by ID.
    func users(_ ids: Set<UserID>) throws -> [UserID: StoredUser]

    // MARK: Explanation

    /// Returns kept changes, and those not told yet, newest first. Reads through
    /// all that is kept until it has found enough.
    func keptChanges(_ query: KeptChangeQuery, limit: Int) throws -> [KeptChange]

    /// When the oldest change that is still kept was committed.
    func oldestKeptChange() throws -> Instant?

    /// Returns how a change was told, to one user or to all.
    func told(of change: Int64, to user: UserID?, limit: Int) throws -> [ToldMatch]

    /// Returns the matches that a notification tells. Reads through all that is
    /// kept.
    func told(notificationID: String, limit: Int) throws -> [ToldMatch]

    /// Returns what routes did about a notification, oldest first, and the first
    /// acknowledgement of each device that covers it.
    func deliveries(
        of notification: NotificationSequence, to user: UserID, limit: Int
    ) throws -> [Delivery]

    /// Returns the ID of the notification that replaced the one of `match` in the
    /// log (PUSH-2).
    func replacement(
        of match: ToldMatch, in database: DatabaseID, origin client: String?
    ) throws -> String?

    /// Returns the user's devices with the moments they were registered.
    func registeredDevices(of user: UserID) throws -> [RegisteredDevice]

    /// Returns who has subscriptions in a database, at most `limit`.
    func subscribers(in database: DatabaseID, limit: Int) throws -> [UserID]

    /// Returns the containers that have databases, at most `limit`.
    func containers(limit: Int) throws -> [ContainerKey]

    /// Returns the names of accounts; removed ones are absent.
    func accountNames(_ ids: Set<AccountID>) throws -> [AccountID: String]

    /// Whether a management token with this hash exists and is valid now.
    func hasAdminToken(hash: [UInt8], at now: Instant) throws -> Bool

    // MARK: Kept answers

    /// Returns the answer that was given to a write; nil when it was never done, or
    /// its answer is no longer kept.
    func keptAnswer(to write: WriteID) throws -> KeptAnswer?
}

extension StoreReader {
    /// Returns the living records with these names, which must be few.
    package func records(
        _ names: Set<String>, in zone: ZoneKey
    ) throws -> [String: StoredRecord] {
        try records(names, in: zone, byteLimit: .max) ?? [:]
    }

    /// Returns the living records that a request names; fails with `limitExceeded` when
    /// that is more than one request may hold.
    func records(
        _ names: Set<String>, in zone: ZoneKey, for call: Call
    ) throws -> [String: StoredRecord] {
        let limit = call.limits.namedRecordBytes
        guard let records = try records(names, in: zone, byteLimit: limit) else {
            throw WireError.tooManyBytes(limit)
        }
        return records
    }
}
