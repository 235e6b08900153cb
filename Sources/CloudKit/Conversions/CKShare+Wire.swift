// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

extension CKShare.Sharing {
    /// What an answer holds about a share.
    init(_ wire: WireShare, in zoneID: ZoneID, of database: DatabaseConnection) {
        self.init()
        url = database.container.shareURL(wire.shortGUID)
        publicPermission = CKShareParticipantPermission(wire.publicPermission)
        participants = wire.participants.map {
            CKShareParticipant(CKShareParticipant.Values($0, in: zoneID, of: database))
        }
        currentUserParticipantID = wire.currentUserParticipantID
        guard let requests = wire.accessRequests else { return }
        let read = { CKUserIdentity.Values($0, in: zoneID, of: database) }
        self.requests = CKShare.AccessRequests(
            areAllowed: requests.areAllowed, waiting: requests.requesters.map(read),
            blocked: requests.blocked.map(read))
    }

    /// What a save sends: all of it, the owner apart, whom the server knows.
    ///
    /// Fails with `invalidArguments` where it is unknown what a participant may do.
    func wire(in database: DatabaseConnection) throws(CKError) -> ShareChanges {
        let owner = owner
        var others: [WireParticipant] = []
        for participant in participants where participant !== owner {
            others.append(try participant.values.wire(in: database))
        }
        return ShareChanges(
            root: rootID.map { ShareChanges.Root(recordName: $0.recordName) },
            publicPermission: publicPermission.wire, participants: others,
            allowsAccessRequests: requests.areAllowed,
            requesters: requests.areAnswered
                ? requests.waiting.map { $0.wire(in: database) } : nil,
            blocked: requests.areAnswered
                ? requests.blocked.map { $0.wire(in: database) } : nil
        )
    }
}

extension CKShareParticipant.Values {
    /// A participant of an answer.
    init(_ wire: WireParticipant, in zoneID: ZoneID, of database: DatabaseConnection) {
        self.init(
            participantID: wire.participantID ?? NewIdentifier.make(),
            isKnown: wire.participantID != nil,
            identity: CKUserIdentity.Values(wire.identity, in: zoneID, of: database),
            role: CKShareParticipantRole(wire.role),
            permission: CKShareParticipantPermission(wire.permission),
            acceptanceStatus: CKShareParticipantAcceptanceStatus(wire.acceptance),
            isApprovedRequester: wire.isApprovedRequester, usesOneTimeURL: wire.usesOneTimeURL,
            oneTimeURL: wire.oneTimeShortGUID.flatMap { database.container.shareURL($0) }
        )
    }

    /// The participant for a request.
    fileprivate func wire(
        in database: DatabaseConnection
    ) throws(CKError) -> WireParticipant {
        guard let permission = permission.wire else {
            throw .local(
                .invalidArguments,
                "What participant '\(participantID)' of the share may do is unknown: set their "
                    + "permission, or remove them."
            )
        }
        // A one-time URL is asked for by the ID that the app gave its participant.
        let isAwaited = usesOneTimeURL && identity.userRecordID == nil
        var wire = WireParticipant(
            participantID: isKnown || isAwaited ? participantID : nil,
            identity: identity.wire(in: database), permission: permission, role: role.wire,
            acceptance: .pending
        )
        wire.usesOneTimeURL = isAwaited
        return wire
    }
}

extension CKUserIdentity.Values {
    /// Somebody whom an answer names; `zoneID` is the zone of the answer.
    init(_ wire: UserIdentity, in zoneID: ZoneID, of database: DatabaseConnection) {
        self.init(
            userRecordID: wire.userRecordName.flatMap {
                database.userRecordID($0, zoneID: zoneID)
            },
            lookup: wire.lookup.map { CKUserIdentityLookupInfo.Values($0) }
        )
    }

    fileprivate func wire(in database: DatabaseConnection) -> UserIdentity {
        var name = userRecordID?.recordName
        if name == CKCurrentUserDefaultName { name = database.container.userRecordName }
        return UserIdentity(userRecordName: name, lookup: lookup?.wire)
    }
}

