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
            CKRecordZoneID(unchecked: $0, ownerName: Self.ownerName(zoneOwnerName))
        }
    }

    /// The owner of the public database's zone, as pushes write it (PUSH-18).
    static let publicOwnerName = "_defaultOwner"

    /// Returns the owner name programs compare with.
    private static func ownerName(_ raw: String?) -> String {
        guard let raw, !raw.isEmpty, raw != publicOwnerName else { return CKCurrentUserDefaultName }
        return raw == CurrentUser.recordName ? CKCurrentUserDefaultName : raw
    }
}

/// The signed-in user, as far as the value classes need to know.
enum CurrentUser {
    private static let name = Locked<String?>(nil)

    /// The record name of the signed-in user; nil while unknown.
    ///
    /// Whoever signs a user in sets it: notifications then name the user's own zones
    /// with ``CKCurrentUserDefaultName`` (NOTIF-10).
    static var recordName: String? {
        get { name.current }
        set { name.current = newValue }
    }
}
