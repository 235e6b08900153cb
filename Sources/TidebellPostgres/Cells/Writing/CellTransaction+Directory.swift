// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

// What the first cell has alone.
extension CellTransaction {
    // MARK: Account

    func putIdentity(_ identity: ForeignIdentity, of account: AccountID) throws {
        try write(in: .directory) { try $0.putIdentity(identity, of: account) }
    }

    func setPassword(_ hash: String?, of account: AccountID) throws {
        try write(in: .directory) { try $0.setPassword(hash, of: account) }
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

    // MARK: Webhook

    func setWebhook(_ id: WebhookID, disabledBecause reason: String?) throws {
        try write(in: .directory) { try $0.setWebhook(id, disabledBecause: reason) }
    }
}
