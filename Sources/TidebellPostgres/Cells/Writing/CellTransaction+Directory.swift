// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

// What the first cell has alone.
extension CellTransaction {
    // MARK: Account

    func createAccount(named name: String, at now: Instant) throws -> AccountID {
        try write(in: .directory) { try $0.createAccount(named: name, at: now) }
    }

    func putIdentity(_ identity: ForeignIdentity, of account: AccountID) throws {
        try write(in: .directory) { try $0.putIdentity(identity, of: account) }
    }

    func setPassword(_ hash: String?, of account: AccountID) throws {
        try write(in: .directory) { try $0.setPassword(hash, of: account) }
    }

    func setDisabled(_ isDisabled: Bool, _ account: AccountID) throws {
        try write(in: .directory) { try $0.setDisabled(isDisabled, account) }
    }

    // MARK: Address

    func putAddress(_ address: StoredAddress) throws {
        try write(in: .directory) { try $0.putAddress(address) }
    }

    func removeAddress(_ address: UserLookup) throws {
        try write(in: .directory) { try $0.removeAddress(address) }
    }

    // MARK: Asset

    func putAwaitedUploads(_ uploads: [AwaitedUpload]) throws {
        try write(in: .directory) { try $0.putAwaitedUploads(uploads) }
    }

    func removeAwaitedUpload(tokenHash: [UInt8]) throws -> Bool {
        try write(in: .directory) { try $0.removeAwaitedUpload(tokenHash: tokenHash) }
    }

    func removeAwaitedUploads(expiredBefore moment: Instant, limit: Int) throws -> Int {
        try write(in: .directory) {
            try $0.removeAwaitedUploads(expiredBefore: moment, limit: limit)
        }
    }

    func putAsset(_ asset: StoredAsset, at now: Instant) throws -> StoredAsset {
        try write(in: .directory) { try $0.putAsset(asset, at: now) }
    }

    func replaceAsset(by asset: StoredAsset) throws {
        try write(in: .directory) { try $0.replaceAsset(by: asset) }
    }

    // MARK: Erasure

    func beginErasing(_ account: AccountID, _ erasure: RemovedAccount.Erasure) throws {
        try write(in: .directory) { try $0.beginErasing(account, erasure) }
    }

    func setErasurePosition(_ position: Position, of account: AccountID) throws {
        try write(in: .directory) { try $0.setErasurePosition(position, of: account) }
    }

    func noteErased(_ kind: ErasedKind, _ count: Int, of account: AccountID) throws {
        try write(in: .directory) { try $0.noteErased(kind, count, of: account) }
    }

    func endErasing(_ account: AccountID) throws {
        try write(in: .directory) { try $0.endErasing(account) }
    }

    // MARK: Root key

    func putFileKeys(_ keys: [AssetContent: [UInt8]], wrappedBy rootKeyID: String) throws {
        try write(in: .directory) { try $0.putFileKeys(keys, wrappedBy: rootKeyID) }
    }

    func adoptRootKey(_ id: String) throws {
        try write(in: .directory) { try $0.adoptRootKey(id) }
    }

    func beginRootKeyChange(to id: String) throws {
        try write(in: .directory) { try $0.beginRootKeyChange(to: id) }
    }

    func endRootKeyChange() throws {
        try write(in: .directory) { try $0.endRootKeyChange() }
    }

    // MARK: Schema

    func addRecordTypes(_ types: [String: StoredRecordType], in container: ContainerKey)
        throws
    {
        try write(in: .directory) { try $0.addRecordTypes(types, in: container) }
    }

    func replaceSchema(with schema: SchemaDefinition, in container: ContainerKey) throws {
        try write(in: .directory) { try $0.replaceSchema(with: schema, in: container) }
    }

    func noteQueryUses(
        _ uses: [QueryUse], in container: ContainerKey, at now: Instant, keeping kept: Int
    ) throws {
        try write(in: .directory) {
            try $0.noteQueryUses(uses, in: container, at: now, keeping: kept)
        }
    }

