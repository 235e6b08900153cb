// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// A push from a ``CKDatabaseSubscription``: something in the database changed (NOTIF-6).
///
/// ```swift
/// let push = CKNotification(fromRemoteNotificationDictionary: userInfo)
/// if let scope = (push as? CKDatabaseNotification)?.databaseScope {
///     let database = container.database(with: scope)
///     let changes = try await database.databaseChanges(since: store.token)
///     for modification in changes.modifications { store.fetchLater(modification.zoneID) }
///     for deletion in changes.deletions { store.remove(deletion.zoneID) }
///     store.token = changes.changeToken
/// }
/// ```
///
/// See <https://developer.apple.com/documentation/cloudkit/ckdatabasenotification>.
open class CKDatabaseNotification: CKNotification, @unchecked Sendable {
    /// Creates a notification of the given content.
    init(_ content: WirePushPayload) {
        super.init(content, type: NotificationType.database.rawValue)
    }

    /// The database that changed (PUSH-19).
    open var databaseScope: CKDatabase.Scope { content.databaseScope }
}
