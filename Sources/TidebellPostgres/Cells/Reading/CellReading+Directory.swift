// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

// What the first cell has alone: accounts and users, schemas, logs of notifications and devices, the store itself.
extension CellReading {
    // MARK: Account

    func signIn(named name: String) throws -> StoredSignIn? {
        try directory.signIn(named: name)
    }

    func accountName(identifiedBy identity: ForeignIdentity) throws -> String? {
        try directory.accountName(identifiedBy: identity)
    }

    func accounts() throws -> [NamedAccount] {
        try directory.accounts()
    }

    func accountNames(_ ids: Set<AccountID>) throws -> [AccountID: String] {
        try directory.accountNames(ids)
    }

    // MARK: Address

    func addresses(among wanted: Set<UserLookup>) throws -> [StoredAddress] {
        try directory.addresses(among: wanted)
    }

    func addresses(of account: AccountID) throws -> [StoredAddress] {
        try directory.addresses(of: account)
    }

    func users(withAddresses wanted: Set<UserLookup>, in container: ContainerKey) throws
        -> [UserLookup: StoredUser]
    {
        try directory.users(withAddresses: wanted, in: container)
    }

    // MARK: Asset

    func assets(_ contents: Set<AssetContent>) throws -> [AssetContent: StoredAsset] {
        try directory.assets(contents)
    }

    func knownAssetFiles(among files: Set<String>) throws -> Set<String> {
        try directory.knownAssetFiles(among: files)
    }

    func awaitedUpload(tokenHash: [UInt8]) throws -> AwaitedUpload? {
        try directory.awaitedUpload(tokenHash: tokenHash)
    }

    func awaitedUploadCount(of user: UserID, at now: Instant) throws -> Int {
        try directory.awaitedUploadCount(of: user, at: now)
    }

    // MARK: Badge

    func badges(of users: Set<UserID>) throws -> [UserID: Int] {
        try directory.badges(of: users)
    }

    // MARK: Delivery queue

    func queuedDeliveries(in queue: DeliveryQueue, limit: Int) throws -> [DeliveryPointer] {
        try directory.queuedDeliveries(in: queue, limit: limit)
    }

    // MARK: Device

    func devices(of user: UserID) throws -> [StoredDevice] {
        try directory.devices(of: user)
    }

    func registeredDevices(of user: UserID) throws -> [RegisteredDevice] {
        try directory.registeredDevices(of: user)
    }

    func reachableUsers(among users: Set<UserID>) throws -> [UserID: StoredUser] {
        try directory.reachableUsers(among: users)
    }

    func holders(
        ofClientID clientID: String, pushToken token: String?, besides user: UserID
    ) throws -> Set<UserID> {
        try directory.holders(ofClientID: clientID, pushToken: token, besides: user)
    }

    // MARK: Erasure

    func removedAccounts(limit: Int) throws -> [RemovedAccount] {
        try directory.removedAccounts(limit: limit)
    }

    func removedAccount(_ account: AccountID) throws -> RemovedAccount? {
        try directory.removedAccount(account)
    }

    func erased(of account: AccountID) throws -> [ErasedKind: Int] {
        try directory.erased(of: account)
    }

    // MARK: Explanation

    func deliveries(of notification: NotificationSequence, to user: UserID, limit: Int)
        throws -> [Delivery]
    {
        try directory.deliveries(of: notification, to: user, limit: limit)
    }

    func replacement(
        of match: NotifiedMatch, in database: DatabaseID, origin client: String?
    ) throws -> String? {
        try directory.replacement(of: match, in: database, origin: client)
    }

    // MARK: Field key

    func rootKeyID() throws -> String? {
        try directory.rootKeyID()
    }

    // MARK: Notification history

    func notificationHistory(
        of user: UserID, after position: NotificationSequence, marks: ReadMarks, limit: Int
    ) throws -> [HistoryEntry] {
        try directory.notificationHistory(
            of: user, after: position, marks: marks, limit: limit)
    }

    func notificationSequences(
        _ ids: Set<String>, of user: UserID, after position: NotificationSequence
    ) throws -> [String: NotificationSequence] {
        try directory.notificationSequences(ids, of: user, after: position)
    }

    // MARK: Notification log

    func notifications(
        for user: UserID, after sequence: NotificationSequence, excludingOrigin client: String?,
        limit: Int
    ) throws -> [StoredNotification] {
        try directory.notifications(
            for: user, after: sequence, excludingOrigin: client, limit: limit)
    }

    func notificationPosition(
        for user: UserID, after sequence: NotificationSequence, excludingOrigin client: String?,
        newest count: Int
    ) throws -> NotificationSequence? {
        try directory.notificationPosition(
            for: user, after: sequence, excludingOrigin: client, newest: count)
    }

    func newestNotifications(of users: Set<UserID>) throws -> [UserID: NotificationSequence] {
        try directory.newestNotifications(of: users)
    }

    func notificationHead(of user: UserID) throws -> NotificationSequence {
        try directory.notificationHead(of: user)
    }

    func notificationFloor(of user: UserID) throws -> NotificationSequence {
        try directory.notificationFloor(of: user)
    }

    func usersWithNotifications(moreThan count: Int, limit: Int) throws -> [UserID] {
        try directory.usersWithNotifications(moreThan: count, limit: limit)
    }

    // MARK: Push token

    func pushToken(_ token: String) throws -> StoredPushToken? {
        try directory.pushToken(token)
    }

    func pushToken(courier: String, at now: Instant) throws -> (
        token: StoredPushToken, devices: [StoredDevice]
    )? {
        try directory.pushToken(courier: courier, at: now)
    }

