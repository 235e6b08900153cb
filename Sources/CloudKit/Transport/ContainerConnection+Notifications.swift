// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

// The history of notifications; extensions of the service.
extension ContainerConnection {
    func fetchNotificationChanges(
        _ request: FetchNotificationChanges.Request,
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<FetchNotificationChanges.Response> {
        let call = WebServicesCall(
            nil,
            "notifications/changes",
            body: JSONWriter.write { request.write(to: &$0) },
            isRead: true
        )
        return try await answer(to: call, options: options) {
            try FetchNotificationChanges.Response(from: &$0)
        }
    }

    func markNotificationsRead(
        _ request: MarkNotificationsRead.Request,
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<MarkNotificationsRead.Response> {
        let call = WebServicesCall(
            nil,
            "notifications/markRead",
            body: JSONWriter.write { request.write(to: &$0) },
            isRead: false
        )
        return try await answer(to: call, options: options) {
            try MarkNotificationsRead.Response(from: &$0)
        }
    }

    func modifyBadge(
        _ request: ModifyBadge,
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<ModifyBadge> {
        let call = WebServicesCall(
            nil,
            "notifications/badge",
            body: JSONWriter.write { request.write(to: &$0) },
            isRead: false
        )
        return try await answer(to: call, options: options) { try ModifyBadge(from: &$0) }
    }
}
