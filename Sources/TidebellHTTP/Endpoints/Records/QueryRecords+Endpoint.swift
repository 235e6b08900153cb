// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `records/query` (web-services 5.1).
extension QueryRecords: Endpoint {
    /// Answers with a page of the records that match.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        let returnsSyncToken = try exchange.target.returnsSyncToken
        let response = try await exchange.look(within: call.limits.quickQuery) { reader in
            reader.readAhead { try readAhead(request, for: call, in: $0) }
            return try run(request, for: call, in: reader, returnsSyncToken: returnsSyncToken)
        }
        return await .json(estimate: response.byteEstimate) { response.write(to: &$0) }
    }
}

extension RequestTarget {
    /// Whether the caller asks for the zone's sync token beside its answer, as
    /// iCloud.com's clients do (web-services 1.3).
    var returnsSyncToken: Bool {
        get throws { try parameter("getCurrentSyncToken")?.lowercased() == "true" }
    }
}
