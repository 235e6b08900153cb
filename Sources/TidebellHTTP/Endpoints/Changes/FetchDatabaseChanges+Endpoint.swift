// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `changes/database` (web-services 5.5).
extension FetchDatabaseChanges: Endpoint {
    /// Answers with the zones that changed since a token.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        let response = try await exchange.readAtOnce {
            try run(request, for: call, in: $0)
        }
        return .json { response.write(to: &$0) }
    }
}
