// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Who takes part in a share, and how a save of its record changes that (SHARE-7 to SHARE-11).
struct ShareParticipants {
    /// Finds the user that a participant is; nil for an address without an account.
    let user: (UserLookup) throws -> StoredUser?
    /// Makes the ID of a new participant.
    let makeID: () -> String
    /// Makes what the one-time URL of a new participant has beside the share's own.
    let makeOneTimeKey: () -> String
    let owner: StoredUser
    let now: Instant
    let limits: Limits

    /// Returns a share as a save of its record leaves it.
    func changed(_ share: StoredShare, by changes: ShareChanges) throws -> StoredShare {
        var changed = share
        let permission = changes.publicPermission ?? share.publicPermission
        changed.publicPermission = permission
        let blocked = try self.blocked(by: changes, of: share)
        if let wanted = changes.participants {
            changed.participants = try participants(
                wanted, of: share, under: permission, without: Set(blocked.map(\.user)))
        } else if share.isClosed(by: permission) {
            changed.participants = []
        }
        if share.publicPermission == .none, permission != .none {
            changed.participants.removeAll { $0.acceptance == .pending }
        }
        for index in changed.participants.indices
        where changed.participants[index].role == .publicUser {
            changed.participants[index].permission = permission
        }
        try settleRequests(changes, blocked, of: share, in: &changed)
        // Who takes part already stays, however many the server admits by now.
        guard
            changed.participants.count(where: { $0.role != .publicUser })
                <= max(limits.participantsPerShare, share.count(public: false))
        else { throw tooMany(.participantsPerShare) }
        return changed
    }

