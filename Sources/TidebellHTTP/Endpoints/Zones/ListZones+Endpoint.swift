// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire
import HTTPTypes

/// `zones/list` (web-services 5.8).
extension ListZones: Endpoint {
    /// Answers with all zones of the database.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        try exchange.readNothing()
        let call = exchange.call
        var response = try await exchange.readAtOnce { try run(for: call, in: $0) }
        // Callers by POST are of iCloud.com's kind, whose models know no `atomic`.
        response.sendsAtomic = exchange.request.method == .get
        return .json { response.write(to: &$0) }
    }
}