    func appendSchemaDeployment(
        _ deployment: SchemaDeployment, to container: ContainerKey, keeping kept: Int
    ) throws {
        try write(in: .directory) {
            try $0.appendSchemaDeployment(deployment, to: container, keeping: kept)
        }
    }

    // MARK: Secret

    func putStoreSecret(_ secret: StoreSecret) throws {
        try write(in: .directory) { try $0.putStoreSecret(secret) }
    }

    // MARK: Server key

    func putServerKey(_ key: StoredServerKey) throws {
        try write(in: .directory) { try $0.putServerKey(key) }
    }

    // MARK: Session

    func putWebToken(_ token: StoredWebToken, hash: [UInt8]) throws {
        try write(in: .directory) { try $0.putWebToken(token, hash: hash) }
    }

    func markWebTokenRenewed(hash: [UInt8], at now: Instant) throws {
        try write(in: .directory) { try $0.markWebTokenRenewed(hash: hash, at: now) }
    }

    func noteUse(of tokens: [UsedToken: Instant]) throws {
        try write(in: .directory) { try $0.noteUse(of: tokens) }
    }

    func endTokens(_ tokens: EndedTokens, at now: Instant) throws -> Int {
        try write(in: .directory) { try $0.endTokens(tokens, at: now) }
    }

    func removeSessions(begunWith session: SessionID) throws -> Set<SessionID> {
        try write(in: .directory) { try $0.removeSessions(begunWith: session) }
    }

    func removeWebTokens(
        expiredBefore moment: Instant, ofPagesBefore pageMoment: Instant, limit: Int
    ) throws -> Int {
        try write(in: .directory) {
            try $0.removeWebTokens(expiredBefore: moment, ofPagesBefore: pageMoment, limit: limit)
        }
    }

    // MARK: Sign in

    func putDeviceSignIn(_ device: StoredDeviceSignIn) throws -> Bool {
        try write(in: .directory) { try $0.putDeviceSignIn(device) }
    }

    func enterDeviceSignIn(
        userCode: String, by user: StoredDeviceSignIn.Entered, at now: Instant
    ) throws -> Bool {
        try write(in: .directory) {
            try $0.enterDeviceSignIn(userCode: userCode, by: user, at: now)
        }
    }

    func takeDeviceSignIn(hash: [UInt8]) throws -> StoredDeviceSignIn? {
        try write(in: .directory) { try $0.takeDeviceSignIn(hash: hash) }
    }

    func removeDeviceSignIns(expiredBy moment: Instant, limit: Int) throws -> Int {
        try write(in: .directory) { try $0.removeDeviceSignIns(expiredBy: moment, limit: limit) }
    }

    func noteFinishedVisit(_ hash: [UInt8], until end: Instant, keeping most: Int) throws
        -> Bool
    {
        try write(in: .directory) { try $0.noteFinishedVisit(hash, until: end, keeping: most) }
    }

    func removeFinishedVisits(endedBy moment: Instant, limit: Int) throws -> Int {
        try write(in: .directory) { try $0.removeFinishedVisits(endedBy: moment, limit: limit) }
    }

    // MARK: Token

    func putToken(_ token: StoredToken, _ kind: TokenKind) throws {
        try write(in: .directory) { try $0.putToken(token, kind) }
    }

    func removeToken(hash: [UInt8], _ kind: TokenKind) throws {
        try write(in: .directory) { try $0.removeToken(hash: hash, kind) }
    }

    // MARK: Webhook

    func createWebhook(
        for container: ContainerKey, url: String, secret: [UInt8], at now: Instant
    ) throws -> StoredWebhook {
        try write(in: .directory) {
            try $0.createWebhook(for: container, url: url, secret: secret, at: now)
        }
    }

    func setWebhook(_ id: WebhookID, disabledBecause reason: String?) throws {
        try write(in: .directory) { try $0.setWebhook(id, disabledBecause: reason) }
    }
}
