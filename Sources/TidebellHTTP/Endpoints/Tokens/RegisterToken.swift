// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire
import TidebellPush

/// `tokens/register`: lets a push token receive pushes of this container too
/// (web-services 5.12).
extension RegisterToken: Endpoint {
    /// The longest push token: Apple's have 64 hex digits today and need not stay so.
    private static let tokenLength = 512
    /// The longest bundle ID.
    private static let topicLength = 255

    /// Answers with the same members as `tokens/create` for a token of ours,
    /// with `{}` for a native one.
    ///
    /// CloudKit JS keeps one token for all containers of a page and takes over
    /// what this answers; without the members it would stop polling.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let request = try exchange.read(Request.self)
        let text = try checkedToken(of: request)
        let topic = try checkedTopic(of: request)
        if let topic { try check(topic, of: exchange) }
        let now = exchange.call.now
        let (token, before) = try await exchange.putToken(
            text, clientID: try exchange.clientID(of: request)
        ) { known in
            var token =
                known
                ?? StoredPushToken(
                    token: text, apnsEnvironment: request.apnsEnvironment, courier: nil
                )
            token.topic = topic ?? token.topic
            token.registeredAt = now
            if token.isNative {
                try checkNative(text)
                // The environment of Apple's service is that of the newest registration.
                token.apnsEnvironment = request.apnsEnvironment
            }
            return token
        }
        if let before { exchange.cloud.couriers.refresh(courier: before) }
        guard let courier = token.courier else {
            exchange.cloud.nativeTokenRegistered(token, exchange.call.container)
            return .json { EmptyBody().write(to: &$0) }
        }
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

    /// Checks a token that must be Apple's, since it is none of ours.
    private static func checkNative(_ token: String) throws {
        guard Hex.bytes(token[...]) != nil else {
            throw WireError.badRequest(
                "the apnsToken must be one that tokens/create gave, or the hexadecimal digits of "
                    + "a device token"
            )
        }
    }

    /// Refuses the topic of another app: the key that signs pushes is good for all apps of
    /// the operator's team.
    private static func check(_ topic: String, of exchange: Exchange) throws {
        let container = exchange.call.container
        guard let configured = exchange.cloud.topic(container), configured != topic else { return }
        throw WireError.badRequest(
            "the topic '\(topic)' is not that of container '\(container.container)', which is "
                + "'\(configured)'; leave it out, or let the operator change it"
        )
    }

    private static func checkedTopic(of request: TokenRequest) throws -> String? {
        guard let topic = request.topic else { return nil }
        let isBundleID = topic.utf8.allSatisfy {
            let character = Character(Unicode.Scalar($0))
            return character.isASCII && (character.isLetter || character.isNumber)
                || ".-_".contains(character)
        }
        guard !topic.isEmpty, topic.utf8.count <= topicLength, isBundleID else {
            throw WireError.badRequest(
                "the topic must be a bundle ID: letters, digits, periods, hyphens and underscores, at "
                    + "most \(topicLength)"
            )
        }
        return topic
    }
}
