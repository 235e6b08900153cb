// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TidebellWire

/// A push from CloudKit, which tells the app that something changed (PUSH-1).
///
/// `CKNotification(fromRemoteNotificationDictionary:)` returns the subclass for the kind of push:
/// cast the result, or check ``notificationType``.
///
/// ```swift
/// switch CKNotification(fromRemoteNotificationDictionary: userInfo) {
/// case let change as CKDatabaseNotification: await fetchChanges(of: change.databaseScope)
/// case let change as CKRecordZoneNotification: await fetchChanges(in: change.recordZoneID)
/// case let change as CKQueryNotification: await fetchRecord(change.recordID)
/// default: break  // not of CloudKit
/// }
/// ```
///
/// See <https://developer.apple.com/documentation/cloudkit/cknotification>.
open class CKNotification: NSObject, __CKRemoteNotification, @unchecked Sendable {
    // Sendable: every stored property of this class is a constant.
    let content: WirePushPayload
    private let type: Int

    /// Creates a notification of the given content.
    init(_ content: WirePushPayload, type: Int = 0) {
        self.content = content
        self.type = type
        super.init()
    }

    /// The kind of the notification (NOTIF-1).
    ///
    /// NB: for a push of an unknown kind, Apple's class returns the raw value 0, which no case has;
    /// this one returns `.readNotification`, which no push has (PUSH-21).
    open var notificationType: CKNotification.NotificationType {
        NotificationType(rawValue: type) ?? .readNotification
    }

    /// The ID of the push, the same on all devices of the user (PUSH-7, PUSH-9).
    open var notificationID: CKNotification.ID? {
        content.notificationID.map { CKNotificationID($0) }
    }

    /// The container of the change.
    open var containerIdentifier: String? { content.containerIdentifier }

    /// The ID of the user the subscription belongs to (SUB-52).
    open var subscriptionOwnerUserRecordID: CKRecord.ID? {
        content.ownerRecordName.map { CKRecordID(unchecked: $0, zoneID: .default) }
    }

    /// Whether the server left values out because the push would have been too large (NOTIF-7).
    open var isPruned: Bool { content.isPruned }

    /// The ID of the subscription that fired.
    open var subscriptionID: CKSubscription.ID? { content.subscriptionID }

    /// The text of the alert.
    @available(*, deprecated, message: "Read the system's notification instead.")
    open var alertBody: String? { content.alert.body }

    /// The key of the alert's text in the app's localized strings.
    @available(*, deprecated, message: "Read the system's notification instead.")
    open var alertLocalizationKey: String? { content.alert.localizationKey }

    /// The values that fill the localized text of the alert.
    @available(*, deprecated, message: "Read the system's notification instead.")
    open var alertLocalizationArgs: [String]? { content.alert.localizationArgs }

    /// The title of the alert.
    @available(*, deprecated, message: "Read the system's notification instead.")
    open var title: String? { content.alert.title }

    /// The key of the title in the app's localized strings.
    @available(*, deprecated, message: "Read the system's notification instead.")
    open var titleLocalizationKey: String? { content.alert.titleLocalizationKey }

    /// The values that fill the localized title.
    @available(*, deprecated, message: "Read the system's notification instead.")
    open var titleLocalizationArgs: [String]? { content.alert.titleLocalizationArgs }

    /// The subtitle of the alert.
    @available(*, deprecated, message: "Read the system's notification instead.")
    open var subtitle: String? { content.alert.subtitle }

    /// The key of the subtitle in the app's localized strings.
    @available(*, deprecated, message: "Read the system's notification instead.")
    open var subtitleLocalizationKey: String? { content.alert.subtitleLocalizationKey }

    /// The values that fill the localized subtitle.
    @available(*, deprecated, message: "Read the system's notification instead.")
    open var subtitleLocalizationArgs: [String]? { content.alert.subtitleLocalizationArgs }

    /// The key of the action button's text.
    @available(*, deprecated, message: "Read the system's notification instead.")
    open var alertActionLocalizationKey: String? { content.alert.actionLocalizationKey }

    /// The image shown while the app starts from the alert.
    @available(*, deprecated, message: "Read the system's notification instead.")
    open var alertLaunchImage: String? { content.alert.launchImage }

    /// The number on the app's icon.
    @available(*, deprecated, message: "Read the system's notification instead.")
    open var badge: NSNumber? { content.badge.map { NSNumber(value: $0) } }

    /// The sound of the alert.
    @available(*, deprecated, message: "Read the system's notification instead.")
    open var soundName: String? { content.soundName }

    /// The category of actions the alert offers.
    @available(*, deprecated, message: "Read the system's notification instead.")
    open var category: String? { content.category }

    /// Kind and IDs as text, for logs and debuggers.
    open override var description: String {
        "<\(Swift.type(of: self)): notificationID=\(content.notificationID ?? "nil"), "
            + "containerIdentifier=\(containerIdentifier ?? "nil"), "
            + "subscriptionID=\(subscriptionID ?? "nil")>"
    }
}

extension CKNotification {
    /// The kinds of notifications (NOTIF-1).
    public enum NotificationType: Int, Sendable {
        /// A ``CKQueryNotification``.
        case query = 1
        /// A ``CKRecordZoneNotification``.
        case recordZone = 2
        /// A notification that was marked as read; it has no content.
        case readNotification = 3
        /// A ``CKDatabaseNotification``.
        case database = 4
    }
}

/// Gives ``CKNotification`` and its subclasses the initializer that picks the subclass.
///
/// NB: an initializer of a class cannot return a subclass; one of a protocol can.
public protocol __CKRemoteNotification {}

extension __CKRemoteNotification {
    /// Creates a notification from the dictionary that an app receives with a push.
    ///
    /// The result is a ``CKQueryNotification``, ``CKRecordZoneNotification`` or
    /// ``CKDatabaseNotification`` if the push is of that kind (NOTIF-1). Nil if the push is not
    /// from CloudKit (PUSH-16), or not of the class that the initializer is called on.
    public init?(fromRemoteNotificationDictionary notificationDictionary: [AnyHashable: Any]) {
        // NB: not in one step: casting the optional, optimized code casts what is not there.
        guard let notification = CKNotification.notification(from: notificationDictionary),
            let notification = notification as? Self
        else { return nil }
        self = notification
    }
}
