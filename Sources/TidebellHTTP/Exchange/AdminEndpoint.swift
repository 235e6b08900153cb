// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
package import TidebellWire

/// An endpoint for the operator, of one container: called with a management token
/// instead of a user's (`Authorization: Bearer …`).
package protocol AdminEndpoint: WireEndpoint {
    /// Answers a request; what the caller caused is thrown as `WireError`.
    static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse
}

extension Cloud {
    /// Fails with `AUTHENTICATION_FAILED` unless the request has a management
    /// token.
    func requireAdmin(_ request: WebRequest) async throws {
        guard let header = request.headers[.authorization] else {
            throw WireError.notAdmin("it has no header 'Authorization: Bearer TOKEN'")
        }
        let parts = header.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].isSameName(as: "Bearer") else {
            throw WireError.notAdmin("its header 'Authorization' is not 'Bearer TOKEN'")
        }
        let hash = Secret.hash(String(parts[1]))
        let now = time.now()
        guard try await store.read({ try $0.hasAdminToken(hash: hash, at: now) }) else {
            throw WireError.notAdmin("its management token is not known")
        }
        tokenUses.note(.kind(.management, hash), at: now)
    }
}

extension WireError {
    /// What an operation of the operator's failed with, as it is answered over the network.
    init(_ error: OperatorError) {
        let code: ServerErrorCode =
            switch error.code {
            case .unknown: .notFound
            case .taken: .exists
            case .invalid, .ambiguous, .unsuitable, .tooMany, .circumstances: .badRequest
            }
        self.init(code, error.description)
    }

    fileprivate static func notAdmin(_ reason: String) -> WireError {
        WireError(
            .authenticationFailed,
            "the request is not the operator's: \(reason); "
                + "make one with `tidebell admin-token create`"
        )
    }
}
