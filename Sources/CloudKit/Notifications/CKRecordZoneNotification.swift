// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// A push from a ``CKRecordZoneSubscription``: something in the zone changed (NOTIF-6).
///
/// ```swift
/// let push = CKNotification(fromRemoteNotificationDictionary: userInfo)
/// if let zoneID = (push as? CKRecordZoneNotification)?.recordZoneID {
///     let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: store.token)
///     for (_, result) in changes.modificationResultsByID { store.keep(try result.get().record) }
///     for deletion in changes.deletions { store.remove(deletion.recordID) }
///     store.token = changes.changeToken
/// }
/// ```
///
/// See <https://developer.apple.com/documentation/cloudkit/ckrecordzonenotification>.
open class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
    /// Creates a notification of the given content.
    init(_ content: WirePushPayload) {
        super.init(content, type: NotificationType.recordZone.rawValue)
    }

    /// The zone that changed; nil if the push does not name it (NOTIF-10).
    open var recordZoneID: CKRecordZone.ID? { content.zoneID }

    /// The database of the zone (PUSH-19).
    open var databaseScope: CKDatabase.Scope { content.databaseScope }
}
