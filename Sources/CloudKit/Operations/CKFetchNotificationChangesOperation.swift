// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Fetches the notifications the user was sent, whole and from the oldest on (NOTIF-11).
///
/// One page: when ``moreComing`` is true afterwards, run another operation with the
/// token the completion block got.
/// See <https://developer.apple.com/documentation/cloudkit/ckfetchnotificationchangesoperation>.
@available(
    *, deprecated, message: "Use CKDatabaseSubscription and CKFetchDatabaseChangesOperation."
)
open class CKFetchNotificationChangesOperation: CKOperation, @unchecked Sendable {
    // Sendable: see CKOperation.
    private let pageWasNotLast = Locked(false)

    /// Creates an operation that fetches all notifications that the server keeps.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    /// The token of the last fetch; nil fetches all notifications that the server keeps.
    open var previousServerChangeToken: CKServerChangeToken?

    /// The maximum number of notifications to fetch; with 0, the default, the server decides.
    open var resultsLimit = 0

    /// Whether the server has more; set before the completion block is called.
    open var moreComing: Bool { pageWasNotLast.current }

    /// Called for each notification.
    ///
    /// A notification that was marked as read is reported again, with the type `readNotification`
    /// and only its ID (NOTIF-13).
    open var notificationChangedBlock: ((CKNotification) -> Void)?

    /// Called once, with the token or the error (NOTIF-12).
    open var fetchNotificationChangesCompletionBlock:
        ((CKServerChangeToken?, (any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        let completion = fetchNotificationChangesCompletionBlock
        return FetchNotificationChangesWork(
            token: previousServerChangeToken,
            resultsLimit: resultsLimit > 0 ? resultsLimit : nil,
            container: containerConnection,
            moreComing: pageWasNotLast,
            changed: UnsafeTransfer(notificationChangedBlock),
            completion: Completion { token, error in completion?(token, error) }
        ).plan
    }
}
