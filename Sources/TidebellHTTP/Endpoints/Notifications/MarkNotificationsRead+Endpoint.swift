// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `notifications/markRead`, an extension.
extension MarkNotificationsRead: Endpoint {
    /// Marks notifications as read.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let user = try call.requireUser().id
        let request = try exchange.read(Request.self)
        let found = try await exchange.cloud.store.read {
            try find(request, for: call, in: $0)
        }
        if !found.sequences.isEmpty {
            try await exchange.transaction(.user(user)) {
                try $0.markNotificationsRead(found.sequences, of: user)
            }
        }
        return .json { found.response.write(to: &$0) }
    }
}
