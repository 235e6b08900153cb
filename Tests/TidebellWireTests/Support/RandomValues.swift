// SPDX-License-Identifier: Apache-2.0
import TestSupport
import TidebellWire

extension SeededGenerator {
    /// Returns a name that is never empty.
    mutating func name() -> String {
        "n" + text()
    }

    mutating func int64() -> Int64 {
        Int64(truncatingIfNeeded: next()) >> below(64)
    }

    mutating func bytes() -> [UInt8] {
        list(upTo: 9) { UInt8($0.below(256)) }
    }

    mutating func zoneID() -> ZoneID {
        ZoneID(
            zoneName: oneIn(4) ? ZoneID.defaultName : name(),
            ownerRecordName: maybe { $0.name() }
        )
    }

    mutating func reference() -> WireReference {
        WireReference(
            recordName: name(),
            zoneID: maybe { $0.zoneID() },
            action: pick([.none, .deleteSelf, .validate])
        )
    }

    mutating func asset() -> WireAsset {
        WireAsset(
            fileChecksum: name(),
            size: int64() & 0xFFFF_FFFF_FFFF,
            receipt: maybe { $0.text() },
            downloadURL: maybe { $0.text() }
        )
    }

    mutating func location() -> WireLocation {
        WireLocation(
            latitude: double(),
            longitude: double(),
            horizontalAccuracy: maybe { $0.double() },
            verticalAccuracy: maybe { $0.double() },
            altitude: maybe { $0.double() },
            speed: maybe { $0.double() },
            course: maybe { $0.double() },
            timestamp: maybe { $0.int64() }
        )
    }

    /// Returns a value of `type`, which is no list.
    mutating func scalar(_ type: FieldType) -> FieldValue {
        switch type {
        case .string: .string(text())
        case .int64: .int64(int64())
        case .double: .double(oneIn(3) ? Double(below(9)) : double())
        case .timestamp: .timestamp(int64())
        case .bytes: .bytes(bytes())
        case .reference: .reference(reference())
        case .asset: .asset(asset())
        default: .location(location())
        }
    }

    /// Returns a value of any type, lists and empty lists included.
    mutating func value() -> FieldValue {
        let type = pick(FieldType.allCases)
        guard let element = type.element else { return scalar(type) }
        return .list(type, list(upTo: 3) { $0.scalar(element) })
    }

    mutating func field() -> Field {
        let value = value()
        let count = oneIn(2) ? value.timeCount : 0
        let nanoseconds = (0..<count).map { _ in int64() % (Field.maximumNanoseconds + 1) }
        return Field(value, isEncrypted: oneIn(4), nanoseconds: nanoseconds)
    }

    mutating func fields() -> [String: Field] {
        Dictionary(list(upTo: 4) { ($0.text(), $0.field()) }) { $1 }
    }

    mutating func stamp() -> RecordStamp {
        RecordStamp(timestamp: int64(), userRecordName: text(), deviceID: text())
    }

    mutating func record() -> WireRecord {
        WireRecord(
            recordName: name(),
            recordType: name(),
            recordChangeTag: text(),
            zoneID: zoneID(),
            fields: RecordFields(fields()),
            created: stamp(),
            modified: stamp(),
            parent: maybe { $0.text() }
        )
    }

    /// Returns an error; one of an item has no request UUID.
    mutating func error(isItem: Bool = true) -> WireError {
        WireError(
            pick(ServerErrorCode.allCases),
            text(),
            uuid: isItem ? nil : maybe { $0.text() },
            retryAfter: maybe { $0.double() },
            redirectURL: maybe { $0.text() },
            detail: maybe { random in
                WireError.Detail(
                    ckCode: random.maybe { $0.below(38) },
                    serverRecord: random.maybe { $0.record() },
                    zoneDeletion: random.maybe {
                        $0.pick([.deleted, .purged, .encryptedDataReset])
                    }
                )
            }
        )
    }

    mutating func recordResult() -> RecordResult {
        switch below(3) {
        case 0: .record(record())
        case 1:
            .deleted(
                WireTombstone(
                    recordName: name(),
                    zoneID: maybe { $0.zoneID() },
                    recordType: maybe { $0.name() }
                )
            )
        default: .failed(recordName: name(), error())
        }
    }

    mutating func zoneResult() -> ZoneResult {
        switch below(3) {
        case 0:
            .zone(
                WireZone(zoneID: zoneID(), syncToken: maybe { $0.text() }, isAtomic: oneIn(2))
            )
        case 1: .deleted(zoneID(), maybe { $0.pick([.deleted, .purged, .encryptedDataReset]) })
        default: .failed(zoneID(), error())
        }
    }

    mutating func subscription() -> WireSubscription {
        let kind = pick(WireSubscription.Kind.allCases)
        var subscription = WireSubscription(
            subscriptionID: name(),
            kind: kind,
            zoneID: kind == .zone ? zoneID() : kind == .query ? maybe { $0.zoneID() } : nil,
            recordType: kind == .query ? name() : maybe { $0.name() },
            notificationInfo: maybe { $0.notificationInfo() }
        )
        if kind == .query {
            subscription.firesOn = WireSubscription.Events(rawValue: below(8))
            subscription.firesOnce = oneIn(2)
            subscription.filters = pick([
                [], [WireFilter(.equals, .field("state"), .string("open"))],
                [
                    WireFilter(
                        .near, .field("place"),
                        .location(WireLocation(latitude: 54, longitude: 10)), distance: 1500
                    ), .nothing,
                    WireFilter(.greaterThan, .system(.modifiedTimestamp), .timestamp(5)),
                    WireFilter(.containsAnyTokens, .allText, .string("low tide")),
                ],
            ])
        }
        subscription.isWrittenAsZoneWide = kind == .database && oneIn(2)
        return subscription
    }

    mutating func notificationInfo() -> WireNotificationInfo {
        var info = WireNotificationInfo()
        info.alert.body = maybe { $0.text() }
        info.alert.localizationKey = maybe { $0.text() }
        info.alert.localizationArgs = maybe { $0.list(upTo: 3) { $0.text() } }
        info.alert.title = maybe { $0.text() }
        info.alert.titleLocalizationKey = maybe { $0.text() }
        info.alert.titleLocalizationArgs = maybe { $0.list(upTo: 3) { $0.text() } }
        info.alert.subtitle = maybe { $0.text() }
        info.alert.subtitleLocalizationKey = maybe { $0.text() }
        info.alert.subtitleLocalizationArgs = maybe { $0.list(upTo: 3) { $0.text() } }
        info.alert.actionLocalizationKey = maybe { $0.text() }
        info.alert.launchImage = maybe { $0.text() }
        info.soundName = maybe { $0.text() }
        info.category = maybe { $0.text() }
        info.collapseIDKey = maybe { $0.text() }
        info.desiredKeys = maybe { $0.list(upTo: 3) { $0.text() } }
        info.shouldBadge = oneIn(2)
        info.shouldSendContentAvailable = oneIn(2)
        info.shouldSendMutableContent = oneIn(2)
        return info
    }

    mutating func subscriptionResult() -> SubscriptionResult {
        switch below(3) {
        case 0: .subscription(subscription())
        case 1: .deleted(subscriptionID: name())
        default: .failed(subscriptionID: name(), error())
        }
    }
}
