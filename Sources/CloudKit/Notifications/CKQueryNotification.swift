// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// A push of a ``CKQuerySubscription``: one record that matches was changed (NOTIF-4).
///
/// See <https://developer.apple.com/documentation/cloudkit/ckquerynotification>.
open class CKQueryNotification: CKNotification, @unchecked Sendable {
    // Sendable: every stored property of this class is a constant.
    private let reason: Reason
    private let fields: Locked<[String: Any]?>

    /// What happened to the record.
    public enum Reason: Int, Sendable {
        /// It was created.
        case recordCreated = 1
        /// It was changed.
        case recordUpdated = 2
        /// It was deleted.
        case recordDeleted = 3
    }

    /// Creates a notification of the given content.
    init(_ content: WirePushPayload, reason: Reason, fields: [String: Any]?) {
        self.reason = reason
        self.fields = Locked(fields)
        super.init(content, type: NotificationType.query.rawValue)
    }

    /// What happened to the record; an update when the push does not name it.
    open var queryNotificationReason: CKQueryNotification.Reason { reason }

    /// The values of the desired keys, by field; nil when the push has none (NOTIF-5, PUSH-23).
    open var recordFields: [String: Any]? { fields.current }

    /// The ID of the record; nil when the push does not name it (NOTIF-10).
    open var recordID: CKRecord.ID? {
        content.recordName.map { CKRecordID(unchecked: $0, zoneID: content.zoneID ?? .default) }
    }

    /// The database of the record (PUSH-19).
    open var databaseScope: CKDatabase.Scope { content.databaseScope }
}
