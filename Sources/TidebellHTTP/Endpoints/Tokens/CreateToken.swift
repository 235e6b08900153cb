// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire
import Foundation

/// `tokens/create`: gives a web client a push token and the courier that
/// delivers its pushes (web-services 5.12, SUB-50).
extension CreateToken: Endpoint {
    /// Answers with the new token and its courier.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let request = try exchange.read(Request.self)
        let randomness = exchange.cloud.randomness
        let courier = Secret.make(from: randomness)
        let token = StoredPushToken(
            token: Secret.make(from: randomness),
            apnsEnvironment: request.apnsEnvironment,
            courier: courier,
            topic: request.topic,
            registeredAt: exchange.call.now
        )
        _ = try await exchange.putToken(
            token.token, clientID: try exchange.clientID(of: request)
        ) { _ in token }
        let response = TokenResponse(
            apnsEnvironment: token.apnsEnvironment,
            apnsToken: token.token,
            webcourierURL: exchange.courierURL(courier)
        )
        return .json { response.write(to: &$0) }
    }
}

extension Exchange {
    /// Returns the device a token request is for: the one of the body, else the
    /// one of the query, else a new one.
    func clientID(of request: TokenRequest) throws -> String {
        if let clientID = request.clientId, !clientID.isEmpty {
            return try RequestTarget.checkedClientID(clientID)
        }
        return call.clientID ?? call.uuids[0].uuidString.lowercased()
    }

    /// Stores a token for the caller's device; returns it as it is stored, and the courier
    /// it had.
    ///
    /// What it is stored as follows from what is known of it, in the same transaction: a
    /// registration that was under way at the same time may have changed that. A courier that
    /// served another account, or serves nobody any more, gets another URL: whoever knew the one
    /// before receives nothing of the caller's.
    ///
    /// A user has a bounded number of tokens; a new one beyond it replaces
    /// the one registered longest ago, since nothing reports that a token is out of use.
    func putToken(
        _ text: String, clientID: String,
        as make: @escaping @Sendable (_ known: StoredPushToken?) throws -> StoredPushToken
    ) async throws -> (token: StoredPushToken, courierBefore: String?) {
        let call = call
        let user = try call.requireUser()
        let limit = cloud.limits.pushTokensPerUser
        let newCourier = Secret.make(from: cloud.randomness)
        let (token, courier, gone) = try await transaction(
            registering: clientID, pushToken: text, of: user
        ) { transaction in
            let known = try transaction.pushToken(text)
            var token = try make(known)
            if let courier = known?.courier,
                let owned = try transaction.pushToken(courier: courier, at: call.now)
            {
                let owners = try transaction.users(Set(owned.devices.map(\.user)))
                if !owners.values.contains(where: { $0.account == user.account }) {
                    token.courier = newCourier
                }
            }
            let device = try transaction.registerDevice(
                clientID: clientID, user: user.id, container: call.container,
                atMost: call.limits.devicesPerUser, at: call.now
            )
            try transaction.putPushToken(token, notifying: device.key, in: call.session)
            let gone = try transaction.trimPushTokens(of: user.id, to: limit)
            return (token, known?.courier, gone)
        }
        if gone > 0 { cloud.shares.metrics.refused(.pushTokensPerUser) }
        return (token, courier)
    }

    /// The URL a courier is polled at: whoever knows it may.
    func courierURL(_ courier: String) -> String {
        baseURL + PollCourier.route.path.stem + courier
    }
}
