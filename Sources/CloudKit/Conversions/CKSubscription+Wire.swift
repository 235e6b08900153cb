// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

extension WireSubscription {
    /// Creates the subscription for a request (web-services 4.6).
    ///
    /// Fails with `invalidArguments` for a predicate that cannot be sent.
    init(_ subscription: CKSubscription, in database: DatabaseConnection) throws(CKError) {
        let info = subscription.notificationInfo.map { WireNotificationInfo($0.values) }
        let id = subscription.subscriptionID
        switch subscription {
        case let query as CKQuerySubscription:
            self.init(
                subscriptionID: id,
                kind: .query,
                zoneID: query.zoneID.map(database.wire),
                recordType: query.recordType,
                firesOn: Events(query.querySubscriptionOptions),
                firesOnce: query.querySubscriptionOptions.contains(.firesOnce),
                notificationInfo: info
            )
            filters = try query.predicate.filters(
                in: FilterContext(database: database, zoneID: query.zoneID)
            )
        case let zone as CKRecordZoneSubscription:
            self.init(
                subscriptionID: id,
                kind: .zone,
                zoneID: database.wire(zone.zoneID),
                recordType: zone.recordType,
                notificationInfo: info
            )
        case let whole as CKDatabaseSubscription:
            self.init(
                subscriptionID: id,
                kind: .database,
                recordType: whole.recordType,
                notificationInfo: info
            )
        default:
            throw .local(
                .invalidArguments,
                "Subscription '\(id)' is a \(type(of: subscription)), which is none of the "
                    + "three kinds."
            )
        }
    }
}

extension WireSubscription.Events {
    fileprivate init(_ options: CKQuerySubscription.Options) {
        self = []
        if options.contains(.firesOnRecordCreation) { insert(.create) }
        if options.contains(.firesOnRecordUpdate) { insert(.update) }
        if options.contains(.firesOnRecordDeletion) { insert(.delete) }
    }
}

extension CKQuerySubscription.Options {
    fileprivate init(_ wire: WireSubscription) {
        self = []
        if wire.firesOn.contains(.create) { insert(.firesOnRecordCreation) }
        if wire.firesOn.contains(.update) { insert(.firesOnRecordUpdate) }
        if wire.firesOn.contains(.delete) { insert(.firesOnRecordDeletion) }
        if wire.firesOnce { insert(.firesOnce) }
    }
}

extension CKSubscription {
    /// Returns the subscription of an answer, as the class of its kind.
    ///
    /// Fails with `invalidArguments` for one that this version cannot show.
    static func make(
        _ wire: WireSubscription,
        in database: DatabaseConnection
    ) throws(CKError) -> CKSubscription {
        let common = Common(
            subscriptionID: wire.subscriptionID,
            notificationInfo: wire.notificationInfo.map { CKNotificationInfo($0.values) }
        )
        switch wire.kind {
        case .query: return makeQuery(wire, common, in: database)
        case .zone:
            guard let zoneID = wire.zoneID else {
                throw .local(
                    .internalError,
                    "The server's answer names no zone for subscription '\(wire.subscriptionID)'."
                )
            }
            return CKRecordZoneSubscription(
                CKRecordZoneSubscription.Values(
                    common: common,
                    zoneID: database.zoneID(zoneID),
                    recordType: wire.recordType
                )
            )
        case .database:
            return CKDatabaseSubscription(
                CKDatabaseSubscription.Values(common: common, recordType: wire.recordType)
            )
        }
    }

    private static func makeQuery(
        _ wire: WireSubscription,
        _ common: Common,
        in database: DatabaseConnection
    ) -> CKSubscription {
        let context = FilterContext(database: database, zoneID: wire.zoneID.map(database.zoneID))
        return CKQuerySubscription(
            common,
            query: CKQuerySubscription.Query(
                recordType: wire.recordType ?? "",
                predicate: PredicateTree(wire.filters, in: context).predicate,
                options: CKQuerySubscription.Options(wire)
            ),
            zoneID: context.zoneID
        )
    }
}

extension WireNotificationInfo {
    /// Creates the info for a request; empty lists mean nothing and are not sent.
    fileprivate init(_ values: CKNotificationInfo.Values) {
        let values = values.withoutEmptyLists
        self.init()
        alert.body = values.alertBody
        alert.localizationKey = values.alertLocalizationKey
        alert.localizationArgs = values.alertLocalizationArgs
        alert.title = values.title
        alert.titleLocalizationKey = values.titleLocalizationKey
        alert.titleLocalizationArgs = values.titleLocalizationArgs
        alert.subtitle = values.subtitle
        alert.subtitleLocalizationKey = values.subtitleLocalizationKey
        alert.subtitleLocalizationArgs = values.subtitleLocalizationArgs
        alert.actionLocalizationKey = values.alertActionLocalizationKey
        alert.launchImage = values.alertLaunchImage
        soundName = values.soundName
        category = values.category
        collapseIDKey = values.collapseIDKey
        desiredKeys = values.desiredKeys
        shouldBadge = values.shouldBadge
        shouldSendContentAvailable = values.shouldSendContentAvailable
        shouldSendMutableContent = values.shouldSendMutableContent
    }

    fileprivate var values: CKNotificationInfo.Values {
        CKNotificationInfo.Values(
            alertBody: alert.body,
            alertLocalizationKey: alert.localizationKey,
            alertLocalizationArgs: alert.localizationArgs,
            title: alert.title,
            titleLocalizationKey: alert.titleLocalizationKey,
            titleLocalizationArgs: alert.titleLocalizationArgs,
            subtitle: alert.subtitle,
            subtitleLocalizationKey: alert.subtitleLocalizationKey,
            subtitleLocalizationArgs: alert.subtitleLocalizationArgs,
            alertActionLocalizationKey: alert.actionLocalizationKey,
            alertLaunchImage: alert.launchImage,
            soundName: soundName,
            desiredKeys: desiredKeys,
            shouldBadge: shouldBadge,
            shouldSendContentAvailable: shouldSendContentAvailable,
            shouldSendMutableContent: shouldSendMutableContent,
            category: category,
            collapseIDKey: collapseIDKey
        )
    }
}