extension CKUserIdentityLookupInfo.Values {
    /// By what somebody was found, of an answer.
    init(_ wire: UserLookup) {
        switch wire {
        case .userRecordName(let name):
            self = .userRecordID(CKRecordID(unchecked: name, zoneID: .default))
        case .emailAddress(let address): self = .emailAddress(address)
        case .phoneNumber(let number): self = .phoneNumber(number)
        }
    }

    /// By what a request looks somebody up.
    var wire: UserLookup {
        switch self {
        case .userRecordID(let recordID): .userRecordName(recordID.recordName)
        case .emailAddress(let address): .emailAddress(address)
        case .phoneNumber(let number): .phoneNumber(number)
        }
    }
}

extension CKShareMetadata.Values {
    /// What an answer holds of a share.
    init(_ wire: ShareMetadata, from container: ContainerConnection) throws(CKError) {
        let database = DatabaseConnection(container: container, scope: wire.scope)
        let record = try CKRecord.received(wire.share, in: database)
        guard let share = record as? CKShare else {
            throw .local(
                .internalError,
                "The server answered with record '\(record.recordID.recordName)' of type "
                    + "'\(record.recordType)', where a share was asked for."
            )
        }
        var rootRecord: CKRecord?
        if let root = wire.rootRecord { rootRecord = try CKRecord.received(root, in: database) }
        self.init(
            containerIdentifier: wire.container.container, share: share,
            rootID: wire.rootRecordName.map {
                CKRecordID(unchecked: $0, zoneID: database.zoneID(wire.zoneID))
            },
            rootRecord: rootRecord,
            owner: CKUserIdentity.Values(wire.ownerIdentity, in: wire.zoneID, of: database),
            role: CKShareParticipantRole(wire.participantRole),
            acceptanceStatus: CKShareParticipantAcceptanceStatus(wire.participantStatus),
            permission: CKShareParticipantPermission(wire.participantPermission),
            invitationURL: container.shareURL(wire.shortGUID)
        )
    }
}

extension CKShareParticipantPermission {
    fileprivate init(_ wire: SharePermission) {
        switch wire {
        case .none: self = .none
        case .readOnly: self = .readOnly
        case .readWrite: self = .readWrite
        }
    }

    /// The permission for a request; nil for an unknown one, which leaves it as it is.
    fileprivate var wire: SharePermission? {
        switch self {
        case .unknown: nil
        case .none: SharePermission.none
        case .readOnly: .readOnly
        case .readWrite: .readWrite
        }
    }
}

extension CKShareParticipantRole {
    fileprivate init(_ wire: ParticipantRole) {
        switch wire {
        case .owner: self = .owner
        case .administrator: self = .administrator
        case .privateUser: self = .privateUser
        case .publicUser: self = .publicUser
        }
    }

    fileprivate var wire: ParticipantRole {
        switch self {
        case .owner: .owner
        case .administrator: .administrator
        case .publicUser: .publicUser
        case .privateUser, .unknown: .privateUser
        }
    }
}

extension CKShareParticipantAcceptanceStatus {
    fileprivate init(_ wire: ParticipantAcceptance) {
        switch wire {
        case .pending: self = .pending
        case .accepted: self = .accepted
        case .removed: self = .removed
        }
    }
}

extension ContainerConnection {
    /// Where others accept a share of this container; nil while no server is configured.
    fileprivate func shareURL(_ shortGUID: String) -> URL? {
        guard let server = try? session.configuration.get().server else { return nil }
        return server.appendingPathComponent(Self.sharePath).appendingPathComponent(shortGUID)
    }

    /// What a share's URL names it by: what follows `share/` at the end of its path.
    static func shortGUID(of url: URL) throws(CKError) -> String {
        let parts = url.pathComponents.suffix(2)
        guard parts.count == 2, parts.first == sharePath, let shortGUID = parts.last else {
            throw .local(
                .invalidArguments,
                "\"\(url.absoluteString)\" is not the URL of a share: it has no '\(sharePath)/' with "
                    + "the name of a share behind it."
            )
        }
        return shortGUID
    }

    private static let sharePath = "share"
}
