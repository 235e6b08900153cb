// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// The work of a `CKFetchNotificationChangesOperation`: one page.
struct FetchNotificationChangesWork: OperationWork {
    let token: CKServerChangeToken?
    let resultsLimit: Int?
    let container: ContainerConnection
    /// Where the operation looks for whether there is more.
    let moreComing: Locked<Bool>
    // Transferred: called on the operation's callback queue only.
    let changed: UnsafeTransfer<((CKNotification) -> Void)?>
    let completion: Completion<CKServerChangeToken>

    func perform(_ ledger: inout OperationLedger) async throws(CKError) -> CKServerChangeToken {
        let request = FetchNotificationChanges.Request(
            serverChangeToken: try token?.syncToken(),
            resultsLimit: resultsLimit
        )
        let answer = try await container.send(
            FetchNotificationChanges.self, request, ledger.options
        )
        var notifications: [CKNotification] = []
        for entry in answer.value.notifications {
            notifications.append(try CKNotification.make(entry, answer.report))
        }
        for notification in notifications {
            ledger.run.callbacks.enqueue { changed.value?(notification) }
        }
        moreComing.current = answer.value.moreComing
        return CKServerChangeToken(syncToken: answer.value.serverChangeToken)
    }
}

extension CKNotification {
    /// Returns the notification of an entry of the history, as the class of its kind.
    fileprivate static func make(
        _ entry: FetchNotificationChanges.Entry,
        _ report: CKError.ServerReport
    ) throws(CKError) -> CKNotification {
        guard let payload = entry.payload else {
            var content = WirePushPayload()
            content.notificationID = entry.notificationID
            return CKNotification(content, type: NotificationType.readNotification.rawValue)
        }
        let text = String(decoding: payload, as: UTF8.self)
        guard let userInfo = NotificationReceiver.userInfo(text),
            let notification = CKNotification.notification(from: userInfo)
        else {
            throw .server(
                .internalError,
                "The server's answer holds a notification, '\(entry.notificationID)', that "
                    + "cannot be read.",
                report: report
            )
        }
        return notification
    }
}