    /// Returns a share after a user accepted it (SHARE-16), or joined by its URL where it is
    /// public (SHARE-7); nil where there is nothing to accept for them.
    func accepted(_ share: StoredShare, by user: StoredUser) throws -> StoredShare? {
        var accepted = share
        accepted.outsiders.removeAll { $0.user == user.id }
        if let index = share.participants.firstIndex(where: { $0.user == user.id }) {
            guard share.participants[index].permission != .none else { return nil }
            accepted.participants[index].acceptance = .accepted
            return accepted
        }
        guard share.publicPermission != .none else { return nil }
        guard
            share.participants.count(where: { $0.role == .publicUser })
                < limits.publicUsersPerShare
        else { throw tooMany(.publicUsersPerShare) }
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
    ///
    /// - Parameter blocked: Those who may be left out of an open share, too.
    private func participants(
        _ wanted: [WireParticipant], of share: StoredShare, under permission: SharePermission,
        without blocked: Set<UserID>
    ) throws -> [StoredParticipant] {
        if let bound = Self.passed(by: wanted, of: share, limits) { throw tooMany(bound) }
        let isPublic = permission != .none
        // All who were there go with the save that closes the share; whom it adds is invited anew,
        // also who took part before (SHARE-7).
        let isClosing = share.isClosed(by: permission)
        var known = KnownParticipants(share.participants, byIDOnly: isClosing)
        var found: [Int] = []
        for participant in wanted where try !isOwner(participant) {
            let user = try participant.identity.key.flatMap { try self.user($0) }
            // Somebody who is named twice is one participant, as named last (SHARE-8).
            if let index = known.index(of: participant, user?.id) {
                if !known.all[index].isFound { found.append(index) }
                known.all[index].isFound = true
                let value = known.all[index].value
                let invited = try value.openAddress.flatMap { try self.user($0) }
                known.all[index].value = updated(
                    value, by: participant,
                    invited.flatMap { known.isKnown($0.id) ? nil : $0 })
                continue
            }
            guard participant.acceptance != .removed, participant.role != .publicUser else {
                continue
            }
            guard !isPublic else { throw publicShare("added to", share) }
            found.append(known.add(try added(participant, to: known), isFound: true))
        }
        if isClosing { found.removeAll { $0 < share.participants.count } }
        let named = found.map { known.all[$0].value }
        guard isPublic else { return named }
        // Public users come and go by themselves: who saves need not have heard of all.
        let left = known.all.lazy.filter { !$0.isFound }.map(\.value).filter {
            !($0.user.map(blocked.contains) ?? false)
        }
        guard left.allSatisfy({ $0.role == .publicUser || share.publicPermission == .none }) else {
            throw publicShare("removed from", share)
        }
        return named + left.filter { $0.role == .publicUser }
    }

    /// Whether a save names no more users than may be, so that it is worth finding out who they are.
    ///
    /// - Parameter share: What the share is before; nil for a new one.
    static func mayBe(_ changes: ShareChanges, of share: StoredShare?, _ limits: Limits) -> Bool {
        passed(by: changes.participants ?? [], of: share, limits) == nil
            && (changes.blocked ?? []).count <= mostBlocked(in: share, limits)
    }

    /// Returns the bound that the participants pass that a save names, before they are looked at.
    private static func passed(
        by wanted: [WireParticipant], of share: StoredShare?, _ limits: Limits
    ) -> WireError.Bound? {
        let publicUsers = wanted.count { $0.role == .publicUser }
        guard publicUsers <= max(limits.publicUsersPerShare, share?.count(public: true) ?? 0)
        else { return .publicUsersPerShare }
        // Some may be named twice, and the owner, too.
        let most = 2 * max(limits.participantsPerShare, share?.count(public: false) ?? 0) + 1
        return wanted.count - publicUsers <= most ? nil : .participantsPerShare
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

    /// - Parameter user: Whose the address is by now that was invited; nil for none.
    private func updated(
        _ known: StoredParticipant, by wanted: WireParticipant, _ user: StoredUser?
    ) -> StoredParticipant {
        guard known.role != .publicUser else { return known }
        var updated = user.map(known.bound) ?? known
        updated.permission = wanted.permission
        if wanted.role != .publicUser { updated.role = wanted.role }
        return updated
    }

    private func added(
        _ participant: WireParticipant, to known: KnownParticipants
    ) throws -> StoredParticipant {
        guard !participant.usesOneTimeURL else { return try oneTime(participant, known) }
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

    /// A participant whom nobody knows yet: whoever opens their URL first (SHARE-20).
    ///
    /// The app asks for the URL by the ID that it gave them, so they keep it, where it is nobody
    /// else's.
    private func oneTime(
        _ participant: WireParticipant, _ known: KnownParticipants
    ) throws -> StoredParticipant {
        guard participant.identity.key == nil else {
            throw WireError.badRequest(
                "a participant with a one-time URL is the user who opens it first: 'userIdentity' cannot "
                    + "name anybody"
            )
        }
        let wanted = participant.participantID.flatMap { id in
            id.isEmpty || id.utf8.count > limits.nameLength || known.hasID(id) ? nil : id
        }
        return StoredParticipant(
            id: wanted ?? makeID(), user: nil, identity: UserIdentity(userRecordName: nil),
            permission: participant.permission, role: participant.role, acceptance: .pending,
            oneTimeKey: makeOneTimeKey()
        )
    }

    private func publicShare(_ what: String, _ share: StoredShare) -> WireError {
        .badRequest(
            "participants are \(what) share '\(WireError.shortened(share.name))' only while its "
                + "publicPermission is NONE; set that first"
        )
    }

    private func tooMany(_ bound: WireError.Bound) -> WireError {
        let limit =
            bound == .publicUsersPerShare
            ? limits.publicUsersPerShare : limits.participantsPerShare
        return .badRequest(
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
            "'\(WireError.shortened(text))' is not a valid \(kind) of a participant"
        )
    }
}

/// Those who take part in a share, by all they are known by.
private struct KnownParticipants {
    /// Each, and whether a save named it.
    var all: [(value: StoredParticipant, isFound: Bool)] = []
    private var byID: [String: Int] = [:]
    private var byKey: [UserLookup: Int] = [:]
    private var byUser: [UserID: Int] = [:]

    /// - Parameter byIDOnly: Whether these are known by their IDs only, unlike those added later.
    init(_ participants: [StoredParticipant], byIDOnly: Bool) {
        for participant in participants { _ = add(participant, isFound: false) }
        if byIDOnly { (byKey, byUser) = ([:], [:]) }
    }

    /// Whether a user is one of them.
    func isKnown(_ user: UserID) -> Bool { byUser[user] != nil }

    /// Whether one has an ID.
    func hasID(_ id: String) -> Bool { byID[id] != nil }

    /// Adds one, and returns its index.
    mutating func add(_ participant: StoredParticipant, isFound: Bool) -> Int {
        let index = all.count
        all.append((participant, isFound))
        byID[participant.id] = index
        for key in [participant.identity.key, participant.identity.lookup] {
            if let key { byKey[key.compared] = byKey[key.compared] ?? index }
        }
        if let user = participant.user { byUser[user] = byUser[user] ?? index }
        return index
    }

    /// Returns the index of a participant that is the given user, if any; nil for a new one.
    ///
    /// An ID that the server did not give is none; who it is counts (SHARE-8).
    func index(of participant: WireParticipant, _ user: UserID?) -> Int? {
        participant.participantID.flatMap { byID[$0] }
            ?? participant.identity.key.flatMap { byKey[$0.compared] }
            ?? user.flatMap { byUser[$0] }
    }
}

extension UserIdentity {
    /// By what the person is known again.
    var key: UserLookup? { userRecordName.map { .userRecordName($0) } ?? lookup }
}

extension StoredShare {
    /// Whether a save with this public permission closes a share that was open.
    fileprivate func isClosed(by permission: SharePermission) -> Bool {
        publicPermission != .none && permission == .none
    }

    /// How many joined by its URL, or were invited.
    fileprivate func count(public isPublic: Bool) -> Int {
        participants.count { ($0.role == .publicUser) == isPublic }
    }

    /// Returns what its participants may do, by user: those who accepted.
    var access: [UserID: StoredParticipant] {
        var access: [UserID: StoredParticipant] = [:]
        for participant in participants
        where participant.acceptance == .accepted && participant.permission != .none {
            if let user = participant.user { access[user] = participant }
        }
        return access
    }

    /// Whether a user may neither take part nor ask to (SHARE-21).
    func isBlocked(_ user: UserID?) -> Bool {
        outsiders.contains { $0.user == user && $0.isBlocked }
    }

    /// Returns the participant that a user is.
    func participant(_ user: UserID?) -> StoredParticipant? {
        user.flatMap { user in participants.first { $0.user == user } }
    }
}
