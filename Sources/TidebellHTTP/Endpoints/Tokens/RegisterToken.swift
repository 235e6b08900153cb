// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// `tokens/register`: lets a push token tell of this container too
/// (web-services 5.12).
package enum RegisterToken: Endpoint {
    /// The longest push token; Apple's are 64 hex digits.
    private static let tokenLength = 512

    /// Answers with the same members as `tokens/create` for a token of ours,
    /// with `{}` for a native one.
    ///
    /// CloudKit JS keeps one token for all containers of a page and takes over
    /// what this answers; without the members it would stop polling.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let request = try exchange.read { try TokenRequest(from: &$0) }
        let text = try checkedToken(of: request)
        let known = try await exchange.cloud.store.read { try $0.pushToken(text) }
        var token =
            known
            ?? StoredPushToken(
                token: text, apnsEnvironment: request.apnsEnvironment, courier: nil
            )
        token.topic = request.topic ?? token.topic
        try await exchange.put(token, clientID: try exchange.clientID(of: request))
        guard let courier = token.courier else { return .json { $0.object { _ in } } }
        exchange.cloud.couriers.refresh(courier: courier)
        let response = TokenResponse(
            apnsEnvironment: token.apnsEnvironment,
            apnsToken: token.token,
            webcourierURL: exchange.courierURL(courier)
        )
        return .json { response.write(to: &$0) }
    }

    private static func checkedToken(of request: TokenRequest) throws -> String {
        guard let token = request.apnsToken else {
            throw JSONError("missing required field 'apnsToken'")
        }
        guard !token.isEmpty, token.utf8.count <= tokenLength else {
            throw WireError.badRequest("the apnsToken must have 1 to \(tokenLength) bytes")
        }
        return token
    }
}
