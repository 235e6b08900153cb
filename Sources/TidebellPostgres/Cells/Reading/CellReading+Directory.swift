// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

// What the first cell has alone: the names of accounts, who is a user of what, where webhooks lead, the store itself.
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

    // MARK: Field key

    func rootKeyID() throws -> String? {
        try directory.rootKeyID()
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

    func differingPrivateFields(in container: ContainerKey, limit: Int) throws
        -> [DifferingPrivateField]
    {
        try directory.differingPrivateFields(in: container, limit: limit)
    }

    func schemaDefinition(of container: ContainerKey) throws -> SchemaDefinition {
        try directory.schemaDefinition(of: container)
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

    func tokens(_ kind: TokenKind, limit: Int) throws -> [StoredToken] {
        try directory.tokens(kind, limit: limit)
    }

    // MARK: User

    func user(recordName: String, in container: ContainerKey) throws -> StoredUser? {
        try directory.user(recordName: recordName, in: container)
    }

    func users(recordNames: Set<String>, in container: ContainerKey) throws -> [StoredUser] {
        try directory.users(recordNames: recordNames, in: container)
    }

    func users(of account: AccountID, limit: Int) throws -> [StoredUser] {
        try directory.users(of: account, limit: limit)
    }

    // MARK: Webhook

    func webhooks() throws -> [StoredWebhook] {
        try directory.webhooks()
    }

    func webhook(_ id: WebhookID) throws -> StoredWebhook? {
        try directory.webhook(id)
    }

}
