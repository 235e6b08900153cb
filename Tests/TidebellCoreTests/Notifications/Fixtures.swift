// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// What the notification tests share: one container, two users, one zone.
enum Fixture {
    static let anna = StoredUser(
        id: UserID(rawValue: 1), account: AccountID(rawValue: 1), container: container,
        recordName: "_0123456789abcdef0123456789abcdef"
    )
    static let container = ContainerKey(
        container: "iCloud.org.example.feed", environment: .development
    )
    static let notificationID = "6f1c2a5e-3b7d-4c89-9e10-a1b2c3d4e5f6"

    static func database(_ scope: DatabaseScope = .private) -> StoredDatabase {
        StoredDatabase(
            id: DatabaseID(rawValue: 7),
            key: DatabaseKey(
                container: container, scope: scope, owner: scope == .public ? nil : anna.id
            ),
            head: .start,
            subscriptionKinds: Set(WireSubscription.Kind.allCases)
        )
    }

    static func entry(
        _ event: OutboxEntry.Event, id: Int64 = 1, zone: String = "feed",
        owner: String = anna.recordName, origin: String? = "laptop"
    ) -> OutboxEntry {
        OutboxEntry(
            position: OutboxPosition(rawValue: id), database: DatabaseID(rawValue: 7),
            zoneName: zone, zoneOwner: owner,
            event: event, originUser: anna.id, originClient: origin,
            committedAt: Instant(rawValue: 1_767_268_800_000)
        )
    }

    static func change(
        _ name: String = "item-1", type: String = "FeedItem", _ event: RecordEvent = .created,
        fields: [String: Field]? = nil
    ) -> RecordChange {
        RecordChange(
            recordName: name, recordType: type, event: event, fields: fields.map(RecordFields.init)
        )
    }

    static func change(_ event: RecordEvent, fields: [String: Field]? = nil) -> RecordChange {
        change("item-1", event, fields: fields)
    }

    static func subscription(
        _ kind: WireSubscription.Kind, id: String = "subscription", user: UserID = anna.id,
        zone: String? = nil, type: String? = nil,
        firesOn: WireSubscription.Events = [.create, .update, .delete], firesOnce: Bool = false,
        info: WireNotificationInfo? = nil
    ) -> StoredSubscription {
        StoredSubscription(
            database: DatabaseID(rawValue: 7), user: user,
            subscription: WireSubscription(
                subscriptionID: id, kind: kind, zoneID: zone.map { ZoneID(zoneName: $0) },
                recordType: type, firesOn: kind == .query ? firesOn : [], firesOnce: firesOnce,
                notificationInfo: info
            )
        )
    }

    static func info(_ set: (inout WireNotificationInfo) -> Void) -> WireNotificationInfo {
        var info = WireNotificationInfo()
        set(&info)
        return info
    }

    static func device(_ client: String, of user: UserID = anna.id) -> StoredDevice {
        StoredDevice(
            key: DeviceKey(rawValue: Int64(client.count)), user: user, clientID: client,
            acknowledged: .start
        )
    }

    /// The payload of one match, unpruned.
    static func payload(
        _ subscription: StoredSubscription, _ event: OutboxEntry.Event,
        in scope: DatabaseScope = .private, zone: String = "feed"
    ) -> WirePushPayload? {
        let owner = scope == .public ? ZoneID.publicOwner : anna.recordName
        var matcher = SubscriptionMatcher()
        var builder = NotificationBuilder()
        let outcome = try? matcher.matches(
            entry(event, zone: zone, owner: owner), candidates: [subscription], devices: [:]
        )
        return outcome?.matches.first.map {
            builder.payload(
                for: $0, in: database(scope), owner: anna, notificationID: notificationID
            )
        }
    }

    /// The same as JSON text.
    static func json(
        _ subscription: StoredSubscription, _ event: OutboxEntry.Event,
        in scope: DatabaseScope = .private, zone: String = "feed"
    ) -> String? {
        payload(subscription, event, in: scope, zone: zone).map {
            String(decoding: $0.encoded(), as: UTF8.self)
        }
    }
}
