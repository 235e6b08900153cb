// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `records/changes` (web-services 5.4), deprecated.
extension FetchRecordChanges: Endpoint {
    /// Answers with the records that changed in a zone since a token.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        let response = try await exchange.look(within: call.limits.quickPage) {
            try run(request, for: call, in: $0)
        }
        return await .json(estimate: response.byteEstimate) { response.write(to: &$0) }
    }
}
