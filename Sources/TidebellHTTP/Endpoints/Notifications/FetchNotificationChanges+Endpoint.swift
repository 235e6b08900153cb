// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `notifications/changes`, an extension.
extension FetchNotificationChanges: Endpoint {
    /// Gives out a page of the user's history.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let user = try call.requireUser().id
        let request = try exchange.read(Request.self)
        let page = try await exchange.cloud.store.read {
            try Self.page(request, for: call, in: $0)
        }
        if !page.newMarks.isEmpty {
            try await exchange.transaction(.user(user)) {
                try $0.markReadMarksReported(page.newMarks, of: user)
            }
        }
        return .json { page.response.write(to: &$0) }
    }
}
