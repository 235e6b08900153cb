// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `records/lookup` (web-services 5.3).
extension LookupRecords: Endpoint {
    /// Answers with the records asked for.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        let returnsSyncToken = try exchange.target.returnsSyncToken
        let response = try await exchange.look(within: call.limits.quickPage) { reader in
            reader.readAhead { try readAhead(request, for: call, in: $0) }
            return try run(request, for: call, in: reader, returnsSyncToken: returnsSyncToken)
        }
        return await .json(estimate: response.byteEstimate) { response.write(to: &$0) }
    }
}
