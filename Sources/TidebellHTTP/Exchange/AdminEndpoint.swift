// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
package import TidebellWire

/// An endpoint for the operator, of one container: called with a management token
/// instead of a user's (`Authorization: Bearer …`).
package protocol AdminEndpoint: WireEndpoint {
    /// The most bytes of a request's body.
    static var bodyBytes: Int { get }

    /// Answers a request; what the caller caused is thrown as `WireError`.
    static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse

    /// The same for one that notes who asked: the name of the management token.
    static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, by author: String,
        in cloud: Cloud
    ) async throws -> WebResponse
}

extension AdminEndpoint {
    package static var bodyBytes: Int { 64 * 1024 }

    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, by author: String,
        in cloud: Cloud
    ) async throws -> WebResponse {
        try await respond(to: target, body, of: container, in: cloud)
    }
}

extension Cloud {
    /// Returns the name of the request's management token; fails with `AUTHENTICATION_FAILED`
    /// unless it has one that is good for this.
    ///
    /// - Parameter task: What a token may be good for alone and still do; nil for what takes one that is good for
    ///   everything.
    @discardableResult
    func requireAdmin(
        _ request: WebRequest, for task: ManagementTask? = nil
    ) async throws -> String {
        guard let header = request.headers[.authorization] else {
            throw WireError.notAdmin("it has no header 'Authorization: Bearer TOKEN'")
        }
        let parts = header.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].isSameName(as: "Bearer") else {
            throw WireError.notAdmin("its header 'Authorization' is not 'Bearer TOKEN'")
        }
        let hash = Secret.hash(String(parts[1]))
        let now = time.now()
        let token = try await store.read { try $0.token(hash: hash, .management) }
        guard let token, token.isValid(at: now) else {
            throw WireError.notAdmin("its management token is not known")
        }
        if let only = token.task, only != task {
            throw WireError.notAdmin("its management token is good for \(only.rawValue) alone")
        }
        tokenUses.note(.kind(.management, hash), at: now)
        return token.name
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
