// SPDX-License-Identifier: Apache-2.0
import Foundation

extension ModifyRecords.Request {
    /// Reads the request.
    package init(from reader: inout JSONReader) throws {
        self.init(zoneID: ZoneID(zoneName: ZoneID.defaultName), operations: [])
        var hasOperations = false
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "zoneID": zoneID = try ZoneID(from: &reader)
            case "operations":
                hasOperations = true
                operations = try reader.readList {
                    try ModifyRecords.Operation(from: &$0)
                }
            case "atomic": atomic = try reader.readBool()
            case "desiredKeys": desiredKeys = try reader.readDesiredNames()
            case "numbersAsStrings": numbersAsStrings = try reader.readBool()
            case "clientChangeToken": clientChangeToken = try reader.readBytes()
            default: try reader.skipValue()
            }
        }
        guard hasOperations else { throw JSONError("missing required field 'operations'") }
    }

    /// Writes the request.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("zoneID")
            zoneID.write(to: &writer)
            if let atomic { writer.member("atomic", atomic) }
            writer.member("desiredKeys", desiredKeys)
            if numbersAsStrings { writer.member("numbersAsStrings", true) }
            writer.member(
                "clientChangeToken",
                clientChangeToken.map { Data($0).base64EncodedString() }
            )
            writer.key("operations")
            writer.array(operations) { $1.write(to: &$0) }
        }
    }
}

extension ModifyRecords.Operation {
    init(from reader: inout JSONReader) throws {
        var type: ModifyRecords.OperationType?
        var hasRecord = false
        self.init(.create, recordName: nil)
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "operationType":
                let text = try reader.readName()
                type = ModifyRecords.OperationType(rawValue: text)
                guard type != nil else { throw JSONError("unknown operation type \"\(text)\"") }
            case "record":
                hasRecord = true
                try readRecord(from: &reader)
            case "desiredKeys": desiredKeys = try reader.readDesiredNames()
            default: try reader.skipValue()
            }
        }
        guard let type else { throw JSONError("missing required field 'operationType'") }
        guard hasRecord else { throw JSONError("missing required field 'record'") }
        self.type = type
    }

    private mutating func readRecord(from reader: inout JSONReader) throws {
        try reader.readObject { reader, name in
            if name == "parent" {
                parent = .some(try reader.readOptional { try $0.readRecordName() })
                return
            }
            guard try !reader.readNull() else { return }
            switch name {
            case "recordName": recordName = try reader.readName()
            case "recordType": recordType = try reader.readName()
            case "recordChangeTag": recordChangeTag = try reader.readName()
            case "fields": fields = try FieldChanges(from: &reader)
            case "createShortGUID": createsShortGUID = try reader.readBool()
            default:
                if try !share.readMember(name, from: &reader) { try reader.skipValue() }
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("operationType", type.rawValue)
            writer.key("record")
            writer.object { writer in
                writer.member("recordName", recordName)
                writer.member("recordType", recordType)
                writer.member("recordChangeTag", recordChangeTag)
                if !type.deletes {
                    writer.key("fields")
                    fields.write(to: &writer)
                }
                if let parent {
                    writer.key("parent")
                    if let parent {
                        writer.object { $0.member("recordName", parent) }
                    } else {
                        writer.null()
                    }
                }
                if createsShortGUID { writer.member("createShortGUID", true) }
                share.writeMembers(to: &writer)
            }
            writer.member("desiredKeys", desiredKeys)
        }
    }
}

extension ModifyRecords.Response {
    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("records")
            writer.array(records) { $1.write(to: &$0) }
            writer.member("syncToken", syncToken)
        }
    }

    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        var (records, syncToken): ([RecordResult]?, String?)
        try reader.readObject { reader, name in
            switch name {
            case "records": records = try reader.readList { try RecordResult(from: &$0) }
            case "syncToken": syncToken = try reader.readOptional { try $0.readString() }
            default: try reader.skipValue()
            }
        }
        guard let records else { throw JSONError("missing required field 'records'") }
        self.init(records: records, syncToken: syncToken)
    }
}

extension JSONReader {
    /// Reads base64 text as bytes.
    mutating func readBytes() throws -> [UInt8] {
        guard let data = Data(base64Encoded: try readString()) else {
            throw JSONError("expected base64 text")
        }
        return [UInt8](data)
    }

    /// Reads a request about items of one zone, the default zone unless it names another.
    ///
    /// - Parameter other: Reads a further member; returns false for one it does not know.
    mutating func readZoneItems<Item>(
        _ member: MemberName,
        other: (inout JSONReader, MemberName) throws -> Bool = { _, _ in false },
        _ read: (inout JSONReader) throws -> Item
    ) throws -> (zoneID: ZoneID, items: [Item]) {
        var zoneID = ZoneID(zoneName: ZoneID.defaultName)
        var items: [Item]?
        try readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "zoneID": zoneID = try ZoneID(from: &reader)
            case member: items = try reader.readList(read)
            default: if try !other(&reader, name) { try reader.skipValue() }
            }
        }
        guard let items else { throw JSONError("missing required field '\(member)'") }
        return (zoneID, items)
    }

    /// Reads an object for the one array it must have.
    mutating func readMemberList<Value>(
        _ member: MemberName,
        _ read: (inout JSONReader) throws -> Value
    ) throws -> [Value] {
        var values: [Value]?
        try readObject { reader, name in
            if name == member {
                values = try reader.readList(read)
            } else {
                try reader.skipValue()
            }
        }
        guard let values else { throw JSONError("missing required field '\(member)'") }
        return values
    }
}
