// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

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

    /// Called once, with the IDs that are marked now; with `partialFailure` when the
    /// user's history does not have some.
    open var markNotificationsReadCompletionBlock: (([CKNotification.ID]?, (any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        let work = MarkNotificationsReadWork(
            notificationIDs: notificationIDs ?? [],
            container: containerConnection,
            completion: UnsafeTransfer(markNotificationsReadCompletionBlock)
        )
        return { await work.perform($0) }
    }
}

/// The work of a `CKMarkNotificationsReadOperation`: one request.
private struct MarkNotificationsReadWork: Sendable {
    let notificationIDs: [CKNotification.ID]
    let container: ContainerConnection
    // Transferred: called on the operation's callback queue only.
    let completion: UnsafeTransfer<(([CKNotification.ID]?, (any Error)?) -> Void)?>

    func perform(_ run: OperationRun) async -> LastCallback {
        let completion = completion
        do {
            let (marked, error) = try await mark(run)
            return LastCallback { completion.value?(marked, error) }
        } catch {
            return LastCallback { completion.value?(nil, error) }
        }
    }

    private func mark(
        _ run: OperationRun
    ) async throws(CKError) -> (marked: [CKNotification.ID], CKError?) {
        if let error = OperationLimit.check(notificationIDs.count) { throw error }
        guard !notificationIDs.isEmpty else { return ([], nil) }
        let request = MarkNotificationsRead.Request(
            notificationIDs: notificationIDs.map(\.rawValue)
        )
        let answer = try await container.send(MarkNotificationsRead.self, request, run.options)
        var outcomes = ItemOutcomes()
        outcomes.report = answer.report
        for failure in answer.value.failed {
            let error = CKError.server(failure.error, report: answer.report)
            outcomes.fail(CKNotification.ID(failure.notificationID), error)
        }
        let marked = answer.value.notificationIDs.map { CKNotification.ID($0) }
        return (marked, outcomes.completionError)
    }
}
