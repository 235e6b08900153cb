// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

/// The work of a `CKFetchNotificationChangesOperation`: one page.
struct FetchNotificationChangesWork: Sendable {
    /// The app's callbacks.
    struct Callbacks: @unchecked Sendable {
        // Sendable: called on the operation's callback queue only.
        var changed: ((CKNotification) -> Void)?
        var completion: ((CKServerChangeToken?, (any Error)?) -> Void)?
    }

    let token: CKServerChangeToken?
    let resultsLimit: Int?
    let container: ContainerConnection
    /// Where the operation looks for whether there is more.
    let moreComing: Locked<Bool>
    let callbacks: Callbacks

    /// Does the work; returns the callback with the result.
    func perform(_ run: OperationRun) async -> LastCallback {
        let callbacks = callbacks
        do {
            let token = try await fetch(run)
            return LastCallback { callbacks.completion?(token, nil) }
        } catch {
            return LastCallback { callbacks.completion?(nil, error) }
        }
    }

    private func fetch(_ run: OperationRun) async throws(CKError) -> CKServerChangeToken {
        let request = FetchNotificationChanges.Request(
            serverChangeToken: try token?.syncToken(),
            resultsLimit: resultsLimit
        )
        let answer = try await container.send(
            FetchNotificationChanges.self, request, run.options
        )
        var notifications: [CKNotification] = []
        for entry in answer.value.notifications {
            notifications.append(try CKNotification.make(entry, answer.report))
        }
        let callbacks = callbacks
        for notification in notifications {
            run.callbacks.enqueue { callbacks.changed?(notification) }
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
