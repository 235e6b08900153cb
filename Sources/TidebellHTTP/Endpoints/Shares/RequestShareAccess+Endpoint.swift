// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `records/requestAccess`, beside `records/accept`.
extension RequestShareAccess: Endpoint {
    /// Notes that the caller asks for access to each share, one after the other: each is in a database
    /// of its own.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        var results: [Result] = []
        for guid in request.shortGUIDs {
            do {
                let key = try await exchange.cloud.store.read {
                    try database(ofShare: guid.value, for: call, in: $0)
                }
                try await exchange.transaction(.database(key)) {
                    try run(guid.value, for: call, in: $0)
                }
                results.append(.requested(shortGUID: guid.value))
            } catch let error as WireError where error.isAboutShare {
                results.append(.failed(shortGUID: guid.value, error.visible(to: call)))
            }
        }
        let response = Response(results: results)
        exchange.countRefusals(in: response)
        return .json { response.write(to: &$0) }
    }
}
