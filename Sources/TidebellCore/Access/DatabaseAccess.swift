// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// A database as the caller reaches it: which one it is, and whose.
package struct DatabaseAccess: Sendable, Hashable {
    /// What the store knows it by.
    package let key: DatabaseKey
    /// Nil for the public database.
    package let owner: StoredUser?

    /// Creates a value.
    package init(key: DatabaseKey, owner: StoredUser?) {
        self.key = key
        self.owner = owner
    }

    /// Which of a container's databases it is.
    package var scope: DatabaseScope { key.scope }

    /// The owner of its zones as answers and payloads name it.
    package var ownerName: String { owner?.recordName ?? ZoneID.publicOwner }

    /// Returns the ID of a zone of it as answers carry it: with its owner's real name.
    func zoneID(_ zoneName: String) -> ZoneID {
        ZoneID(zoneName: zoneName, ownerRecordName: ownerName)
    }

    /// Whether a caller who owns it means one of its zones, however they spell the owner
    /// (ZONE-8). In the public database the owner does not matter.
    func owns(_ zoneID: ZoneID) -> Bool { zoneID.isOwned(by: owner?.recordName) }

    /// What its owner may do in its zones, or everybody in those of the public one.
    var rights: ZoneRights { scope.isOpenToEverybody ? .byGrants : .readWrite }
}

extension ZoneID {
    /// Whether the owner's record name, or none, may be meant; without an owner any is.
    func isOwned(by owner: String?) -> Bool {
        guard let owner, let named = ownerRecordName else { return true }
        return named == Self.currentUser || named == owner
    }
}

extension Call {
    /// Returns the database of the path: the public one, or the caller's own private or
    /// shared one. Fails as CloudKit does for a caller who is not signed in (ACCT-3).
    package func database() throws -> DatabaseAccess {
        let owner = scope == .public ? nil : try requireUser()
        return DatabaseAccess(
            key: DatabaseKey(container: container, scope: scope, owner: owner?.id), owner: owner
        )
    }
}
