// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CKNotification {
    /// What a push says, whatever its kind.
    struct Content: Sendable, Equatable {
        /// The ID of the push.
        var nid: String?

        /// The container of the change.
        var containerIdentifier: String?

        /// The record name of the user the subscription belongs to.
        var ownerName: String?

        /// Whether the server left something out for want of space.
        var isPruned = false

        /// The ID of the subscription that fired.
        var subscriptionID: String?

        /// The number of the database: 1 private, 2 public, 3 shared (PUSH-18).
        var database: Int?

        /// The name of the zone that changed.
        var zoneName: String?

        /// The owner of the zone, as the push names it (NOTIF-10).
        var zoneOwnerName: String?

        /// The name of the record that changed.
        var recordName: String?

        /// What the system shows.
        var alert = Alert()
    }

    /// What the system shows of a push: the `aps` part (PUSH-24, PUSH-25).
    struct Alert: Sendable, Equatable {
        /// The text.
        var body: String?
        /// The key of the text in the app's localized strings.
        var localizationKey: String?
        /// The values that fill the localized text.
        var localizationArgs: [String]?
        /// The title.
        var title: String?
        /// The key of the title in the app's localized strings.
        var titleLocalizationKey: String?
        /// The values that fill the localized title.
        var titleLocalizationArgs: [String]?
        /// The subtitle.
        var subtitle: String?
        /// The key of the subtitle in the app's localized strings.
        var subtitleLocalizationKey: String?
        /// The values that fill the localized subtitle.
        var subtitleLocalizationArgs: [String]?
        /// The key of the action button's text.
        var actionLocalizationKey: String?
        /// The image shown while the app starts.
        var launchImage: String?
        /// The number on the app's icon.
        var badge: Int?
        /// The sound.
        var soundName: String?
        /// The category of actions.
        var category: String?
    }
}

extension CKNotification.Content {
    /// The ID of the push as an object.
    var notificationID: CKNotificationID? { nid.map { CKNotificationID($0) } }

    /// The database; the private one when the push does not say or names no known one.
    var databaseScope: CKDatabase.Scope {
        switch database {
        case 2: .public
        case 3: .shared
        default: .private
        }
    }

    /// The zone; nil when the push does not say.
    var zoneID: CKRecordZoneID? {
        zoneName.map { CKRecordZoneID(unchecked: $0, ownerName: zoneOwner.name(zoneOwnerName)) }
    }

    /// How the push names the owners of zones.
    var zoneOwner: ZoneOwner { ZoneOwner(database: database, user: ownerName) }
}
