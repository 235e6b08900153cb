// SPDX-License-Identifier: Apache-2.0

extension UserIdentity {
    /// Writes the identity.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("userRecordName", userRecordName)
            if let lookup {
                writer.key("lookupInfo")
                lookup.write(to: &writer)
            }
        }
    }

    /// Reads an identity; names of people are nobody's but the server's.
    package init(from reader: inout JSONReader) throws {
        self.init(userRecordName: nil)
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "userRecordName": userRecordName = try reader.readName()
            case "lookupInfo": lookup = try UserLookup(from: &reader)
            default: try reader.skipValue()
            }
        }
    }
}

extension UserLookup {
    /// Writes the one member that it is.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            switch self {
            case .userRecordName(let name): writer.member("userRecordName", name)
            case .emailAddress(let address): writer.member("emailAddress", address)
            case .phoneNumber(let number): writer.member("phoneNumber", number)
            }
        }
    }

    /// Reads what somebody is looked up by: one of the three.
    package init(from reader: inout JSONReader) throws {
        var lookup: UserLookup?
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "userRecordName": lookup = .userRecordName(try reader.readName())
            case "emailAddress": lookup = .emailAddress(try reader.readString())
            case "phoneNumber": lookup = .phoneNumber(try reader.readString())
            default: try reader.skipValue()
            }
        }
        guard let lookup else {
            throw JSONError("missing one of 'userRecordName', 'emailAddress', 'phoneNumber'")
        }
        self = lookup
    }
}

extension WireParticipant {
    /// Writes the participant.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("participantId", participantID)
            writer.key("userIdentity")
            identity.write(to: &writer)
            writer.member("permission", permission.rawValue)
            writer.member("type", role.rawValue)
            writer.member("acceptanceStatus", acceptance.rawValue)
            if isApprovedRequester { writer.member("isApprovedRequester", true) }
            if usesOneTimeURL { writer.member("usesOneTimeURL", true) }
            writer.member("oneTimeShortGUID", oneTimeShortGUID)
        }
    }

    /// Reads a participant, as Web Services or as CloudKit JS spells them.
    package init(from reader: inout JSONReader) throws {
        self.init(identity: UserIdentity(userRecordName: nil))
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "participantId": participantID = try reader.readName()
            case "userIdentity": identity = try UserIdentity(from: &reader)
            case "permission": permission = try reader.readPermission()
            case "type":
                switch try reader.readName() {
                case "PRIVATE_USER": role = .privateUser
                case let text:
                    guard let known = ParticipantRole(rawValue: text) else {
                        throw JSONError("unknown type of a participant \"\(text)\"")
                    }
                    role = known
                }
            case "acceptanceStatus":
                switch try reader.readName() {
                case "PENDING", "UNKNOWN": acceptance = .pending
                case let text:
                    guard let known = ParticipantAcceptance(rawValue: text) else {
                        throw JSONError("unknown acceptance status \"\(text)\"")
                    }
                    acceptance = known
                }
            case "isApprovedRequester": isApprovedRequester = try reader.readBool()
            case "usesOneTimeURL": usesOneTimeURL = try reader.readBool()
            case "oneTimeShortGUID": oneTimeShortGUID = try reader.readName()
            default: try reader.skipValue()
            }
        }
    }
}

extension JSONWriter {
    /// Writes people who are no participants, in the shape of some who are.
    fileprivate mutating func outsiders(_ name: StaticString, _ identities: [UserIdentity]) {
        key(name)
        array(identities) { writer, identity in
            writer.object { writer in
                writer.key("userIdentity")
                identity.write(to: &writer)
            }
        }
    }
}

extension JSONReader {
    /// Reads a permission of a share.
    package mutating func readPermission() throws -> SharePermission {
        let text = try readName()
        guard let permission = SharePermission(rawValue: text) else {
            throw JSONError("unknown permission \"\(text)\"")
        }
        return permission
    }

    /// Reads people who are no participants.
    fileprivate mutating func readOutsiders() throws -> [UserIdentity] {
        try readList { try WireParticipant(from: &$0).identity }
    }

    /// Reads an object for the record name that it must have.
    mutating func readRecordName() throws -> String {
        var recordName: String?
        try readObject { reader, name in
            if name == "recordName" {
                recordName = try reader.readName()
            } else {
                try reader.skipValue()
            }
        }
        guard let recordName else { throw JSONError("missing required field 'recordName'") }
        return recordName
    }
}

