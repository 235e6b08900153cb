// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension ShareParticipants {
    /// Answers those who asked for access, blocks and unblocks, as a save of a share wants it
    /// (SHARE-21).
    ///
    /// - Parameters:
    ///   - blocked: What ``blocked(by:of:)`` returned.
    ///   - share: What the share was before the save.
    ///   - changed: What it is to be, with its participants. Loses those who are blocked.
    func settleRequests(
        _ changes: ShareChanges, _ blocked: [StoredOutsider], of share: StoredShare,
        in changed: inout StoredShare
    ) throws {
        changed.allowsAccessRequests = changes.allowsAccessRequests ?? share.allowsAccessRequests
        let blockedUsers = Set(blocked.map(\.user))
        try remove(blockedUsers, from: &changed, before: share)
        var waiting = share.outsiders.filter { !$0.isBlocked && !blockedUsers.contains($0.user) }
        if let kept = changes.requesters {
            let names = Set(kept.compactMap(\.userRecordName))
            waiting.removeAll { !names.contains($0.identity.userRecordName ?? "") }
        }
        approve(&waiting, in: &changed, before: share)
        // Nobody has to ask for what is open.
        if changed.publicPermission != .none { waiting = [] }
        changed.outsiders = (waiting + blocked).inOrder
    }

    /// Who is blocked after a save; whoever is no user any more is left out.
    func blocked(by changes: ShareChanges, of share: StoredShare) throws -> [StoredOutsider] {
        guard let wanted = changes.blocked else { return share.outsiders.filter(\.isBlocked) }
        let most = Self.mostBlocked(in: share, limits)
        guard wanted.count <= most else {
            throw WireError.badRequest(
                "a share can be blocked for at most \(most) users; unblock some first",
                ckCode: CKErrorCode.limitExceeded
            ).naming(.blockedPerShare)
        }
        let known = Dictionary(
            share.outsiders.map { ($0.identity.userRecordName, $0) }
        ) { first, _ in first }
        var blocked: [UserID: StoredOutsider] = [:]
        for identity in wanted {
            if var outsider = identity.userRecordName.flatMap({ known[$0] }) {
                outsider.isBlocked = true
                blocked[outsider.user] = outsider
                continue
            }
            guard let user = try identity.key.flatMap({ try self.user($0) }) else { continue }
            guard user.id != owner.id else {
                throw WireError.badRequest("a share cannot be blocked for its owner")
            }
            blocked[user.id] = StoredOutsider(
                user: user.id,
                identity: share.participant(user.id)?.identity
                    ?? UserIdentity(userRecordName: user.recordName),
                since: now, isBlocked: true)
        }
        return Array(blocked.values)
    }

    /// For how many users a share may be blocked; for all of whom it is already.
    static func mostBlocked(in share: StoredShare?, _ limits: Limits) -> Int {
        max(limits.blockedPerShare, share?.outsiders.count(where: \.isBlocked) ?? 0)
    }

    /// Takes those who are blocked from the participants; fails where the save adds one of them.
    private func remove(
        _ blocked: Set<UserID>, from changed: inout StoredShare, before share: StoredShare
    ) throws {
        let isBlocked = { (participant: StoredParticipant) in
            participant.user.map(blocked.contains) ?? false
        }
        let added = changed.participants.first {
            isBlocked($0) && share.participant($0.user) == nil
        }
        if let added {
            throw WireError.badRequest(
                "user '\(WireError.shortened(added.identity.userRecordName ?? ""))' cannot be added "
                    + "to share '\(WireError.shortened(share.name))', which is blocked for them; "
                    + "unblock them first"
            )
        }
        changed.participants.removeAll(where: isBlocked)
    }

    /// Ends the requests of those who may take part now, and notes of those who came in by one that
    /// they did. A participant without permission has asked for one, and waits for it.
    private func approve(
        _ waiting: inout [StoredOutsider], in changed: inout StoredShare, before share: StoredShare
    ) {
        let asked = Set(share.outsiders.lazy.filter { !$0.isBlocked }.map(\.user))
        var taking: Set<UserID> = []
        for index in changed.participants.indices {
            guard changed.participants[index].permission != .none,
                let user = changed.participants[index].user, asked.contains(user)
            else { continue }
            taking.insert(user)
            changed.participants[index].isApprovedRequester = true
        }
        waiting.removeAll { taking.contains($0.user) }
    }
}
