// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// `account/signOut`, an extension: what `tidebell logout` calls.
package enum SignOut: Endpoint {
    /// Ends the web token of the request, and tells the device no pushes any more
    /// (SUB-51).
    ///
    /// The token is refused a few seconds later at the latest, see ``CallerCache``.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        try exchange.readNothing()
        let call = exchange.call
        let user = try call.requireUser().id
        let token = try exchange.webTokenHash()
        try await exchange.cloud.store.write { transaction in
            if let token { try transaction.removeWebToken(hash: token) }
            if let device = call.clientID {
                try transaction.removeDevice(clientID: device, of: user)
            }
        }
        return .json { $0.object { _ in } }
    }
}
