// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension ShareWriting {
    /// Stores what a share is now, and what its participants may do.
    ///
    /// - Parameter position: Where the zone's history has the change of its record.
    /// - Returns: Users whose grant ended.
    func saveShare(
        _ share: StoredShare, over previous: StoredShare?, at position: Position, in zone: ZoneKey
    ) throws -> [UserID] {
        try putShares([share], in: zone)
        return try grant(share.access, by: share, over: previous?.access ?? [:], position, zone)
    }

    /// Removes a share and what it gave; returns the users whose grant ended.
    func endShare(
        _ share: StoredShare, at position: Position, in zone: ZoneKey
    ) throws -> [UserID] {
        try removeShares([share.name], in: zone)
        return try grant([:], by: share, over: share.access, position, zone)
    }

    /// Keeps the grants of a share true. One whose permission alone changes stays where it began:
    /// tokens of its user go on.
    private func grant(
        _ access: [UserID: StoredParticipant], by share: StoredShare,
        over previous: [UserID: StoredParticipant], _ position: Position, _ zone: ZoneKey
    ) throws -> [UserID] {
        let ended = previous.keys.filter { access[$0] == nil }.sorted { $0.rawValue < $1.rawValue }
        let changed = access.filter { user, participant in
            previous[user].map {
                $0.permission != participant.permission || $0.role != participant.role
            } ?? true
        }
        guard !ended.isEmpty || !changed.isEmpty else { return [] }
        var began: [UserID: Position] = [:]
        if changed.contains(where: { previous[$0.key] != nil }) {
            var last: UserID?
            while true {
                let page = try grants(
                    in: zone, of: share.name, after: last, limit: ShareGrant.perPage)
                for grant in page { began[grant.user] = grant.position }
                last = page.last?.user
                guard page.count >= ShareGrant.perPage else { break }
            }
        }
        func grant(_ user: UserID, _ participant: StoredParticipant?) -> ShareGrant {
            ShareGrant(
                zone: zone, user: user, share: share.name, root: share.root,
                permission: participant?.permission ?? .none,
                isAdministrator: participant?.role == .administrator,
                position: previous[user] == nil || participant == nil
                    ? position : began[user] ?? position,
                hasEnded: participant == nil
            )
        }
        try putGrants(
            changed.sorted { $0.key.rawValue < $1.key.rawValue }.map { grant($0.key, $0.value) }
                + ended.map { grant($0, nil) }
        )
        return ended
    }
}
