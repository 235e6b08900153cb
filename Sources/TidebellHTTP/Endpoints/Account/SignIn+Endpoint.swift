// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// `account/signIn`, an extension: what `tidebell login` calls.
extension SignIn: Endpoint {
    package static let access = EndpointAccess.anyone

    /// Gives the device a web token of its own, which is renewed as long as the
    /// device uses it.
    ///
    /// Who asks shows a password, or a web token that stays as it is. Tokens of the
    /// command line are valid until the day that was said, and so is what they give:
    /// its successors end with that day.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let request = try exchange.read { try Request(from: &$0) }
        let response =
            switch (request.user, request.password) {
            case (let user?, let password?):
                try await exchange.signIn(
                    try await exchange.account(named: user, password: password), byToken: false
                )
            case (nil, nil):
                try await exchange.signIn(
                    try exchange.call.requireUser().account, byToken: true
                )
            default: throw JSONError("a sign-in has both 'user' and 'password', or neither")
            }
        return .json { response.write(to: &$0) }
    }
}

extension Exchange {
    /// The longest user name that is looked for.
    private static let userNameLength = 255

    /// Returns the account with this name, if the password is right.
    fileprivate func account(named name: String, password: String) async throws -> AccountID {
        guard name.utf8.count <= Self.userNameLength,
            password.utf8.count <= Password.mostBytes
        else { throw WireError.wrongPassword }
        let known = try await cloud.store.read { try $0.signIn(named: name) }
        let matches = try await cloud.signIns.matches(
            password, known?.password, of: name, at: call.now
        )
        guard let known, matches else { throw WireError.wrongPassword }
        guard !known.isDisabled else { throw WireError.accountDisabled }
        return known.account
    }

    /// Makes the token of a device, for who showed the request's web token or a password.
    fileprivate func signIn(
        _ account: AccountID, byToken: Bool
    ) async throws -> SignIn.Response {
        let (container, now) = (call.container, call.now)
        let token = Secret.make(from: cloud.randomness)
        let recordName = Secret.makeUserRecordName(from: cloud.randomness)
        return try await cloud.store.write { transaction in
            let source = byToken ? try webToken(in: transaction) : nil
            if let source { try WebTokenRules.checkSignIn(with: source) }
            let end = source.flatMap(WebTokenRules.end(ofTokensGotWith:))
            try transaction.putWebToken(
                hash: Secret.hash(token), account: account,
                expiresAt: WebTokenRules.expiry(
                    after: WebTokenRules.signInLifetime, at: now, notAfter: end),
                lifetime: WebTokenRules.signInLifetime, endsAt: end
            )
            let user = try transaction.makeUser(
                of: account, in: container, recordName: recordName
            )
            return SignIn.Response(
                webAuthToken: token, userRecordName: user.recordName,
                user: try transaction.accountNames([account])[account] ?? ""
            )
        }
    }
}

extension WireError {
    /// Does not tell whether there is such a user.
    fileprivate static let wrongPassword = WireError(
        .authenticationFailed, "the user name or the password is wrong"
    )
}
