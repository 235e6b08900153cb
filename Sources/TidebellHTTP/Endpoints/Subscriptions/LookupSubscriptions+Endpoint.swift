// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `subscriptions/lookup` (web-services 5.10).
extension LookupSubscriptions: Endpoint {
    /// Answers with the subscriptions asked for.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        let response = try await exchange.readAtOnce {
            try run(request, for: call, in: $0)
        }
        return .json { response.write(to: &$0) }
    }
}
