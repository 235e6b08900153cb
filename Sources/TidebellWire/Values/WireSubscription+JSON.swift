// SPDX-License-Identifier: Apache-2.0

extension WireSubscription {
    /// Writes the subscription; `query` kinds carry their query, all kinds what
    /// they were saved with.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("subscriptionID", subscriptionID)
            let isZoneWide = kind == .database && isWrittenAsZoneWide
            writer.member("subscriptionType", isZoneWide ? Kind.zone.rawValue : kind.rawValue)
            if let zoneID {
                writer.key("zoneID")
                zoneID.write(to: &writer)
            }
            if isZoneWide || (kind == .query && zoneID == nil) { writer.member("zoneWide", true) }
            if kind == .query {
                writer.key("query")
                writer.object { writer in
                    writer.member("recordType", recordType)
                    writer.key("filterBy")
                    writer.array(filters) { $1.write(to: &$0) }
                }
                writer.member("firesOn", firesOn.names)
                writer.member("firesOnce", firesOnce)
            } else {
                writer.member("recordType", recordType)
            }
            if let notificationInfo {
                writer.key("notificationInfo")
                notificationInfo.write(to: &writer)
            }
        }
    }
}

extension WireSubscription.Events {
    /// The events by their wire names, in order.
    package var names: [String] {
        [(.create, "create"), (.update, "update"), (.delete, "delete")]
            .compactMap { (event: Self, name) in contains(event) ? name : nil }
    }

    fileprivate init(from reader: inout JSONReader) throws {
        var events: Self = []
        try reader.readArray { reader in
            switch try reader.readName() {
            case "create": events.insert(.create)
            case "update": events.insert(.update)
            case "delete": events.insert(.delete)
            case let other: throw JSONError("unknown event \"\(other)\"")
            }
        }
        self = events
    }
}

/// The members of a `subscriptions` element; which are needed depends on the
/// operation, so the endpoint decides.
package struct SubscriptionParts: Sendable {
    package var subscriptionID: String?
    package var subscriptionType: String?
    package var zoneID: ZoneID?
    package var zoneWide: Bool?
    package var recordType: String?
    package var hasQuery = false
    package var filters: [WireFilter] = []
    package var firesOn: WireSubscription.Events = []
    package var firesOnce = false
    package var notificationInfo: WireNotificationInfo?
    private var isDeleted = false
    private var error = WireErrorParts()

    /// Reads the members of one element.
    package init(from reader: inout JSONReader) throws {
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            try readMember(name, from: &reader)
        }
    }

    private mutating func readMember(_ name: MemberName, from reader: inout JSONReader) throws {
        switch name {
        case "subscriptionID": subscriptionID = try reader.readName()
        case "subscriptionType": subscriptionType = try reader.readName()
        case "zoneID": zoneID = try ZoneID(from: &reader)
        case "zoneWide": zoneWide = try reader.readBool()
        case "recordType": recordType = try reader.readName()
        case "query":
            hasQuery = true
            try readQuery(from: &reader)
        case "firesOn": firesOn = try WireSubscription.Events(from: &reader)
        case "firesOnce": firesOnce = try reader.readBool()
        case "notificationInfo": notificationInfo = try WireNotificationInfo(from: &reader)
        case "deleted": isDeleted = try reader.readBool()
        default: try error.readMember(name, from: &reader)
        }
    }

    private mutating func readQuery(from reader: inout JSONReader) throws {
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "recordType": recordType = try reader.readName()
            case "filterBy":
                filters = try reader.readList { try WireFilter(from: &$0) }
            default: try reader.skipValue()
            }
        }
    }

    /// The subscription these members describe.
    ///
    /// A `zone` with `zoneWide` is a database subscription (web-services 4.6).
    package func subscription() throws -> WireSubscription {
        guard let subscriptionType else {
            throw JSONError("missing required field 'subscriptionType'")
        }
        guard var kind = WireSubscription.Kind(rawValue: subscriptionType) else {
            throw JSONError("unknown subscriptionType \"\(subscriptionType)\"")
        }
        let isZoneWide = kind == .zone && zoneWide == true
        if isZoneWide { kind = .database }
        var subscription = WireSubscription(
            subscriptionID: subscriptionID ?? "",
            kind: kind,
            zoneID: kind == .database ? nil : zoneID,
            recordType: recordType,
            notificationInfo: notificationInfo
        )
        subscription.isWrittenAsZoneWide = isZoneWide
        if kind == .query {
            subscription.filters = filters
            subscription.firesOn = firesOn
            subscription.firesOnce = firesOnce
        }
        return subscription
    }

    /// The element of an answer these members are.
    package func result() throws -> SubscriptionResult {
        let subscriptionID = subscriptionID ?? ""
        if let error = error.error { return .failed(subscriptionID: subscriptionID, error) }
        if isDeleted { return .deleted(subscriptionID: subscriptionID) }
        return .subscription(try subscription())
    }
}

extension SubscriptionResult {
    /// Writes the element.
    package func write(to writer: inout JSONWriter) {
        switch self {
        case .subscription(let subscription): subscription.write(to: &writer)
        case .deleted(let subscriptionID):
            writer.object { writer in
                writer.member("subscriptionID", subscriptionID)
                writer.member("deleted", true)
            }
        case .failed(let subscriptionID, let error):
            error.write(to: &writer) { $0.member("subscriptionID", subscriptionID) }
        }
    }
}
