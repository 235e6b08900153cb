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
        let origin = exchange.request.origin
        let now = exchange.call.now
        let device = StoredDeviceSignIn(
            hash: Secret.hash(code), userCode: "", container: exchange.call.container,
            methods: signIn.methods, deviceName: request.deviceName,
            network: origin.distinguishing, address: origin.sharing,
            expiresAt: now.advanced(by: DeviceSignIns.lifetime))
        let codes = DeviceSignIns.codes(
            drawn: cloud.randomness.makeBytes(DeviceSignIns.drawnBytes))
        // Whoever is refused, as a crowd may be, costs no write.
        try await cloud.store.read { try DeviceSignIns.checkRoom(for: device, at: now, in: $0) }
        let userCode = try await cloud.store.write(.store) {
            try DeviceSignIns.begin(device, showingOneOf: codes, at: now, in: $0)
        }
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
        let hash = Secret.hash(request.deviceCode)
        let (container, now) = (exchange.call.container, exchange.call.now)
        let outcome = try await exchange.cloud.store.read {
            try DeviceSignIns.outcome(of: hash, in: container, at: now, in: $0)
        }
        let response: Response =
            switch outcome {
            case nil: throw unknown
            case .pending: .pending
            case .entered(let user):
                .signedIn(try await exchange.signIn(onDeviceWith: hash, enteredBy: user))
            }
        return .json { response.write(to: &$0) }
    }

    fileprivate static let unknown = WireError(
        .notFound, "the code was used, or its time is over: begin again")
}

extension Exchange {
    /// Signs in the device whose code was entered, and forgets it: of two that ask at the same moment, be it of
    /// two servers, one gets the token.
    ///
    /// It is forgotten as well where whoever entered the code has another password since, or may not sign in.
    fileprivate func signIn(
        onDeviceWith hash: [UInt8], enteredBy user: StoredDeviceSignIn.Entered
    ) async throws -> SignIn.Response {
        let new = NewSignIn(from: cloud.randomness)
        let outcome = try await cloud.store.writeInSteps(for: user.account) {
            steps -> Result<SignIn.Response, WireError> in
            let device = try steps.write(.store) { try $0.takeDeviceSignIn(hash: hash) }
            guard let user = device?.entered else { return .failure(FinishDeviceSignIn.unknown) }
            return try steps.write(.account(user.account)) { transaction in
                guard let known = try KnownUser(user, in: transaction) else {
                    return .failure(.wrongPassword)
                }
                return .success(try self.signIn(.user(known), new, in: transaction))
            }
        }
        return try outcome.get()
    }
}

extension KnownUser {
    /// What is kept of them until the device asks: nothing by which a password could be guessed without the
    /// account's own hash of it.
    var entered: StoredDeviceSignIn.Entered {
        StoredDeviceSignIn.Entered(
            account: signIn.account, name: name, proof: signIn.password.map(Secret.hash),
            isByProvider: isByProvider)
    }

    /// Creates the user who entered a device's code; nil where the password was changed or the account disabled
    /// meanwhile.
    fileprivate init?(
        _ entered: StoredDeviceSignIn.Entered, in reader: some AccountReading
    ) throws {
        guard let signIn = try reader.signIn(calledBy: entered.name),
            signIn.account == entered.account, !signIn.isDisabled,
            signIn.password.map(Secret.hash) == entered.proof
        else { return nil }
        self.init(name: entered.name, signIn: signIn, isByProvider: entered.isByProvider)
    }
}
