// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// A push from a ``CKDatabaseSubscription``: something in the database changed (NOTIF-6).
///
/// ```swift
/// let push = CKNotification(fromRemoteNotificationDictionary: userInfo)
/// if let scope = (push as? CKDatabaseNotification)?.databaseScope {
///     let changes = try await container.database(with: scope).databaseChanges(since: store.token)
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
