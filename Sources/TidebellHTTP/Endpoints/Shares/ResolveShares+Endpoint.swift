// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `records/resolve` (web-services 5.7).
extension ResolveShares: Endpoint {
    /// Answers with what shares are.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        let response = try await exchange.look(within: call.limits.quickPage) {
            try run(request, for: call, in: $0)
        }
        return .json { response.write(to: &$0) }
    }
}
