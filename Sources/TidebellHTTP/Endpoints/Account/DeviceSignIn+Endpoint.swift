// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `account/deviceCode`, an extension: what `tidebell login` calls where nobody typed a password.
extension BeginDeviceSignIn: Endpoint {
    /// Answers with a code that the device shows.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let request = try exchange.read(Request.self)
        let cloud = exchange.cloud
        let signIn = try await exchange.appSignIn()
        guard !signIn.isOfWebApp else {
            throw WireError(
                .accessDenied,
                "this API token is of a web app, whose users sign in on the server's page: devices need one "
                    + "that was made without origins and callback")
        }
        if let name = request.deviceName, name.utf8.count > DeviceSignIns.mostNameBytes {
            throw WireError.badRequest(
                "deviceName is longer than \(DeviceSignIns.mostNameBytes) bytes")
        }
        let code = Secret.make(from: cloud.randomness)
        let userCode = try cloud.deviceSignIns.begin(
            Secret.hash(code), named: request.deviceName, in: exchange.call.container, signIn,
            from: exchange.request.origin, by: cloud.randomness)
        let response = Response(
            deviceCode: code, userCode: userCode,
            verificationURL: "\(exchange.baseURL)/\(ShowDeviceSignIn.route.path.action)",
            expiresIn: Int(DeviceSignIns.lifetime.components.seconds),
            interval: DeviceSignIns.interval)
        return .json { response.write(to: &$0) }
    }
}

extension Exchange {
    /// How users of the request's API token sign in.
    ///
    /// An app's token says whom its pages may tell of a sign-in: by a device's code whoever found the token in the app's
    /// pages would learn it as well.
    func appSignIn() async throws -> AppSignIn {
        guard let text = try target.parameter(WireProtocol.apiToken) else { return AppSignIn() }
        let hash = Secret.hash(text)
        let token = try await cloud.store.read { try $0.token(hash: hash, .api) }
        guard let token else { throw WireError.unknownAPIToken(call.container) }
        return token.signIn
    }
}

/// `account/deviceToken`, an extension.
extension FinishDeviceSignIn: Endpoint {
    /// Answers with the device's web token once somebody entered its code; it is renewed as long as the
    /// device uses it.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let request = try exchange.read(Request.self)
        let outcome = exchange.cloud.deviceSignIns.outcome(
            of: Secret.hash(request.deviceCode), in: exchange.call.container)
        let response: Response
        switch outcome {
        case nil:
            throw WireError(.notFound, "the code was used, or its time is over: begin again")
        case .pending: response = .pending
        case .entered(let user):
            response = .signedIn(
                try await exchange.signIn(.user(user)))
        }
        return .json { response.write(to: &$0) }
    }
}
