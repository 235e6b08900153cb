// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

// The account of the user; extensions of the service.
extension ContainerConnection {
    func signIn(_ request: SignIn.Request) async throws(CKError) -> SignIn.Response {
        let call = WebServicesCall(
            nil,
            "account/signIn",
            body: JSONWriter.write { request.write(to: &$0) },
            isRead: false,
            needsUser: request.user == nil
        )
        return try await answer(to: call, options: RequestOptions()) {
            try SignIn.Response(from: &$0)
        }.value
    }

    func signOut() async throws(CKError) {
        let call = WebServicesCall(nil, "account/signOut", body: Array("{}".utf8), isRead: false)
        _ = try await answer(to: call, options: RequestOptions()) { try $0.skipValue() }
    }

    func fetchWebAuthToken(
        _ request: FetchWebAuthToken.Request,
        _ options: RequestOptions
    ) async throws(CKError) -> String {
        let call = WebServicesCall(
            nil,
            "account/webToken",
            body: JSONWriter.write { request.write(to: &$0) },
            isRead: false
        )
        return try await answer(to: call, options: options) {
            try FetchWebAuthToken.Response(from: &$0)
        }.value.webAuthToken
    }

    func modifyPermission(
        _ action: ModifyPermission.Action,
        _ options: RequestOptions = RequestOptions()
    ) async throws(CKError) -> PermissionAnswer? {
        let request = ModifyPermission.Request(.userDiscoverability, action)
        // Each action leads to the same end however often it is sent.
        let call = WebServicesCall(
            nil,
            "account/permission",
            body: JSONWriter.write { request.write(to: &$0) },
            isRead: true
        )
        return try await answer(to: call, options: options) {
            try ModifyPermission.Response(from: &$0)
        }.value.answer
    }
}
