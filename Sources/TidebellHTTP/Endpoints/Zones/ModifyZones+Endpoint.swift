// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `zones/modify` (web-services 5.8).
extension ModifyZones: Endpoint {
    /// Creates and deletes zones.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        return try await exchange.write(try .database(of: call)) { reader in
            try readAhead(request, for: call, in: reader)
        } _: { transaction -> StepOutcome<Response, SchemaGrowth> in
            .done(try run(request, for: call, in: transaction))
        } json: {
            $0.write(to: &$1)
        }
    }
}
