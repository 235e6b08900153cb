// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// `records/modify` (web-services 5.2).
extension ModifyRecords: Endpoint {
    /// Saves and deletes records; the answer means that they are durable, and
    /// never waits for pushes.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read { try Request(from: &$0, operationLimit: .max) }
        try exchange.check(itemCount: request.operations.count)
        return try await exchange.write {
            try run(request, for: call, in: $0)
        } json: {
            $0.write(to: &$1)
        }
    }
}
