// SPDX-License-Identifier: Apache-2.0

extension ShareReading {
    /// Returns what the end of a zone is to those whom it is shared with; nil where it is shared
    /// with nobody. To be asked before the zone is deleted: then nobody knows any more.
    func endOfSharing(_ zone: StoredZone, at position: Position) throws -> SharedChange? {
        guard zone.sharing != .none else { return nil }
        let users = try grantedUsers(in: zone.key)
        return users.isEmpty
            ? nil : SharedChange(zone: zone.key, position: position, ended: users)
    }
}
