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
    /// The store's life, part of every sync token.
    package var storeIncarnation: Incarnation
    /// The UUIDs of what comes without a name.
    package var uuids: CallUUIDs
    /// Makes receipts and download URLs of assets.
    package var assetSeals: any AssetSeals
    /// What it has in common with the other calls of a cloud; one object, since a call is copied often.
    var shared: Shared

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
        uuids: CallUUIDs,
        assetSeals: any AssetSeals = NoAssetSeals()
    ) {
        self.init(
            container: container, scope: scope, user: user, session: session,
            onlyContainer: onlyContainer, clientID: clientID, makeDeviceID: makeDeviceID,
            usesExtensions: usesExtensions, now: now, storeIncarnation: storeIncarnation,
            uuids: uuids, assetSeals: assetSeals,
            in: Shared(CallSurroundings(storeIdentity: storeIdentity, limits: limits)))
    }

    /// Creates a call of a cloud.
    package init(
        container: ContainerKey,
        scope: DatabaseScope,
        user: StoredUser?,
        session: SessionID?,
        onlyContainer: ContainerKey?,
        clientID: String?,
        makeDeviceID: @escaping @Sendable () -> String,
        usesExtensions: Bool,
        now: Instant,
        storeIncarnation: Incarnation,
        uuids: CallUUIDs,
        assetSeals: any AssetSeals,
        in shared: Shared
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
        self.storeIncarnation = storeIncarnation
        self.uuids = uuids
        self.assetSeals = assetSeals
        self.shared = shared
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
