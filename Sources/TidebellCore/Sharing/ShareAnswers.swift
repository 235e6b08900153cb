// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// The sharing that answers show, for some records of one zone, read together.
struct ShareAnswers {
    private let call: Call
    private let owner: StoredUser?
    /// Whether the caller is the owner.
    private let isOwner: Bool
    private var byName: [String: StoredShare] = [:]
    private var byRoot: [String: StoredShare] = [:]

    /// Reads the shares that records are, or are roots of; of a zone without any, nothing.
    init(
        of names: some Sequence<String>, for call: Call, in access: ZoneAccess,
        _ reader: some ShareReading
    ) throws {
        self.init([], for: call, in: access)
        guard let zone = access.zone, zone.sharing != .none else { return }
        let names = Set(names)
        add(try reader.shares(names, in: zone.key))
        guard zone.sharing == .hierarchies else { return }
        add(try reader.shares(ofRoots: names, in: zone.key))
    }

    /// Takes shares that are known.
    init(_ shares: some Sequence<StoredShare>, for call: Call, in access: ZoneAccess) {
        self.call = call
        owner = access.database.owner
        isOwner = access.sharedRights == nil
        add(shares)
    }

    private mutating func add(_ shares: some Sequence<StoredShare>) {
        for share in shares {
            byName[share.name] = share
            if let root = share.root { byRoot[root] = share }
        }
    }

    /// The sharing that the answer shows of a record; nil for one that is neither a share nor a root.
    func sharing(ofRecord name: String) -> WireSharing? {
        if let share = byName[name] { return .share(answered(share)) }
        return byRoot[name].map { .root(share: $0.name, shortGUID: $0.shortGUID) }
    }

    /// Whether a record is the root of a share.
    func isRoot(_ name: String) -> Bool { byRoot[name] != nil }

    /// A share as its caller may see it (SHARE-12): public users see nobody but themselves and
    /// the owner.
    func answered(_ share: StoredShare) -> WireShare {
        let caller = share.participant(call.user?.id)
        let seesAll = isOwner || caller.map { $0.role != .publicUser } ?? false
        let manages =
            isOwner || caller?.role == .administrator && caller?.acceptance == .accepted
        let shown = seesAll ? share.participants : caller.map { [$0] } ?? []
        let ownerParticipant = WireParticipant(
            participantID: owner?.recordName,
            identity: UserIdentity(userRecordName: owner?.recordName), permission: .readWrite,
            role: .owner, acceptance: .accepted
        )
        return WireShare(
            shortGUID: share.shortGUID, publicPermission: share.publicPermission,
            participants: [ownerParticipant]
                + shown.map { answered($0, of: share, withURL: manages) },
            currentUserParticipantID: isOwner ? owner?.recordName : caller?.id,
            accessRequests: manages ? WireAccessRequests(share) : nil
        )
    }

    /// A participant; what one-time URLs are told by is an extension (web-services 9).
    private func answered(
        _ participant: StoredParticipant, of share: StoredShare, withURL showsURL: Bool
    ) -> WireParticipant {
        var answered = WireParticipant(
            participantID: participant.id, identity: participant.identity,
            permission: participant.permission, role: participant.role,
            acceptance: participant.acceptance
        )
        answered.isApprovedRequester = participant.isApprovedRequester
        guard call.usesExtensions, let key = participant.oneTimeKey else { return answered }
        answered.usesOneTimeURL = true
        if showsURL { answered.oneTimeShortGUID = ShareLink.text(share.shortGUID, key) }
        return answered
    }
}

extension WireAccessRequests {
    fileprivate init(_ share: StoredShare) {
        self.init(
            areAllowed: share.allowsAccessRequests,
            requesters: share.outsiders.filter { !$0.isBlocked }.map(\.identity),
            blocked: share.outsiders.filter(\.isBlocked).map(\.identity))
    }
}
