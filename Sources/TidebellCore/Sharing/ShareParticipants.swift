// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Who takes part in a share, and how a save of its record changes that (SHARE-7 to SHARE-11).
struct ShareParticipants {
    /// Finds the user that a participant is; nil for an address without an account.
    let user: (UserLookup) throws -> StoredUser?
    /// Makes the ID of a new participant.
    let makeID: () -> String
    let owner: StoredUser
    let limits: Limits

    /// Returns a share as a save of its record leaves it.
    func changed(_ share: StoredShare, by changes: ShareChanges) throws -> StoredShare {
        var changed = share
        let permission = changes.publicPermission ?? share.publicPermission
        changed.publicPermission = permission
        let isPublic = permission != .none
        if let wanted = changes.participants {
            changed.participants = try participants(wanted, of: share, isPublic: isPublic)
        }
        switch (share.publicPermission, permission) {
        case (.none, .none): break
        case (.none, _): changed.participants.removeAll { $0.acceptance == .pending }
        case (_, .none):
            // All who were there go; whom the same save adds stays.
            let before = Set(share.participants.map(\.id))
            changed.participants.removeAll { before.contains($0.id) }
        default:
            for index in changed.participants.indices
            where changed.participants[index].role == .publicUser {
                changed.participants[index].permission = permission
            }
        }
        guard
            changed.participants.count(where: { $0.role != .publicUser })
                <= limits.participantsPerShare
        else { throw tooMany(limits.participantsPerShare, .participantsPerShare) }
        return changed
    }

    /// Returns a share after a user accepted it (SHARE-16), or joined by its URL where it is
    /// public (SHARE-7); nil where there is nothing to accept for them.
    func accepted(_ share: StoredShare, by user: StoredUser) throws -> StoredShare? {
        var accepted = share
        if let index = share.participants.firstIndex(where: { $0.user == user.id }) {
            guard share.participants[index].permission != .none else { return nil }
            accepted.participants[index].acceptance = .accepted
            return accepted
        }
        guard share.publicPermission != .none else { return nil }
        guard
            share.participants.count(where: { $0.role == .publicUser })
                < limits.publicUsersPerShare
        else { throw tooMany(limits.publicUsersPerShare, .publicUsersPerShare) }
        accepted.participants.append(
            StoredParticipant(
                id: makeID(), user: user.id,
                identity: UserIdentity(userRecordName: user.recordName),
                permission: share.publicPermission, role: .publicUser, acceptance: .accepted
            )
        )
        return accepted
    }

    /// The participants that a save names, each as it is to be.
    private func participants(
        _ wanted: [WireParticipant], of share: StoredShare, isPublic: Bool
    ) throws -> [StoredParticipant] {
        // Before they are compared with each other.
        guard wanted.count(where: { $0.role != .publicUser }) <= 2 * limits.participantsPerShare + 1
        else { throw tooMany(limits.participantsPerShare, .participantsPerShare) }
        guard wanted.count(where: { $0.role == .publicUser }) <= limits.publicUsersPerShare
        else { throw tooMany(limits.publicUsersPerShare, .publicUsersPerShare) }
        var left = share.participants
        var found: [StoredParticipant] = []
        for participant in wanted where try !isOwner(participant) {
            if let index = try left.firstIndex(where: { try isSame($0, participant) }) {
                found.append(try updated(left.remove(at: index), by: participant))
                continue
            }
            // Somebody who is named twice is one participant, as named last (SHARE-8).
            if let index = try found.firstIndex(where: { try isSame($0, participant) }) {
                found[index] = try updated(found[index], by: participant)
                continue
            }
            guard participant.acceptance != .removed, participant.role != .publicUser else {
                continue
            }
            guard !isPublic else { throw publicShare("added to", share) }
            found.append(try added(participant))
        }
        guard isPublic else { return found }
        // Public users come and go by themselves: who saves need not have heard of all.
        guard left.allSatisfy({ $0.role == .publicUser || share.publicPermission == .none }) else {
            throw publicShare("removed from", share)
        }
        return found + left.filter { $0.role == .publicUser }
    }

