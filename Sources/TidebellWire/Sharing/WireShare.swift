// SPDX-License-Identifier: Apache-2.0

/// What somebody may do with what is shared (SHARE-10).
package enum SharePermission: String, Sendable, Hashable {
    case none = "NONE"
    case readOnly = "READ_ONLY"
    case readWrite = "READ_WRITE"
}

/// What somebody is to a share (SHARE-9).
package enum ParticipantRole: String, Sendable, Hashable {
    case owner = "OWNER"
    /// Manages participants as the owner does.
    case administrator = "ADMINISTRATOR"
    /// Was invited.
    case privateUser = "USER"
    /// Joined by the URL of a share with a public permission (SHARE-7).
    case publicUser = "PUBLIC_USER"
}

/// What a participant answered to the invitation (SHARE-10).
package enum ParticipantAcceptance: String, Sendable, Hashable {
    case pending = "INVITED"
    case accepted = "ACCEPTED"
    case removed = "REMOVED"
}

/// By what somebody is looked up (web-services 4.7).
package enum UserLookup: Sendable, Hashable {
    case userRecordName(String)
    case emailAddress(String)
    case phoneNumber(String)
}

/// Who somebody is, as far as the caller may know it (web-services 4.7).
package struct UserIdentity: Sendable, Hashable {
    /// Nil for an address without an account.
    package var userRecordName: String?
    package var lookup: UserLookup?

    /// Creates an identity.
    package init(userRecordName: String?, lookup: UserLookup? = nil) {
        self.userRecordName = userRecordName
        self.lookup = lookup
    }
}

/// A participant of a share as the wire has it (web-services 4.7).
package struct WireParticipant: Sendable, Hashable {
    /// Set by the server; nil for one who is to be added.
    package var participantID: String?
    package var identity: UserIdentity
    package var permission: SharePermission
    package var role: ParticipantRole
    package var acceptance: ParticipantAcceptance
    /// Whether they asked for access before they were added (SHARE-21).
    package var isApprovedRequester = false
    /// Whether whoever opens a URL of theirs first becomes this participant (SHARE-20).
    package var usesOneTimeURL = false
    /// The last part of that URL, for those who manage participants; nil in requests.
    package var oneTimeShortGUID: String?

    /// Creates a participant.
    package init(
        participantID: String? = nil, identity: UserIdentity,
        permission: SharePermission = .readOnly, role: ParticipantRole = .privateUser,
        acceptance: ParticipantAcceptance = .pending
    ) {
        self.participantID = participantID
        self.identity = identity
        self.permission = permission
        self.role = role
        self.acceptance = acceptance
    }
}

/// Who asked for access to a share, and who may not (SHARE-21).
package struct WireAccessRequests: Sendable, Hashable {
    /// Whether those who are not invited may ask.
    package var areAllowed: Bool
    /// Who asked and got no answer yet, in the order in which they did.
    package var requesters: [UserIdentity]
    /// Who may not ask.
    package var blocked: [UserIdentity]

    /// Creates a value.
    package init(
        areAllowed: Bool = false, requesters: [UserIdentity] = [], blocked: [UserIdentity] = []
    ) {
        self.areAllowed = areAllowed
        self.requesters = requesters
        self.blocked = blocked
    }
}

/// What the record of a share has beside its fields, as the caller may see it
/// (web-services 4.2).
package struct WireShare: Sendable, Hashable {
    /// The last part of the share's URL (SHARE-6).
    package var shortGUID: String
    package var publicPermission: SharePermission
    /// The owner, the caller and whom else the caller may see (SHARE-12).
    package var participants: [WireParticipant]
    /// Who of them calls.
    package var currentUserParticipantID: String?
    /// For those who manage participants; nil for all others.
    package var accessRequests: WireAccessRequests?

    /// Creates a value.
    package init(
        shortGUID: String, publicPermission: SharePermission, participants: [WireParticipant],
        currentUserParticipantID: String?, accessRequests: WireAccessRequests? = nil
    ) {
        self.shortGUID = shortGUID
        self.publicPermission = publicPermission
        self.participants = participants
        self.currentUserParticipantID = currentUserParticipantID
        self.accessRequests = accessRequests
    }

    /// The owner of what is shared.
    package var owner: WireParticipant? { participants.first { $0.role == .owner } }

    /// The caller.
    package var currentUserParticipant: WireParticipant? {
        participants.first { $0.participantID == currentUserParticipantID }
    }
}

/// The sharing that an answer shows of a record that is a share, or the root of one.
package indirect enum WireSharing: Sendable, Hashable {
    /// The record is the root of a hierarchy that is shared, or is to be (`createShortGUID`).
    ///
    /// - Parameter share: The name of the share's record; nil while there is none.
    case root(share: String?, shortGUID: String)
    /// The record is a share.
    case share(WireShare)
}

/// What a request changes of a share, beside the fields of its record.
package struct ShareChanges: Sendable, Hashable {
    /// The record that is shared with all below it, of a share that is to be (`forRecord`).
    package struct Root: Sendable, Hashable {
        package var recordName: String
        package var recordChangeTag: String?

        /// Creates a value.
        package init(recordName: String, recordChangeTag: String? = nil) {
            self.recordName = recordName
            self.recordChangeTag = recordChangeTag
        }
    }

    package var root: Root?
    /// Nil leaves it as it is.
    package var publicPermission: SharePermission?
    /// All participants from now on, the owner may be left out; nil leaves them as they are.
    package var participants: [WireParticipant]?
    /// Whether those who are not invited may ask for access (SHARE-21); nil leaves it as it is.
    package var allowsAccessRequests: Bool?
    /// Those whose requests stay: all others are denied. Nil leaves them as they are.
    package var requesters: [UserIdentity]?
    /// All who may not ask from now on; nil leaves them as they are.
    package var blocked: [UserIdentity]?

    /// Creates a value.
    package init(
        root: Root? = nil, publicPermission: SharePermission? = nil,
        participants: [WireParticipant]? = nil, allowsAccessRequests: Bool? = nil,
        requesters: [UserIdentity]? = nil, blocked: [UserIdentity]? = nil
    ) {
        self.root = root
        self.publicPermission = publicPermission
        self.participants = participants
        self.allowsAccessRequests = allowsAccessRequests
        self.requesters = requesters
        self.blocked = blocked
    }

    /// Whether nothing is changed.
    package var isEmpty: Bool { self == ShareChanges() }
}

/// The names that sharing has of its own.
package enum ShareNames {
    /// The type of the records of shares (SHARE-1).
    package static let recordType = "cloudkit.share"
    /// The name of the one record of a zone-wide share (SHARE-3).
    package static let zoneWideShare = "cloudkit.zoneshare"
    /// The title of a share (SHARE-24).
    package static let title = "cloudkit.title"
    /// A picture of what is shared, as bytes.
    package static let thumbnail = "cloudkit.thumbnailImageData"
    /// What kind of thing is shared, a uniform type identifier.
    package static let shareType = "cloudkit.type"
}
