// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `subscriptions/list` (web-services 5.10).
extension ListSubscriptions: Endpoint {
    /// Answers with the caller's subscriptions in the database.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        try exchange.readNothing()
        let call = exchange.call
        let response = try await exchange.readAtOnce { try run(for: call, in: $0) }
        return .json { response.write(to: &$0) }
    }
}
