// SPDX-License-Identifier: Apache-2.0
public import Foundation

// One-time URLs (SHARE-20), and those who ask to be let in (SHARE-21).
extension CKShare {
    /// Returns the one-time URL of a participant: the first user who accepts with it becomes this
    /// participant.
    ///
    /// The URL stays the same as long as the participant takes part. After somebody has accepted,
    /// it works like ``url`` for all other users. Nil before the share was saved with the
    /// participant, for a participant who was invited in another way, and if the signed-in user
    /// does not manage participants.
    /// See <https://developer.apple.com/documentation/cloudkit/ckshare/onetimeurl(for:)>.
    public func oneTimeURL(for participantID: CKShare.Participant.ID) -> URL? {
        participants.first { $0.participantID == participantID }?.values.oneTimeURL
    }

    /// Whether users who are not invited may ask for access; false by default. If they may not, the
    /// server does not reveal to them that the share exists.
    ///
    /// False if the signed-in user does not manage participants.
    /// See <https://developer.apple.com/documentation/cloudkit/ckshare/allowsaccessrequests>.
    ///
    /// - Precondition: Only the owner and administrators change it.
    public var allowsAccessRequests: Bool {
        get { values.requests.areAllowed }
        set {
            requireManaging()
            change { $0.requests.areAllowed = newValue }
        }
    }

    /// The users who asked for access and had no answer when the share was fetched.
    ///
    /// Adding a user as a participant grants access and ends the request. Empty if the signed-in
    /// user does not manage participants.
    /// See <https://developer.apple.com/documentation/cloudkit/ckshare/requesters>.
    public var requesters: [CKShare.AccessRequester] {
        values.requests.waiting.map { CKShareAccessRequester($0) }
    }

    /// The users who can neither ask for access nor take part until they are unblocked.
    ///
    /// Empty if the signed-in user does not manage participants.
    /// See <https://developer.apple.com/documentation/cloudkit/ckshare/blockedidentities>.
    public var blockedIdentities: [CKShare.BlockedIdentity] {
        values.requests.blocked.map { CKShareBlockedIdentity($0) }
    }

    /// Denies requests; the users may ask again. Takes effect when the share is saved.
    ///
    /// See <https://developer.apple.com/documentation/cloudkit/ckshare/denyrequesters(_:)>.
    ///
    /// - Precondition: The signed-in user is the owner or an administrator.
    public func denyRequesters(_ requesters: [CKShare.AccessRequester]) {
        requireManaging()
        change { $0.requests.deny(requesters.map(\.identity)) }
    }

    /// Blocks users from asking again and from taking part; participants among them are removed.
    /// Takes effect when the share is saved.
    ///
    /// See <https://developer.apple.com/documentation/cloudkit/ckshare/blockrequesters(_:)>.
    ///
    /// - Precondition: The signed-in user is the owner or an administrator.
    public func blockRequesters(_ requesters: [CKShare.AccessRequester]) {
        requireManaging()
        let identities = requesters.map(\.identity)
        change { sharing in
            sharing.requests.block(identities)
            let owner = sharing.owner
            sharing.participants.removeAll { participant in
                participant !== owner
                    && identities.contains { $0.isSamePerson(as: participant.values.identity) }
            }
        }
    }

    /// Unblocks users, so that they may ask again. Takes effect when the share is saved.
    ///
    /// See <https://developer.apple.com/documentation/cloudkit/ckshare/unblockidentities(_:)>.
    ///
    /// - Precondition: The signed-in user is the owner or an administrator.
    public func unblockIdentities(_ blockedIdentities: [CKShare.BlockedIdentity]) {
        requireManaging()
        change { $0.requests.unblock(blockedIdentities.map(\.identity)) }
    }

    private func requireManaging() {
        let role = currentUserParticipant?.role
        precondition(
            role == .owner || role == .administrator,
            "Only the owner and the administrators of a share decide who may ask for access to it."
        )
    }

    /// Who asked for access to a share, and who may not.
    struct AccessRequests: Sendable, Hashable {
        var areAllowed = false
        var waiting: [CKUserIdentity.Values] = []
        var blocked: [CKUserIdentity.Values] = []
        /// Whether the app changed these lists since they came from the server.
        var areAnswered = false
    }
}

extension CKShare.AccessRequests {
    init(from reader: inout BlobReader) throws(BlobError) {
        areAllowed = try reader.bool()
        areAnswered = try reader.bool()
        for _ in 0..<(try reader.count()) {
            waiting.append(try CKUserIdentity.Values(from: &reader))
        }
        for _ in 0..<(try reader.count()) {
            blocked.append(try CKUserIdentity.Values(from: &reader))
        }
    }

    func write(to writer: inout BlobWriter) {
        writer.write(areAllowed)
        writer.write(areAnswered)
        for identities in [waiting, blocked] {
            writer.write(count: identities.count)
            for identity in identities { identity.write(to: &writer) }
        }
    }

    mutating func deny(_ identities: [CKUserIdentity.Values]) {
        waiting.removeAll { known in identities.contains { $0.isSamePerson(as: known) } }
        areAnswered = true
    }

    mutating func block(_ identities: [CKUserIdentity.Values]) {
        deny(identities)
        for identity in identities where !blocked.contains(where: identity.isSamePerson) {
            blocked.append(identity)
        }
    }

    mutating func unblock(_ identities: [CKUserIdentity.Values]) {
        blocked.removeAll { known in identities.contains { $0.isSamePerson(as: known) } }
        areAnswered = true
    }
}
