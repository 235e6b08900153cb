// SPDX-License-Identifier: Apache-2.0

/// Shares of zones, and whom they let in. What belongs to a zone that was deleted is not found.
package protocol ShareReading {
    /// Returns the shares of a zone whose records have these names.
    func shares(_ names: Set<String>, in zone: ZoneKey) throws -> [StoredShare]

    /// Returns the shares of a zone of which these records are the roots.
    func shares(ofRoots roots: Set<String>, in zone: ZoneKey) throws -> [StoredShare]

    /// Returns shares of a zone in the order of their names, those after `name` only; at most
    /// `limit`.
    func shares(in zone: ZoneKey, after name: String, limit: Int) throws -> [StoredShare]

    /// Returns the records of a zone that are shared with all below them, each with the name of its
    /// share, in the order of these, those after `name` only; at most `limit`.
    func shareRoots(
        in zone: ZoneKey, after name: String, limit: Int
    ) throws -> [(share: String, root: String)]

    /// Returns the share with this URL, of whatever container.
    func share(shortGUID: String) throws -> LocatedShare?

    /// Returns grants in a zone that have not ended, in the order of their users, those after
    /// `user` only: at most `limit`, and the rest of the last user's.
    ///
    /// - Parameter share: The one share whose grants are wanted; nil for all.
    func grants(
        in zone: ZoneKey, of share: String?, after user: UserID?, limit: Int
    ) throws -> [ShareGrant]

    /// Returns the zones that are shared with a user, by owner and name.
    ///
    /// - Parameter ids: Owners' record names and zone names of those that are wanted; nil for
    ///   all.
    func grantedZones(
        to user: UserID, among ids: Set<GrantedZoneID>?
    ) throws -> [GrantedZone]
}

/// What a zone of a shared database is known by: names alone do not distinguish them.
package struct GrantedZoneID: Sendable, Hashable {
    package var owner: String
    package var zone: String

    /// Creates a value.
    package init(owner: String, zone: String) {
        self.owner = owner
        self.zone = zone
    }
}

/// Shares come, change and go.
package protocol ShareWriting: ShareReading {
    /// Inserts shares, replacing those with the same names and their outsiders, and keeps
    /// ``StoredZone/sharing`` true.
    func putShares(_ shares: [StoredShare], in zone: ZoneKey) throws

    /// Removes shares, their outsiders, and all that is known of their hierarchies: of large ones later, by
    /// ``SettlingWriting/removeEndedHierarchies(in:limit:)``.
    func removeShares(_ names: Set<String>, in zone: ZoneKey) throws

    /// Inserts grants, replacing those of the same zone, user and share.
    func putGrants(_ grants: [ShareGrant]) throws
}

extension ShareReading {
    /// Returns the users who have a grant in a zone.
    package func grantedUsers(in zone: ZoneKey) throws -> [UserID] {
        var users: [UserID] = []
        while true {
            let page = try grants(
                in: zone, of: nil, after: users.last, limit: ShareGrant.perPage)
            for grant in page where users.last != grant.user { users.append(grant.user) }
            guard page.count >= ShareGrant.perPage else { return users }
        }
    }
}