    private func isOwner(_ participant: WireParticipant) throws -> Bool {
        let key = participant.identity.key
        if participant.participantID == owner.recordName
            || key == .userRecordName(owner.recordName)
        {
            return true
        }
        guard participant.role == .owner else { return false }
        // A client need not know who the user is that it shares for.
        guard key == nil else {
            throw WireError.badRequest(
                "a participant who is added cannot have the type 'OWNER': a share has one owner, the "
                    + "user in whose zone it is"
            )
        }
        return true
    }

    private func isSame(
        _ known: StoredParticipant, _ wanted: WireParticipant
    ) throws -> Bool {
        if let id = wanted.participantID, id == known.id { return true }
        // An ID that the server did not give is none; who it is counts (SHARE-8).
        guard let key = wanted.identity.key else { return false }
        if known.identity.key == key
            || known.openAddress.map({ $0 == UserAddress.canonical(key) }) ?? false
        {
            return true
        }
        guard let user = known.user else { return false }
        return try self.user(key)?.id == user
    }

    private func updated(
        _ known: StoredParticipant, by wanted: WireParticipant
    ) throws -> StoredParticipant {
        guard known.role != .publicUser else { return known }
        var updated = known
        // An address may have got an account since.
        if known.openAddress != nil, let key = wanted.identity.key, let user = try user(key) {
            updated = known.bound(to: user)
        }
        updated.permission = wanted.permission
        if wanted.role != .publicUser { updated.role = wanted.role }
        return updated
    }

    private func added(_ participant: WireParticipant) throws -> StoredParticipant {
        guard let key = participant.identity.key else {
            throw WireError.badRequest(
                "a participant without 'lookupInfo' or 'userRecordName' cannot be added")
        }
        if let lookup = participant.identity.lookup { try lookup.checkAddress() }
        let user = try user(key)
        if case .userRecordName(let name) = key, user == nil {
            throw WireError.badRequest(
                "no user of this container has the record name '\(WireError.shortened(name))', so "
                    + "that they cannot be a participant"
            )
        }
        return StoredParticipant(
            id: makeID(), user: user?.id,
            identity: UserIdentity(
                userRecordName: user?.recordName, lookup: participant.identity.lookup),
            permission: participant.permission, role: participant.role, acceptance: .pending
        )
    }

    private func publicShare(_ what: String, _ share: StoredShare) -> WireError {
        .badRequest(
            "participants are \(what) share '\(WireError.shortened(share.name))' only while its "
                + "publicPermission is NONE; set that first"
        )
    }

    private func tooMany(_ limit: Int, _ bound: WireError.Bound) -> WireError {
        .badRequest(
            "a share has at most \(limit) participants of this kind beside its owner; remove some "
                + "first",
            ckCode: CKErrorCode.tooManyParticipants
        ).naming(bound)
    }
}

extension UserLookup {
    /// Fails unless an address can be one.
    fileprivate func checkAddress() throws {
        guard let text = addressText, UserAddress.canonical(self) == nil else { return }
        let kind = if case .emailAddress = self { "e-mail address" } else { "phone number" }
        throw WireError.badRequest(
            "'\(WireError.shortened(text))' is no \(kind), so that it cannot be a participant's"
        )
    }
}

extension UserIdentity {
    /// By what the person is known again.
    fileprivate var key: UserLookup? { userRecordName.map { .userRecordName($0) } ?? lookup }
}

extension StoredShare {
    /// Returns what its participants may do, by user: those who accepted.
    var access: [UserID: StoredParticipant] {
        var access: [UserID: StoredParticipant] = [:]
        for participant in participants
        where participant.acceptance == .accepted && participant.permission != .none {
            if let user = participant.user { access[user] = participant }
        }
        return access
    }

    /// Returns the participant that a user is.
    func participant(_ user: UserID?) -> StoredParticipant? {
        user.flatMap { user in participants.first { $0.user == user } }
    }
}
