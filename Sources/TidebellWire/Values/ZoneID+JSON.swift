// SPDX-License-Identifier: Apache-2.0

extension ZoneID {
    /// Reads a zone ID; `ownerName` is accepted beside `ownerRecordName`
    /// (web-services 4.1), and an empty one is none.
    package init(from reader: inout JSONReader) throws {
        var name: String?
        var owner: String?
        try reader.readObject { reader, member in
            switch member {
            case "zoneName": name = try reader.readName()
            case "ownerRecordName", "ownerName":
                let name = try reader.readOptional { try $0.readName() } ?? ""
                if !name.isEmpty { owner = name }
            default: try reader.skipValue()
            }
        }
        guard let name else { throw JSONError("missing required field 'zoneName'") }
        guard !name.isEmpty else { throw JSONError("the zone name is empty") }
        self.init(zoneName: name, ownerRecordName: owner)
    }

    /// Writes the zone ID with the type CloudKit's answers carry.
    package func write(to writer: inout JSONWriter) {
        writer.zoneID(self)
    }

    func encode(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("zoneName", zoneName)
            writer.member("ownerRecordName", ownerRecordName)
            writer.member("zoneType", isDefault ? "DEFAULT_ZONE" : "REGULAR_CUSTOM_ZONE")
        }
    }
}

extension RecordStamp {
    /// Reads `{timestamp, userRecordName, deviceID}`.
    package init(from reader: inout JSONReader) throws {
        var stamp = RecordStamp(timestamp: 0, userRecordName: "", deviceID: "")
        try reader.readObject { reader, name in
            switch name {
            case "timestamp": stamp.timestamp = try reader.readInt64()
            case "userRecordName": stamp.userRecordName = try reader.readName()
            case "deviceID": stamp.deviceID = try reader.readOptional { try $0.readName() } ?? ""
            default: try reader.skipValue()
            }
        }
        self = stamp
    }

    /// Writes the stamp.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("timestamp", timestamp)
            writer.author(user: userRecordName, device: deviceID)
        }
    }
}
