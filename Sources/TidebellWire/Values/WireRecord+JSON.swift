// SPDX-License-Identifier: Apache-2.0

extension WireRecord {
    /// Writes the record as CloudKit's answers do.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("recordName", recordName)
            writer.member("recordType", recordType)
            writer.key("fields")
            writer.raw(fields.json)
            writer.key("pluginFields")
            writer.raw(RecordFields.none.json)
            writer.member("recordChangeTag", recordChangeTag)
            writer.key("created")
            created.write(to: &writer)
            writer.key("modified")
            modified.write(to: &writer)
            writer.member("deleted", false)
            writer.key("zoneID")
            zoneID.write(to: &writer)
            if let parent {
                writer.key("parent")
                writer.object { $0.member("recordName", parent) }
            }
            sharing?.writeMembers(in: zoneID, to: &writer)
        }
    }
}

extension WireTombstone {
    /// Writes the tombstone.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("recordName", recordName)
            writer.member("deleted", true)
            if let zoneID {
                writer.key("zoneID")
                zoneID.write(to: &writer)
            }
            writer.member("recordType", recordType)
        }
    }
}

extension RecordResult {
    /// About how many bytes the element takes.
    var byteEstimate: Int {
        if case .record(let record) = self { return record.fields.json.count + 640 }
        return 320
    }

    /// Writes the element.
    package func write(to writer: inout JSONWriter) {
        switch self {
        case .record(let record): record.write(to: &writer)
        case .deleted(let tombstone): tombstone.write(to: &writer)
        case .failed(let recordName, let error):
            error.write(to: &writer) { $0.member("recordName", recordName) }
        }
    }

    /// Reads an element of an answer.
    package init(from reader: inout JSONReader) throws {
        var parts = RecordParts()
        try reader.readObject { reader, name in try parts.readMember(name, from: &reader) }
        self = parts.result
    }
}

/// The members of a `records` element, of which each kind uses some.
private struct RecordParts {
    var record = WireRecord(
        recordName: "",
        recordType: "",
        recordChangeTag: "",
        zoneID: ZoneID(zoneName: ""),
        fields: .none,
        created: RecordStamp(timestamp: 0, userRecordName: "", deviceID: ""),
        modified: RecordStamp(timestamp: 0, userRecordName: "", deviceID: "")
    )
    var hasZone = false
    var isDeleted = false
    var sharing = SharingParts()
    var error = WireErrorParts()

    mutating func readMember(_ name: MemberName, from reader: inout JSONReader) throws {
        switch name {
        case "recordName": record.recordName = try reader.readName()
        case "recordType": record.recordType = try reader.readName()
        case "recordChangeTag": record.recordChangeTag = try reader.readName()
        case "fields": record.fields = RecordFields(json: try reader.readRaw())
        case "created": record.created = try RecordStamp(from: &reader)
        case "modified": record.modified = try RecordStamp(from: &reader)
        case "deleted": isDeleted = try reader.readOptional { try $0.readBool() } ?? false
        case "zoneID":
            record.zoneID = try ZoneID(from: &reader)
            hasZone = true
        case "parent": record.parent = try reader.readOptional { try $0.readRecordName() }
        default:
            guard try !sharing.readMember(name, from: &reader) else { return }
            try error.readMember(name, from: &reader)
        }
    }

    var result: RecordResult {
        if let error = error.error { return .failed(recordName: record.recordName, error) }
        guard isDeleted else {
            var record = record
            record.sharing = sharing.sharing
            return .record(record)
        }
        return .deleted(
            WireTombstone(
                recordName: record.recordName,
                zoneID: hasZone ? record.zoneID : nil,
                recordType: record.recordType.isEmpty ? nil : record.recordType
            )
        )
    }
}
