// SPDX-License-Identifier: Apache-2.0
public import Foundation

// One-time URLs (SHARE-20), and those who ask to be let in (SHARE-21).
extension CKShare {
    /// Returns the URL by which somebody becomes a participant whom nobody knows yet: whoever accepts
    /// by it first.
    ///
    /// The URL stays the same for as long as the participant takes part; for all others it is like
    /// ``url`` as soon as somebody accepted. Nil before the share was saved with the participant, for
    /// one who was invited otherwise, and where the signed-in user does not manage participants.
    /// See <https://developer.apple.com/documentation/cloudkit/ckshare/onetimeurl(for:)>.
    public func oneTimeURL(for participantID: CKShare.Participant.ID) -> URL? {
        participants.first { $0.participantID == participantID }?.values.oneTimeURL
    }

    /// Whether users who are not invited may ask for access; they may not, unless the owner or an
    /// administrator permits it, and then the server does not tell them that there is a share.
    ///
    /// False where the signed-in user does not manage participants.
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

    /// Who asked for access and got no answer yet, as of when the share was fetched.
    ///
    /// Whoever is added as a participant is let in, and ends the request. Empty where the
    /// signed-in user does not manage participants.
    /// See <https://developer.apple.com/documentation/cloudkit/ckshare/requesters>.
    public var requesters: [CKShare.AccessRequester] {
        values.requests.waiting.map { CKShareAccessRequester($0) }
    }

    /// Who may neither ask for access nor take part, until they are unblocked.
    ///
    /// Empty where the signed-in user does not manage participants.
    /// See <https://developer.apple.com/documentation/cloudkit/ckshare/blockedidentities>.
    public var blockedIdentities: [CKShare.BlockedIdentity] {
        values.requests.blocked.map { CKShareBlockedIdentity($0) }
    }

    /// Ends requests without letting anybody in; who asked may ask again. Takes effect when the share
    /// is saved.
    ///
    /// See <https://developer.apple.com/documentation/cloudkit/ckshare/denyrequesters(_:)>.
    ///
    /// - Precondition: The signed-in user is the owner or an administrator.
    public func denyRequesters(_ requesters: [CKShare.AccessRequester]) {
        requireManaging()
        change { $0.requests.deny(requesters.map(\.identity)) }
    }

    /// Keeps users from asking again and from taking part; those who take part are removed. Takes
    /// effect when the share is saved.
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

    /// Lets users ask again. Takes effect when the share is saved.
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
