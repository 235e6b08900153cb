// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// A push of a ``CKRecordZoneSubscription``: something in the zone changed (NOTIF-6).
///
/// See <https://developer.apple.com/documentation/cloudkit/ckrecordzonenotification>.
open class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
    /// Creates a notification of the given content.
    init(_ content: WirePushPayload) {
        super.init(content, type: NotificationType.recordZone.rawValue)
    }

    /// The zone that changed; nil when the push does not name it (NOTIF-10).
    open var recordZoneID: CKRecordZone.ID? { content.zoneID }

    /// The database of the zone (PUSH-19).
    open var databaseScope: CKDatabase.Scope { content.databaseScope }
}