extension WireSharing {
    /// Writes the members of a record.
    func writeMembers(in zoneID: ZoneID, to writer: inout JSONWriter) {
        switch self {
        case .root(let share, let shortGUID):
            writer.member("shortGUID", shortGUID)
            if let share {
                writer.key("share")
                writer.object { writer in
                    writer.member("recordName", share)
                    writer.key("zoneID")
                    zoneID.write(to: &writer)
                }
            }
        case .share(let share):
            writer.member("shortGUID", share.shortGUID)
            writer.member("publicPermission", share.publicPermission.rawValue)
            writer.key("participants")
            writer.array(share.participants) { $1.write(to: &$0) }
            if let owner = share.owner {
                writer.key("owner")
                owner.write(to: &writer)
            }
            if let current = share.currentUserParticipant {
                writer.key("currentUserParticipant")
                current.write(to: &writer)
            }
            if let requests = share.accessRequests {
                writer.member("denyAccessRequests", !requests.areAllowed)
                writer.outsiders("requesters", requests.requesters)
                writer.outsiders("blocked", requests.blocked)
            }
        }
    }
}

/// The members of a record that are about sharing.
struct SharingParts {
    private var shortGUID: String?
    private var share: String?
    private var publicPermission: SharePermission?
    private var participants: [WireParticipant] = []
    private var currentUserParticipantID: String?
    private var accessRequests: WireAccessRequests?

    /// Reads a member; false for one that is about something else.
    mutating func readMember(_ name: MemberName, from reader: inout JSONReader) throws -> Bool {
        switch name {
        case "shortGUID": shortGUID = try reader.readOptional { try $0.readName() }
        case "share": share = try reader.readOptional { try $0.readRecordName() }
        case "publicPermission":
            publicPermission = try reader.readOptional { try $0.readPermission() }
        case "participants":
            participants =
                try reader.readOptional { reader in
                    try reader.readList { try WireParticipant(from: &$0) }
                } ?? []
        case "currentUserParticipant":
            currentUserParticipantID =
                try reader.readOptional { try WireParticipant(from: &$0).participantID } ?? nil
        case "denyAccessRequests":
            let areDenied = try reader.readOptional { try $0.readBool() } ?? true
            accessRequests = accessRequests ?? WireAccessRequests()
            accessRequests?.areAllowed = !areDenied
        case "requesters":
            accessRequests = accessRequests ?? WireAccessRequests()
            accessRequests?.requesters = try reader.readOptional { try $0.readOutsiders() } ?? []
        case "blocked":
            accessRequests = accessRequests ?? WireAccessRequests()
            accessRequests?.blocked = try reader.readOptional { try $0.readOutsiders() } ?? []
        default: return false
        }
        return true
    }

    /// What was read; nil for a record that is not shared by itself.
    var sharing: WireSharing? {
        guard let shortGUID else { return nil }
        guard let publicPermission else { return .root(share: share, shortGUID: shortGUID) }
        return .share(
            WireShare(
                shortGUID: shortGUID, publicPermission: publicPermission,
                participants: participants, currentUserParticipantID: currentUserParticipantID,
                accessRequests: accessRequests
            )
        )
    }
}

extension ShareChanges {
    /// Reads a member of a request's record; false for one that is about something else.
    mutating func readMember(_ name: MemberName, from reader: inout JSONReader) throws -> Bool {
        switch name {
        case "forRecord": root = try Root(from: &reader)
        case "publicPermission": publicPermission = try reader.readPermission()
        case "participants":
            participants = try reader.readList { try WireParticipant(from: &$0) }
        case "denyAccessRequests": allowsAccessRequests = !(try reader.readBool())
        case "requesters": requesters = try reader.readOutsiders()
        case "blocked": blocked = try reader.readOutsiders()
        default: return false
        }
        return true
    }

    /// Writes the members of a request's record.
    func writeMembers(to writer: inout JSONWriter) {
        if let root {
            writer.key("forRecord")
            writer.object { writer in
                writer.member("recordName", root.recordName)
                writer.member("recordChangeTag", root.recordChangeTag)
            }
        }
        writer.member("publicPermission", publicPermission?.rawValue)
        if let participants {
            writer.key("participants")
            writer.array(participants) { $1.write(to: &$0) }
        }
        if let allowsAccessRequests {
            writer.member("denyAccessRequests", !allowsAccessRequests)
        }
        if let requesters { writer.outsiders("requesters", requesters) }
        if let blocked { writer.outsiders("blocked", blocked) }
    }
}

extension ShareChanges.Root {
    fileprivate init(from reader: inout JSONReader) throws {
        var (recordName, recordChangeTag): (String?, String?)
        try reader.readObject { reader, name in
            switch name {
            case "recordName": recordName = try reader.readName()
            case "recordChangeTag":
                recordChangeTag = try reader.readOptional { try $0.readName() }
            default: try reader.skipValue()
            }
        }
        guard let recordName else {
            throw JSONError("missing required field 'recordName' of 'forRecord'")
        }
        self.init(recordName: recordName, recordChangeTag: recordChangeTag)
    }
}
