// SPDX-License-Identifier: Apache-2.0

/// A zone as answers carry it.
package struct WireZone: Sendable, Hashable {
    package var zoneID: ZoneID
    /// The zone's newest sync token; nil where change tracking does not exist.
    package var syncToken: String?
    /// Whether batches in the zone can be atomic (ZONE-3).
    package var isAtomic: Bool
    /// The record name of the share of the whole zone (ZONE-9).
    package var share: String?

    /// Creates a zone.
    package init(
        zoneID: ZoneID, syncToken: String? = nil, isAtomic: Bool, share: String? = nil
    ) {
        self.zoneID = zoneID
        self.syncToken = syncToken
        self.isAtomic = isAtomic
        self.share = share
    }
}

/// One element of a `zones` array.
package enum ZoneResult: Sendable, Hashable {
    case zone(WireZone)
    /// A zone that is gone; the reason is for clients that opted into the
    /// extensions.
    case deleted(ZoneID, ZoneDeletionReason?)
    case failed(ZoneID, WireError)
}

/// Why a zone is gone (TOK-7, SYNC-15).
package enum ZoneDeletionReason: String, Sendable, Hashable {
    case deleted
    case purged
    case encryptedDataReset
}

extension ZoneResult {
    /// Writes the element.
    package func write(to writer: inout JSONWriter, sendsAtomic: Bool = true) {
        switch self {
        case .zone(let zone):
            writer.object { writer in
                writer.key("zoneID")
                zone.zoneID.write(to: &writer)
                writer.member("syncToken", zone.syncToken)
                if sendsAtomic { writer.member("atomic", zone.isAtomic) }
                if let share = zone.share {
                    writer.key("share")
                    writer.object { $0.member("recordName", share) }
                }
            }
        case .deleted(let zoneID, let reason):
            writer.object { writer in
                writer.key("zoneID")
                zoneID.write(to: &writer)
                writer.member("deleted", true)
                if let reason {
                    writer.key("ext")
                    writer.object { $0.member("reason", reason.rawValue) }
                }
            }
        case .failed(let zoneID, let error):
            error.write(to: &writer) { writer in
                writer.key("zoneID")
                zoneID.write(to: &writer)
            }
        }
    }

    /// Reads an element of an answer.
    package init(from reader: inout JSONReader) throws {
        var zone = WireZone(zoneID: ZoneID(zoneName: ""), isAtomic: false)
        var isDeleted = false
        var reason: ZoneDeletionReason?
        var error = WireErrorParts()
        try reader.readObject { reader, name in
            switch name {
            case "zoneID": zone.zoneID = try ZoneID(from: &reader)
            case "syncToken": zone.syncToken = try reader.readOptional { try $0.readString() }
            case "atomic": zone.isAtomic = try reader.readOptional { try $0.readBool() } ?? false
            case "share": zone.share = try reader.readOptional { try $0.readRecordName() }
            case "deleted": isDeleted = try reader.readOptional { try $0.readBool() } ?? false
            case "ext":
                // One extension object serves both: a reason when the zone is
                // gone, detail when it is in error.
                let text = try reader.readRaw()
                reason = try JSONReader.read(text) { try $0.readOptional(Self.readReason) } ?? nil
                try JSONReader.read(text) { try error.readMember(name, from: &$0) }
            default: try error.readMember(name, from: &reader)
            }
        }
        if let error = error.error {
            self = .failed(zone.zoneID, error)
        } else {
            self = isDeleted ? .deleted(zone.zoneID, reason) : .zone(zone)
        }
    }

    private static func readReason(from reader: inout JSONReader) throws -> ZoneDeletionReason? {
        var reason: ZoneDeletionReason?
        try reader.readObject { reader, name in
            if name == "reason" {
                reason = ZoneDeletionReason(rawValue: try reader.readName())
            } else {
                try reader.skipValue()
            }
        }
        return reason
    }
}
