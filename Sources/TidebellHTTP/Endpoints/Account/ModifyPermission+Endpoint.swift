// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `account/permission`, an extension (ACCT-6).
extension ModifyPermission: Endpoint {
    /// Reads or changes a permission of the caller.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        let user = try call.requireUser().id
        let response = try await exchange.transaction(.user(user)) {
            try run(request, for: call, in: $0)
        }
        return .json { response.write(to: &$0) }
    }
}
