// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `users/caller`, and `users/current`, its older name (web-services 5.11).
extension FetchCaller: Endpoint {
    /// Answers with the caller's identity, unwrapped.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        try exchange.readNothing()
        let user = try exchange.call.requireUser()
        return .json {
            CallerResponse(userRecordName: user.recordName).write(to: &$0)
        }
    }
}
