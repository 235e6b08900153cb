// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What can be written in a transaction, beside all that can be read.
package protocol StoreTransaction: StoreReader {
    // MARK: Databases and zones

    /// Returns the database, created (with its default zone, for public and
    /// private ones) if this is its first use.
    func makeDatabase(_ key: DatabaseKey) throws -> StoredDatabase

    /// Takes the next `count` places in the database's history and returns the
    /// first of them, which is not below the milliseconds since 1970 of `now`.
    ///
    /// So a store that comes back from an older moment gives none a second time, as
    /// long as a database has fewer changes than milliseconds. A clock that goes back
    /// does no harm: places still grow.
    ///
    /// - Parameter change: What the database takes more by what is done there; it is to
    ///   be told to the zone as well, see ``touchZone``.
    func advance(
        _ database: DatabaseID, by count: Int, at now: Instant, adding change: StorageUse
    ) throws -> Position

    /// Creates zones that do not live, each at its own position, and returns
    /// them with their new keys; traces of deleted zones with the same names go.
    func createZones(
        _ zones: [(name: String, position: Position)],
        in database: DatabaseID
    ) throws -> [StoredZone]

    /// Deletes zones with all their records and references, leaving a trace at
    /// `position` each; `now` tells the traces' age to ``removeTombstones``.
    ///
    /// Nothing of them is found from now on, and their database takes less by what they
    /// took. What cannot be removed in a short time is removed later, by
    /// ``removeDeletedZones(limit:at:)``.
    func deleteZones(
        _ zones: [(key: ZoneKey, position: Position)],
        reason: ZoneDeletionReason,
        at now: Instant
    ) throws

    /// Marks a zone as changed at `position`; a client change token replaces the
    /// one before unless nil. The zone takes `change` more; its database is told by
    /// ``advance``.
    func touchZone(
        _ zone: ZoneKey, position: Position, clientChangeToken: [UInt8]?, adding change: StorageUse
    ) throws

    /// Removes rows that deleted zones have left, at most about `limit`; returns how many
    /// went, less than `limit` when none are left.
    func removeDeletedZones(limit: Int, at now: Instant) throws -> Int

    // MARK: Encrypted fields

    /// Notes the key of a zone's encrypted fields, and the root key it is wrapped by; the
    /// one before goes. Deleting the zone forgets it.
    func putFieldKey(_ key: WrappedKey, wrappedBy rootKeyID: String, of zone: ZoneKey) throws

    /// Notes which root key the store works with. Where that is another one than before,
    /// the files whose keys only that one opened are forgotten.
    func adoptRootKey(_ id: String) throws

    /// Replaces the fields of records at the position they have: nobody sees a change.
    func putSealed(_ records: [StoredRecord], in zone: ZoneKey) throws

    /// Takes records off those that ``StoreReader/unsealedRecords(limit:)`` gives.
    func removeUnsealed(_ names: Set<String>, in zone: ZoneKey) throws

    // MARK: Records

    /// Inserts records and tombstones, replacing what stands under their names.
    func putRecords(_ records: [StoredRecord], in zone: ZoneKey) throws

    /// Replaces all references that go out from `sources`.
    func putReferences(
        _ references: [StoredReference],
        from sources: Set<String>,
        in zone: ZoneKey
    ) throws

    /// Removes tombstones and zone traces that are older than `moment`, raising
    /// the floor of the tombstones' zones and of the traces' databases (TOK-22);
    /// returns how many went. At most `limit`.
    func removeTombstones(modifiedBefore moment: Instant, limit: Int) throws -> Int

    // MARK: Retention

    /// Moves the moment from which retention counts back forward to `now`, but by no more than
    /// `step`, and returns it, or `now` if that is before it. The first step is taken from
    /// when a device was seen or a notification made last, if ever.
    func moveRetention(to now: Instant, byAtMost step: Duration) throws -> Instant

    // MARK: Assets

    /// Notes uploads that are to come.
    func putAwaitedUploads(_ uploads: [AwaitedUpload]) throws

    /// Removes an upload that was to come; false if there was none.
    func removeAwaitedUpload(tokenHash: [UInt8]) throws -> Bool

    /// Removes uploads that expired before `moment` without having come, at most
    /// `limit`; returns how many went.
    func removeAwaitedUploads(expiredBefore moment: Instant, limit: Int) throws -> Int

    /// Notes a file and returns it; where its content is kept already, returns that
    /// file instead. Either way it counts as unused since `now` unless a record
    /// holds it.
    func putAsset(_ asset: StoredAsset, at now: Instant) throws -> StoredAsset

    /// Replaces the files that records of a zone hold; what they let go of counts
    /// as unused since `now` unless another record holds it (ASSET-4).
    func putAssetUses(
        _ uses: [String: Set<AssetContent>], in zone: ZoneKey, at now: Instant
    ) throws

    /// Forgets the files that no record has held since `moment`, oldest first, and
    /// returns their names. Looks at no more than `limit` that may be such;
    /// `isComplete` tells whether these were all.
    func removeUnusedAssets(
        since moment: Instant, limit: Int
    ) throws -> (files: [String], isComplete: Bool)

    // MARK: Schema

    /// Adds fields (and with them types) that a container's schema lacks; those it
    /// knows stay as they are.
    func addFields(_ fields: [String: [String: StoredField]], in container: ContainerKey) throws

    // MARK: Subscriptions

    /// Inserts subscriptions, replacing the content of those with the same
    /// identity, which keep their serial, and keeps the database's
    /// ``StoredDatabase/subscriptionKinds`` true. The serials given are ignored.
    func putSubscriptions(_ subscriptions: [StoredSubscription]) throws

    /// Removes a user's subscriptions; IDs that do not exist are ignored.
    func removeSubscriptions(_ ids: Set<String>, of user: UserID, in database: DatabaseID) throws

    /// Removes zone subscriptions on the zone and query subscriptions limited to
    /// it, of all users (SUB-65), and returns them.
    func removeSubscriptions(
        onZone name: String, in database: DatabaseID
    ) throws -> [StoredSubscription]

    // MARK: Push

    /// Appends entries; their IDs are given by the store, in order.
    func appendOutbox(_ entries: [OutboxEntry]) throws

    /// Notes how far an entry was told (``OutboxEntry/toldThrough``); other databases that
    /// wait have their turn before this one's next.
    func setToldThrough(_ serial: SubscriptionSerial, ofOutboxEntry id: Int64) throws

    /// Takes entries of a database whose telling is done out of the outbox; kept ones are
    /// found by ``StoreReader/keptChanges(_:limit:)`` until ``removeExplanations``. Other
    /// databases that wait have their turn before this one's next.
    func markTold(upTo id: Int64, in database: DatabaseID, keeping: Bool) throws

    /// Appends notifications and returns them with their sequences.
    ///
    /// A notification with a collapse ID replaces the older ones of the same
    /// user, database, subscription, origin and collapse ID (PUSH-2): they are
    /// no longer returned by `notifications`.
    func appendNotifications(
        _ notifications: [StoredNotification]
    ) throws -> [StoredNotification]

    /// Removes notifications older than `moment` (NOTIF-15), at most `limit`, and
    /// raises ``StoreReader/notificationFloor()``; returns how many went.
    func removeNotifications(createdBefore moment: Instant, limit: Int) throws -> Int

    /// Returns the user's device with this client ID, registered at the head of
    /// the log if it is new, and notes that it is in use, to the day. A client ID that was another user's of the same
    /// container stops being that user's device (SUB-51).
    ///
    /// Of a user with more than `limit` devices, those unused for longest go, with the
    /// push tokens that told nobody else.
    func registerDevice(
        clientID: String,
        user: UserID,
        container: ContainerKey,
        atMost limit: Int,
        at now: Instant
    ) throws -> StoredDevice

    /// Moves the courier's position forward for all devices that its token tells, never
    /// back.
    func acknowledge(courierToken token: String, upTo sequence: NotificationSequence) throws

    /// Removes the oldest notifications of a user beyond the newest `count`, at most
    /// `limit`, and raises the user's ``StoreReader/notificationFloor(of:)``; returns how
    /// many went.
    func trimNotifications(of user: UserID, to count: Int, limit: Int) throws -> Int

    /// Moves the device's acknowledgement forward, never back.
    func acknowledge(_ device: DeviceKey, upTo sequence: NotificationSequence) throws

    /// Inserts or replaces a push token and adds the device to those it tells.
    ///
    /// A token tells devices of one account, the one it was put for last (SUB-51), and a
    /// native one only one device of a container. For each device it starts at the head of
    /// the log.
    ///
    /// It tells the device for as long as `session` lasts; put again in another one, it
    /// keeps its position.
    func putPushToken(
        _ token: StoredPushToken, tells device: DeviceKey, in session: SessionID?
    ) throws

    // MARK: Badges and history

    /// Sets users' badges.
    func putBadges(_ badges: [UserID: Int]) throws

    /// Marks a user's notifications as read, each at a new place of the history;
    /// what was read already stays where it is, what is gone is passed over.
    /// Devices that are away are told of them all the same.
    func markNotificationsRead(
        _ sequences: Set<NotificationSequence>, of user: UserID
    ) throws

    /// Notes that a fetch of the history has given out the marks at these places.
    func noteReadMarksTold(_ places: Set<NotificationSequence>, of user: UserID) throws

    // MARK: Unused devices and tokens

    /// Notes that devices are in use; what is gone is ignored.
    func markDevicesSeen(_ devices: [DeviceKey], at now: Instant) throws

    /// Removes devices that were not seen since `moment`, with the push tokens
    /// that told nobody else; returns how many went. At most `limit`.
    func removeDevices(unseenSince moment: Instant, limit: Int) throws -> Int

    /// Removes web tokens that expired before `moment`, those of web pages that
    /// expired before `pageMoment`, at most `limit` of each; returns how many went.
    func removeWebTokens(
        expiredBefore moment: Instant, ofPagesBefore pageMoment: Instant, limit: Int
    ) throws -> Int

    // MARK: Webhooks

    /// Creates a webhook that begins at the head of the log.
    func createWebhook(
        for container: ContainerKey, url: String, secret: [UInt8], at now: Instant
    ) throws -> StoredWebhook

    /// Removes a webhook; false if there was none.
    func removeWebhook(_ id: WebhookID) throws -> Bool

    /// Moves the webhook's place in the log forward, never back.
    func advanceWebhook(_ id: WebhookID, upTo sequence: NotificationSequence) throws

    /// Disables a webhook for a reason, or enables it with nil.
    func setWebhook(_ id: WebhookID, disabledBecause reason: String?) throws

    // MARK: Native push tokens

    /// Moves targets forward in the log, never back; those that are gone are
    /// ignored.
    func movePushTargets(_ cursors: [PushTargetKey: NotificationSequence]) throws

    /// Removes a push token unless it was registered after `moment`; returns
    /// whether it is gone.
    func removePushToken(_ token: String, registeredUpTo moment: Instant) throws -> Bool

    /// Takes the push tokens registered longest ago from a user who has more
    /// than `limit` of them; returns how many.
    func trimPushTokens(of user: UserID, to limit: Int) throws -> Int

    // MARK: Accounts

    /// Creates an account; throws `EXISTS` if the name is taken.
    func createAccount(named name: String, at now: Instant) throws -> AccountID

    /// Removes an account with its web tokens and the devices and subscriptions of its
    /// users, so that these are refused and nothing is made for them any more (SUB-51).
    /// Its databases stay, until they are erased.
    func removeAccount(_ account: AccountID, at now: Instant) throws

    /// Makes removed accounts of users who were erased and have databases nevertheless,
    /// so that these can be erased; at most `limit`. Older versions wrote them within
    /// seconds of the erasure.
    func adoptLostDatabases(limit: Int) throws

    /// Notes that the data of a removed account is to go.
    func beginErasing(_ account: AccountID, _ erasure: RemovedAccount.Erasure) throws

    /// Notes how far public records were looked through.
    func setErasurePosition(_ position: Position, of account: AccountID) throws

    /// Counts what was erased.
    func noteErased(_ kind: ErasedKind, _ count: Int, of account: AccountID) throws

    /// Removes about `limit` rows that belong to the user of a removed account, and with
    /// the last one the user; returns whether that is gone. What is in public databases
    /// stays.
    ///
    /// Files that no record holds any more count as unused since `now`.
    func eraseRows(of user: StoredUser, at now: Instant, limit: Int) throws -> Bool

    /// Forgets an account that has no users any more; what was counted stays.
    func endErasing(_ account: AccountID) throws

    /// Sets the hash of an account's password; nil takes the password away.
    func setPassword(_ hash: String?, of account: AccountID) throws

    /// Forbids the use of an account, or allows it again.
    func setDisabled(_ isDisabled: Bool, _ account: AccountID) throws

    /// Stores a web token by its hash; one with a lifetime is renewed for as long
    /// again before it expires, but not past its end.
    func putWebToken(_ token: StoredWebToken, hash: [UInt8]) throws

    /// Notes that a web token was followed by another.
    func markWebTokenRenewed(hash: [UInt8], at now: Instant) throws

    /// Removes all tokens of a session and of those that were begun with it: who
    /// shows one is unknown. What is gone is ignored.
    func removeSession(_ session: SessionID) throws

    /// Lets tokens expire now: who shows one is to sign in again. Returns how many
    /// sessions ended.
    func endTokens(_ tokens: EndedTokens, at now: Instant) throws -> Int

    /// Notes that tokens were in use, to the hour; what is gone is ignored.
    func noteUse(of tokens: [UsedToken: Instant]) throws

    /// Stores an API or management token.
    func putToken(_ token: StoredToken, _ kind: TokenKind) throws

    /// Removes an API or management token; what is gone is ignored.
    func removeToken(hash: [UInt8], _ kind: TokenKind) throws

    /// Removes a device of a user, with the push tokens that told nobody else
    /// (SUB-51); what is gone is ignored.
    func removeDevice(clientID: String, of user: UserID) throws

    /// Keeps the user's answer to an app that asked for a permission; nil forgets
    /// it.
    func setPermission(
        _ permission: ApplicationPermission, of user: UserID, to answer: PermissionAnswer?
    ) throws

    /// Returns the account's user in the container, created with `recordName`
    /// if this is its first access.
    func makeUser(
        of account: AccountID,
        in container: ContainerKey,
        recordName: String,
        at now: Instant
    ) throws -> StoredUser

    // MARK: Explanation

    /// Notes what became of matches.
    func appendTold(_ matches: [ToldMatch]) throws

    /// Replaces the event of an entry by a shorter account of it.
    func shorten(_ event: OutboxEntry.Event, of change: Int64) throws

    /// Notes what routes did.
    func appendDeliveries(_ deliveries: [Delivery]) throws

    /// Removes told changes that were committed before `moment` or exceed the
    /// bounds, with all that is kept of them, oldest first; then deliveries
    /// likewise. At most about `limit` rows; returns at least `limit` when there
    /// may be more.
    func removeExplanations(
        before moment: Instant, exceeding bounds: ExplanationBounds, limit: Int
    ) throws -> Int

    // MARK: Kept answers

    /// Keeps the answer to a write that has none yet. Where the user's answers then exceed
    /// `bytes` of ``KeptAnswer/size``, the user's oldest go, about a quarter of them.
    func keepAnswer(
        _ answer: KeptAnswer, to write: WriteID, at now: Instant, exceeding bytes: Int
    ) throws

    /// Removes answers kept before `moment`; then, beyond `bytes` of ``KeptAnswer/size``,
    /// the oldest of the users who have most. At most about `limit`; returns how many went.
    func removeAnswers(keptBefore moment: Instant, exceeding bytes: Int, limit: Int) throws -> Int
}

extension StoreTransaction {
    /// Inserts or replaces a push token that tells a device whatever sessions end.
    package func putPushToken(_ token: StoredPushToken, tells device: DeviceKey) throws {
        try putPushToken(token, tells: device, in: nil)
    }

    /// Takes the next `count` places in the database's history; it takes what it took.
    package func advance(
        _ database: DatabaseID, by count: Int, at now: Instant
    ) throws -> Position {
        try advance(database, by: count, at: now, adding: .zero)
    }

    /// Returns the user's device with this client ID, however many the user has.
    package func registerDevice(
        clientID: String, user: UserID, container: ContainerKey, at now: Instant
    ) throws -> StoredDevice {
        try registerDevice(
            clientID: clientID, user: user, container: container, atMost: .max, at: now)
    }

    /// Marks a zone as changed at `position`; it takes what it took.
    package func touchZone(
        _ zone: ZoneKey, position: Position, clientChangeToken: [UInt8]?
    ) throws {
        try touchZone(
            zone, position: position, clientChangeToken: clientChangeToken, adding: .zero)
    }
}
