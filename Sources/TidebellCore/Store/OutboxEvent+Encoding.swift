// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// How an event stands in the outbox: JSON of the server's own, never seen by a client, and
/// bytes without meaning to an engine.
extension OutboxEntry.Event {
    /// The event as an engine keeps it.
    package var encoded: [UInt8] {
        JSONWriter.write { writer in
            writer.object { writer in
                switch self {
                case .records(let changes):
                    writer.key("records")
                    writer.array(changes) { $1.write(to: &$0) }
                case .zoneCreated: writer.member("zoneCreated", true)
                case .zoneDeleted(let reason, let subscriptions):
                    writer.member("zoneDeleted", reason.rawValue)
                    writer.key("subscriptions")
                    writer.array(subscriptions) { $1.write(to: &$0) }
                }
            }
        }
    }

    /// Reads what ``encoded`` wrote, also in earlier versions.
    package init(encoded: [UInt8]) throws {
        var event: Self?
        var reason: ZoneDeletionReason?
        var subscriptions: [StoredSubscription] = []
        try JSONReader.read(encoded) { reader in
            try reader.readObject { reader, name in
                switch name {
                case "records":
                    event = .records(try reader.readList { try RecordChange(from: &$0) })
                case "zoneCreated": event = try reader.readBool() ? .zoneCreated : nil
                case "zoneDeleted": reason = ZoneDeletionReason(rawValue: try reader.readString())
                case "subscriptions":
                    subscriptions = try reader.readList { try StoredSubscription(from: &$0) }
                default: try reader.skipValue()
                }
            }
        }
        if let reason { event = .zoneDeleted(reason, subscriptions: subscriptions) }
        guard let event else { throw JSONError("the outbox holds an unknown event") }
        self = event
    }

    /// Bytes that are part of ``encoded`` where a record with this name changed.
    static func mention(ofRecord name: String) -> [UInt8] {
        let object = JSONWriter.write { writer in
            writer.object { $0.member("recordName", name) }
        }
        return Array(object.dropFirst().dropLast())
    }
}

extension RecordChange {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("recordName", recordName)
            writer.member("recordType", recordType)
            writer.member("event", event.rawValue)
            if let fields {
                writer.key("fields")
                writer.raw(fields.json)
            }
            if let system {
                writer.key("created")
                system.created.write(to: &writer)
                writer.key("modified")
                system.modified.write(to: &writer)
                writer.member("parent", system.parent)
            }
        }
    }

    init(from reader: inout JSONReader) throws {
        var change = RecordChange(recordName: "", recordType: "", event: .updated)
        var (created, modified): (RecordStamp?, RecordStamp?)
        var parent: String?
        try reader.readObject { reader, name in
            switch name {
            case "recordName": change.recordName = try reader.readString()
            case "recordType": change.recordType = try reader.readString()
            case "event":
                let code = try reader.readInt()
                guard let event = RecordEvent(rawValue: code) else {
                    throw JSONError("unknown record event \(code)")
                }
                change.event = event
            case "fields": change.fields = RecordFields(json: try reader.readRaw())
            case "created": created = try RecordStamp(from: &reader)
            case "modified": modified = try RecordStamp(from: &reader)
            case "parent": parent = try reader.readString()
            default: try reader.skipValue()
            }
        }
        if let created, let modified {
            change.system = SystemValues(created: created, modified: modified, parent: parent)
        }
        self = change
    }
}

extension StoredSubscription {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("serial", serial.rawValue)
            writer.member("database", database.rawValue)
            writer.member("user", user.rawValue)
            writer.key("subscription")
            subscription.write(to: &writer)
        }
    }

    fileprivate init(from reader: inout JSONReader) throws {
        // Stores of version 1 did not number subscriptions: the oldest is notified first.
        var serial = SubscriptionSerial(rawValue: 1)
        var database = DatabaseID(rawValue: 0)
        var user = UserID(rawValue: 0)
        var subscription: WireSubscription?
        try reader.readObject { reader, name in
            switch name {
            case "serial": serial = SubscriptionSerial(rawValue: try reader.readInt64())
            case "database": database = DatabaseID(rawValue: try reader.readInt64())
            case "user": user = UserID(rawValue: try reader.readInt64())
            case "subscription":
                subscription = try SubscriptionParts(from: &reader).subscription()
            default: try reader.skipValue()
            }
        }
        guard let subscription else { throw JSONError("missing required field 'subscription'") }
        self.init(serial: serial, database: database, user: user, subscription: subscription)
    }
}