    func devicesWithTokens(of users: Set<UserID>, at now: Instant) throws -> [DeviceTokens] {
        try directory.devicesWithTokens(of: users, at: now)
    }

    func pushTarget(_ key: PushTargetKey, at now: Instant) throws -> PushTarget? {
        try directory.pushTarget(key, at: now)
    }

    // MARK: Root key

    func nextRootKeyID() throws -> String? {
        try directory.nextRootKeyID()
    }

    func files(wrappedBy rootKeyID: String, after content: AssetContent?, limit: Int) throws
        -> [StoredAsset]
    {
        try directory.files(wrappedBy: rootKeyID, after: content, limit: limit)
    }

    // MARK: Schema

    func recordTypes(_ names: Set<String>, in container: ContainerKey) throws -> [String:
        StoredRecordType]
    {
        try directory.recordTypes(names, in: container)
    }

    func privateFields(of user: UserID, in types: Set<String>, _ container: ContainerKey)
        throws -> [String: [String: StoredField]]
    {
        try directory.privateFields(of: user, in: types, container)
    }

    func differingPrivateFields(in container: ContainerKey, limit: Int) throws
        -> [DifferingPrivateField]
    {
        try directory.differingPrivateFields(in: container, limit: limit)
    }

    func schemaDefinition(of container: ContainerKey) throws -> SchemaDefinition {
        try directory.schemaDefinition(of: container)
    }

    func schemaRevision(of container: ContainerKey) throws -> SchemaRevision {
        try directory.schemaRevision(of: container)
    }

    func recordTypeNames(in container: ContainerKey, limit: Int) throws -> [String] {
        try directory.recordTypeNames(in: container, limit: limit)
    }

    func schemaDeployments(to container: ContainerKey, limit: Int) throws
        -> [SchemaDeployment]
    {
        try directory.schemaDeployments(to: container, limit: limit)
    }

    func queryUses(in container: ContainerKey, limit: Int) throws -> [QueryUse] {
        try directory.queryUses(in: container, limit: limit)
    }

    // MARK: Secret

    func storeSecret() throws -> StoreSecret? {
        try directory.storeSecret()
    }

    // MARK: Server key

    func serverKey(_ id: String) throws -> StoredServerKey? {
        try directory.serverKey(id)
    }

    func serverKeys(limit: Int) throws -> [StoredServerKey] {
        try directory.serverKeys(limit: limit)
    }

    // MARK: Session

    func webToken(hash: [UInt8]) throws -> StoredWebToken? {
        try directory.webToken(hash: hash)
    }

    func sessions(of account: AccountID, at now: Instant, limit: Int) throws
        -> [StoredSession]
    {
        try directory.sessions(of: account, at: now, limit: limit)
    }

    func sessions(like token: StoredWebToken, at now: Instant, limit: Int) throws
        -> [StoredSession]
    {
        try directory.sessions(like: token, at: now, limit: limit)
    }

    func ancestors(of session: SessionID) throws -> Set<SessionID> {
        try directory.ancestors(of: session)
    }

    func end(of session: SessionID, at now: Instant) throws -> Instant? {
        try directory.end(of: session, at: now)
    }

    func listening(among listeners: Set<Listener>, at now: Instant) throws -> Set<Listener> {
        try directory.listening(among: listeners, at: now)
    }

    // MARK: Sign in

    func deviceSignIn(hash: [UInt8]) throws -> StoredDeviceSignIn? {
        try directory.deviceSignIn(hash: hash)
    }

    func deviceSignIn(userCode: String) throws -> StoredDeviceSignIn? {
        try directory.deviceSignIn(userCode: userCode)
    }

    func deviceSignInCounts(
        in container: ContainerKey, of address: String?, at now: Instant
    ) throws -> DeviceSignInCounts {
        try directory.deviceSignInCounts(in: container, of: address, at: now)
    }

    // MARK: Token

    func token(hash: [UInt8], _ kind: TokenKind) throws -> StoredToken? {
        try directory.token(hash: hash, kind)
    }

    func tokens(_ kind: TokenKind, limit: Int) throws -> [StoredToken] {
        try directory.tokens(kind, limit: limit)
    }

    // MARK: User

    func user(of account: AccountID, in container: ContainerKey) throws -> StoredUser? {
        try directory.user(of: account, in: container)
    }

    func user(recordName: String, in container: ContainerKey) throws -> StoredUser? {
        try directory.user(recordName: recordName, in: container)
    }

    func users(recordNames: Set<String>, in container: ContainerKey) throws -> [StoredUser] {
        try directory.users(recordNames: recordNames, in: container)
    }

    func users(_ ids: Set<UserID>) throws -> [UserID: StoredUser] {
        try directory.users(ids)
    }

    func users(of account: AccountID, limit: Int) throws -> [StoredUser] {
        try directory.users(of: account, limit: limit)
    }

    func permission(_ permission: ApplicationPermission, of user: UserID) throws
        -> PermissionAnswer?
    {
        try directory.permission(permission, of: user)
    }

    func roles(of user: UserID) throws -> Set<String> {
        try directory.roles(of: user)
    }

    func users(withRole role: String, in container: ContainerKey, limit: Int) throws
        -> [StoredUser]
    {
        try directory.users(withRole: role, in: container, limit: limit)
    }

    // MARK: Webhook

    func webhooks() throws -> [StoredWebhook] {
        try directory.webhooks()
    }

    func webhook(_ id: WebhookID) throws -> StoredWebhook? {
        try directory.webhook(id)
    }

    func webhookCursor(_ id: WebhookID, of user: UserID) throws -> NotificationSequence? {
        try directory.webhookCursor(id, of: user)
    }
}
