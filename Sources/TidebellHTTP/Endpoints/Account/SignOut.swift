// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

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
        // Of anybody, also of a user who is signed out already: it only removes.
        // The session last: a user who is still signed in can sign out again.
        try await exchange.cloud.store.writeInSteps(for: user.account) { steps in
            if let device = call.clientID {
                try steps.write(.user(user.id)) {
                    try $0.removeDevice(clientID: device, of: user.id)
                }
            }
            if let session = call.session {
                try steps.write(.account(user.account)) { try $0.removeSession(session) }
            }
        }
        return .json { EmptyBody().write(to: &$0) }
    }
}
