// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// How participants stand in the store: JSON of the server's own, never seen by a client, and
/// bytes without meaning to an engine.
extension StoredShare {
    /// The participants as an engine keeps them.
    package var encodedParticipants: [UInt8] {
        JSONWriter.write { writer in
            writer.array(participants) { $1.write(to: &$0) }
        }
    }

    /// Reads what ``encodedParticipants`` wrote.
    package static func participants(encoded: [UInt8]) throws -> [StoredParticipant] {
        try JSONReader.read(encoded) { reader in
            try reader.readList { try StoredParticipant(from: &$0) }
        }
    }
}

extension StoredParticipant {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            if let user { writer.member("user", user.rawValue) }
            writer.key("participant")
            var participant = WireParticipant(
                participantID: id, identity: identity, permission: permission, role: role,
                acceptance: acceptance
            )
            participant.isApprovedRequester = isApprovedRequester
            participant.write(to: &writer)
            writer.member("oneTimeKey", oneTimeKey)
        }
    }

    fileprivate init(from reader: inout JSONReader) throws {
        var user: UserID?
        var participant: WireParticipant?
        var oneTimeKey: String?
        try reader.readObject { reader, name in
            switch name {
            case "user": user = UserID(rawValue: try reader.readInt64())
            case "participant": participant = try WireParticipant(from: &reader)
            case "oneTimeKey": oneTimeKey = try reader.readName()
            default: try reader.skipValue()
            }
        }
        guard let participant, let id = participant.participantID else {
            throw JSONError("missing required field 'participant'")
        }
        self.init(
            id: id, user: user, identity: participant.identity,
            permission: participant.permission, role: participant.role,
            acceptance: participant.acceptance,
            isApprovedRequester: participant.isApprovedRequester, oneTimeKey: oneTimeKey
        )
    }
}

extension StoredOutsider {
    /// One of ``StoredShare/outsiders`` as an engine keeps it, beside its user.
    package var encoded: [UInt8] {
        JSONWriter.write { writer in
            writer.object { writer in
                writer.member("user", user.rawValue)
                writer.member("since", since.rawValue)
                if isBlocked { writer.member("blocked", true) }
                writer.key("identity")
                identity.write(to: &writer)
            }
        }
    }

    /// Reads what ``encoded`` wrote.
    fileprivate init(from reader: inout JSONReader) throws {
        self.init(
            user: UserID(rawValue: 0), identity: UserIdentity(userRecordName: nil),
            since: Instant(rawValue: 0))
        try reader.readObject { reader, name in
            switch name {
            case "user": user = UserID(rawValue: try reader.readInt64())
            case "since": since = Instant(rawValue: try reader.readInt64())
            case "blocked": isBlocked = try reader.readBool()
            case "identity": identity = try UserIdentity(from: &reader)
            default: try reader.skipValue()
            }
        }
    }
}

extension [StoredOutsider] {
    /// Reads an array of what ``StoredOutsider/encoded`` wrote, in whatever order.
    package init(encoded: [UInt8]) throws {
        self = try JSONReader.read(encoded) { reader in
            try reader.readList { try StoredOutsider(from: &$0) }
        }.inOrder
    }

    /// The same in the order in which shares have them.
    var inOrder: [StoredOutsider] {
        sorted { ($0.since.rawValue, $0.user.rawValue) < ($1.since.rawValue, $1.user.rawValue) }
    }
}

/// How what crosses to participants stands in the outbox: JSON likewise.
extension SharedChange {
    /// The change as an engine keeps it.
    package var encoded: [UInt8] {
        JSONWriter.write { writer in
            writer.object { writer in
                writer.member("zone", zone.rawValue)
                writer.member("position", position.rawValue)
                if isZoneWide { writer.member("zoneWide", true) }
                writer.key("hierarchies")
                writer.object { writer in
                    for (share, changes) in hierarchies.sorted(by: { $0.key < $1.key }) {
                        writer.key(share)
                        writer.array(changes) { $1.write(to: &$0) }
                    }
                }
                writer.key("ended")
                writer.array(ended) { $0.number($1.rawValue) }
            }
        }
    }

    /// Reads what ``encoded`` wrote.
    package init(encoded: [UInt8]) throws {
        self.init(zone: ZoneKey(rawValue: 0), position: .start)
        try JSONReader.read(encoded) { reader in
            try reader.readObject { reader, name in
                switch name {
                case "zone": zone = ZoneKey(rawValue: try reader.readInt64())
                case "position": position = Position(rawValue: try reader.readInt64())
                case "zoneWide": isZoneWide = try reader.readBool()
                case "hierarchies":
                    try reader.readObject { reader, share in
                        hierarchies[share.text] = try reader.readList {
                            try RecordChange(from: &$0)
                        }
                    }
                case "ended": ended = try reader.readList { UserID(rawValue: try $0.readInt64()) }
                default: try reader.skipValue()
                }
            }
        }
    }
}
