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
        var body: String?
        var localizationKey: String?
        var localizationArgs: [String]?
        var title: String?
        var titleLocalizationKey: String?
        var titleLocalizationArgs: [String]?
        var subtitle: String?
        var subtitleLocalizationKey: String?
        var subtitleLocalizationArgs: [String]?
        var actionLocalizationKey: String?
        var launchImage: String?
        var badge: Int?
        var soundName: String?
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
        zoneName.map {
            CKRecordZoneID(unchecked: $0, ownerName: CurrentUser.ownerName(of: zoneOwnerName))
        }
    }
}
