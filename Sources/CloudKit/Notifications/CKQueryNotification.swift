// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// A push from a ``CKQuerySubscription``: a matching record was created, changed or deleted
/// (NOTIF-4).
///
/// ```swift
/// if let push = CKNotification(fromRemoteNotificationDictionary: userInfo) as? CKQueryNotification,
///     let recordID = push.recordID
/// {
///     switch push.queryNotificationReason {
///     case .recordCreated, .recordUpdated:
///         store.keep(try await database.record(for: recordID))
///     case .recordDeleted:
///         store.remove(recordID)
///     }
/// }
/// ```
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

    /// What happened to the record; `recordUpdated` if the push does not name a reason.
    open var queryNotificationReason: CKQueryNotification.Reason { reason }

    /// The values of the desired keys, by field; nil when the push has none (NOTIF-5, PUSH-23).
    open var recordFields: [String: Any]? { fields.current }

    /// The ID of the record; nil if the push does not name it (NOTIF-10).
    open var recordID: CKRecord.ID? {
        content.recordName.map { CKRecordID(unchecked: $0, zoneID: content.zoneID ?? .default) }
    }

    /// The database of the record (PUSH-19).
    open var databaseScope: CKDatabase.Scope { content.databaseScope }
}
