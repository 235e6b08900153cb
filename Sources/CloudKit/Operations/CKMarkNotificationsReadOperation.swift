// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// Marks notifications as read, for all devices of the user (NOTIF-13).
///
/// See <https://developer.apple.com/documentation/cloudkit/ckmarknotificationsreadoperation>.
@available(
    *, deprecated, message: "Use CKDatabaseSubscription and CKFetchDatabaseChangesOperation."
)
open class CKMarkNotificationsReadOperation: CKOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation without notifications.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(notificationIDsToMarkRead notificationIDs: [CKNotification.ID]) {
        self.init()
        self.notificationIDs = notificationIDs
    }

    /// The IDs of the notifications to mark; at most 400.
    open var notificationIDs: [CKNotification.ID]?

    /// Called once, with the IDs that are now marked; with `partialFailure` if some are not in the
    /// user's history.
    open var markNotificationsReadCompletionBlock: (([CKNotification.ID]?, (any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        let notificationIDs = notificationIDs ?? []
        let container = containerConnection
        let completion = markNotificationsReadCompletionBlock
        return RequestWork(completion: Completion { completion?($0, $1) }) {
            ledger throws(CKError) in
            try await container.markRead(notificationIDs, &ledger)
        }.plan
    }
}

extension ContainerConnection {
    /// Marks notifications as read; returns the IDs of those that are marked now.
    fileprivate func markRead(
        _ notificationIDs: [CKNotification.ID], _ ledger: inout OperationLedger
    ) async throws(CKError) -> [CKNotification.ID] {
        if let error = OperationLimit.check(notificationIDs.count) { throw error }
        guard !notificationIDs.isEmpty else { return [] }
        let request = MarkNotificationsRead.Request(
            notificationIDs: notificationIDs.map(\.rawValue)
        )
        let answer = try await send(MarkNotificationsRead.self, request, ledger.options)
        ledger.report = answer.report
        for failure in answer.value.failed {
            let error = CKError.server(failure.error, report: answer.report)
            ledger.fail(CKNotification.ID(failure.notificationID), error)
        }
        return answer.value.notificationIDs.map { CKNotification.ID($0) }
    }
}
