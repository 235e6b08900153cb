// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `assets/rereference` (web-services 5.9).
extension RereferenceAssets: Endpoint {
    /// Answers with receipts of files that records hold.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read { try Request(from: &$0) }
        try exchange.check(itemCount: request.assets.count)
        let response = try await exchange.look(within: call.limits.quickPage) {
            try run(request, for: call, in: $0)
        }
        return .json { response.write(to: &$0) }
    }
}
