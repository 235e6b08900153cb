// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A payload as the stream carries it: whatever is JSON becomes a notification or none, all
/// of whose properties can be read and which compares with itself.
func fuzzPush(_ input: [UInt8]) {
    guard let userInfo = NotificationReceiver.userInfo(String(decoding: input, as: UTF8.self)),
        let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
    else { return }
    read(notification)
    let again = CKNotification(fromRemoteNotificationDictionary: userInfo)
    require(again?.notificationType == notification.notificationType, "one payload, one type")
    require(again?.notificationID == notification.notificationID, "one payload, one ID")
    require(again?.subscriptionID == notification.subscriptionID, "one payload, one subscription")
}

private func read(_ notification: CKNotification) {
    _ = notification.description
    _ = (notification.containerIdentifier, notification.subscriptionOwnerUserRecordID)
    _ = (notification.alertBody, notification.alertLocalizationKey, notification.badge)
    _ = (notification.alertLocalizationArgs, notification.title, notification.subtitle)
    _ = (notification.titleLocalizationKey, notification.titleLocalizationArgs)
    _ = (notification.subtitleLocalizationKey, notification.subtitleLocalizationArgs)
    _ = (notification.alertActionLocalizationKey, notification.alertLaunchImage)
    _ = (notification.soundName, notification.category, notification.isPruned)
    switch notification {
    case let query as CKQueryNotification:
        _ = (query.recordID?.recordName, query.databaseScope, query.queryNotificationReason)
        for (key, value) in query.recordFields ?? [:] { _ = "\(key) \(value)" }
    case let zone as CKRecordZoneNotification:
        _ = (zone.recordZoneID?.zoneName, zone.databaseScope)
    case let database as CKDatabaseNotification: _ = database.databaseScope
    default: break
    }
}
