// SPDX-License-Identifier: Apache-2.0
import Foundation
package import TidebellWire

/// The caller, for which database, when: what every operation needs to know
/// beside its request.
package struct Call: Sendable {
    /// The container and environment of the path.
    package var container: ContainerKey
    /// The database of the path.
    package var scope: DatabaseScope
    /// The signed-in user; nil for a caller with an API token only.
    package var user: StoredUser?
    /// The session of the caller's web token; nil for a caller without one.
    package var session: SessionID?
    /// The only container, in its environment, where the caller's web token is good; nil for
    /// everywhere.
    package var onlyContainer: ContainerKey?
    /// The device that calls, if it sent its ID; only it knows the ID, which is how it
    /// is known again.
    package var clientID: String?
    /// Makes what records show of the device that wrote them: which writes are of
    /// the same device, and not its client ID.
    package var makeDeviceID: @Sendable () -> String
    /// Whether the client opted into the extensions (web-services 9).
    package var usesExtensions: Bool
    /// The moment of the call.
    package var now: Instant
    /// The store's identity, part of every sync token.
    package var storeIdentity: UInt64
    /// The store's life, part of every sync token.
    package var storeIncarnation: Incarnation
    /// The limits in force.
    package var limits: Limits
    /// The schemas that calls before asked for, of the same store.
    package var schemas: SchemaCache
    /// Where is noted what development asks for.
    package var queryUses: QueryUses
    /// The UUIDs of what comes without a name.
    package var uuids: CallUUIDs
    /// Makes receipts and download URLs of assets.
    package var assetSeals: any AssetSeals
    /// Encrypts the fields that are to be encrypted.
    package var fieldCipher: any FieldCipher
    /// The key that makes the URLs of shares.
    package var shareURLKey: [UInt8]
    /// Makes the continuation markers of queries.
    package var markerSeal: MarkerSeal

    /// How the store's operator finds what is damaged.
    package var damageSearch = DamageSearch.check

    /// Called with zone and record of every record that was asked for and is damaged; without a
    /// record where the key of the zone's encrypted fields is.
    package var reportDamage: @Sendable (_ zoneName: String, _ recordName: String?) -> Void = {
        _, _ in
    }

    /// Called with the ID of every subscription that was asked for and is damaged.
    package var reportDamagedSubscription: @Sendable (_ subscriptionID: String) -> Void = { _ in }

    /// Called with what was let through although Apple refuses it, and a sentence about that.
    package var reportLeniency: @Sendable (_ subject: String, _ warning: String) -> Void = { _, _ in
    }

    /// Called with how a page of a query was found, also where that failed.
    package var noteQuery: @Sendable (QueryReport) -> Void = { _ in }

    /// Creates a call.
    package init(
        container: ContainerKey,
        scope: DatabaseScope,
        user: StoredUser?,
        session: SessionID? = nil,
        onlyContainer: ContainerKey? = nil,
        clientID: String? = nil,
        makeDeviceID: @escaping @Sendable () -> String = { "" },
        usesExtensions: Bool = false,
        now: Instant,
        storeIdentity: UInt64,
        storeIncarnation: Incarnation = .first,
        limits: Limits = Limits(),
        schemas: SchemaCache = SchemaCache(),
        queryUses: QueryUses = QueryUses(),
        uuids: CallUUIDs,
        assetSeals: any AssetSeals = NoAssetSeals(),
        fieldCipher: any FieldCipher = NoFieldCipher(),
        shareURLKey: [UInt8] = [],
        markerSeal: MarkerSeal = MarkerSeal()
    ) {
        self.container = container
        self.scope = scope
        self.user = user
        self.session = session
        self.onlyContainer = onlyContainer
        self.clientID = clientID
        self.makeDeviceID = makeDeviceID
        self.usesExtensions = usesExtensions
        self.now = now
        self.storeIdentity = storeIdentity
        self.storeIncarnation = storeIncarnation
        self.limits = limits
        self.schemas = schemas
        self.queryUses = queryUses
        self.uuids = uuids
        self.assetSeals = assetSeals
        self.fieldCipher = fieldCipher
        self.shareURLKey = shareURLKey
        self.markerSeal = markerSeal
    }
}

extension Call {
    /// Whether the caller's web token is good in a container, which need not be that of the path.
    func mayUse(_ container: ContainerKey) -> Bool {
        onlyContainer.map { $0 == container } ?? true
    }

    /// The same in another container, where the caller is another user, or none yet.
    package func acting(as user: StoredUser?, in container: ContainerKey) -> Call {
        var call = self
        call.user = user
        call.container = container
        return call
    }

    /// Returns the user, or fails as CloudKit does for a caller who is not signed in
    /// (ACCT-3).
    package func requireUser() throws -> StoredUser {
        guard let user else { throw WireError.authenticationRequired }
        return user
    }
}
