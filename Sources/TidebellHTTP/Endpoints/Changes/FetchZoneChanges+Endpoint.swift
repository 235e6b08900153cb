// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `changes/zone` (web-services 5.6).
extension FetchZoneChanges: Endpoint {
    /// Answers with the records that changed in each zone since its token.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        let response = try await exchange.look(within: call.limits.quickPage) { reader in
            reader.readAhead { try readAhead(request, for: call, in: $0) }
            return try run(request, for: call, in: reader)
        }
        return await .json(estimate: response.byteEstimate) { response.write(to: &$0) }
    }
}
