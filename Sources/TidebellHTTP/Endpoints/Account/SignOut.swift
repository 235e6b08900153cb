// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `account/signOut`, an extension: what `tidebell logout` calls.
extension SignOut: Endpoint {
    /// Ends the session of the request's web token, and sends the device no pushes any
    /// more (SUB-51).
    ///
    /// With the token end those before and after it, and the sessions that were begun
    /// with any of them. They are refused a few seconds later at the latest, see
    /// ``CallerCache``.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        try exchange.readNothing()
        let call = exchange.call
        let user = try call.requireUser()
        try await exchange.cloud.store.writeInSteps(for: user.account) {
            try SignOut.run(for: call, of: user, as: $0)
        }
        return .json { EmptyBody().write(to: &$0) }
    }
}
