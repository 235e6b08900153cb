// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `records/accept` (web-services 5.7).
extension AcceptShares: Endpoint {
    /// Makes the caller a participant of each share, one after the other: each is in a database
    /// of its own.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        var results: [ShareResult] = []
        for guid in request.shortGUIDs {
            do {
                let key = try await exchange.cloud.store.read {
                    try database(ofShare: guid.value, for: call, in: $0)
                }
                let metadata = try await exchange.transaction(.database(key)) {
                    try run(guid, for: call, in: $0)
                }
                results.append(.share(metadata))
            } catch let error as WireError where error.isAboutShare {
                results.append(.failed(shortGUID: guid.value, error.visible(to: call)))
            }
        }
        let response = Response(results: results)
        exchange.countRefusals(in: response)
        return .json { response.write(to: &$0) }
    }
}

extension WireError {
    /// Whether it concerns one share, and not all that the caller asks for now.
    fileprivate var isAboutShare: Bool { code == .notFound || code == .badRequest }
}
