// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellScheduling
package import TidebellWire

/// `account/signIn`, an extension: what `tidebell login` calls.
extension SignIn: Endpoint {
    /// Gives the device a web token of its own, which is renewed as long as the
    /// device uses it.
    ///
    /// The caller shows a password, or a web token that stays as it is. Tokens of the
    /// command line are valid until the day that was set, and so is what they give:
    /// its successors end with that day.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let request = try exchange.read(Request.self)
        if request.password != nil, try await !exchange.appSignIn().offers(.password) {
            throw WireError(
                .accessDenied,
                "users of this API token sign in with the identity provider, not with a password")
        }
        let response =
            switch (request.user, request.password) {
            case (let user?, let password?):
                try await exchange.signIn(
                    .user(
                        KnownUser(
                            name: user,
                            signIn: try await exchange.cloud.account(
                                named: user, password: password, for: exchange.request)))
                )
            case (nil, nil): try await exchange.signIn(.token(of: exchange.call.requireUser()))
            default: throw JSONError("a sign-in has both 'user' and 'password', or neither")
            }
        return .json { response.write(to: &$0) }
    }
}

extension Exchange {
    /// What the caller that signs in has shown.
    enum Proof: Sendable {
        /// A password, or what an identity provider says.
        case user(KnownUser)
        /// The request's web token.
        case token(of: StoredUser)

        /// The account that signs in.
        var account: AccountID {
            switch self {
            case .user(let known): known.signIn.account
            case .token(let user): user.account
            }
        }

        /// When the session that it begins ends, beside what a token says of itself.
        func sessionEnd(at now: Instant) -> Instant? {
            guard case .user(let known) = self else { return nil }
            return known.sessionEnd(at: now)
        }
    }

    /// What a sign-in draws before its transaction.
    struct NewSignIn: Sendable {
        /// Of the token.
        let secret: String
        /// The record name of a user who comes to the container for the first time.
        let recordName: String

        init(from randomness: Randomness) {
            secret = Secret.make(from: randomness)
            recordName = Secret.makeUserRecordName(from: randomness)
        }
    }

    /// Makes the token of a device.
    func signIn(_ proof: Proof) async throws -> SignIn.Response {
        let new = NewSignIn(from: cloud.randomness)
        return try await cloud.store.write(.account(proof.account), for: proof.account) {
            try self.signIn(proof, new, in: $0)
        }
    }

    /// Makes the token of a device in a transaction of the account's.
    func signIn(
        _ proof: Proof, _ new: NewSignIn, in transaction: any StoreTransaction
    ) throws -> SignIn.Response {
        let (container, now) = (call.container, call.now)
        let (account, source) = try check(proof, in: transaction)
        try transaction.beginSession(
            .device, Secret.hash(new.secret), of: account, with: source,
            lifetime: WebTokenRules.signInLifetime, notAfter: proof.sessionEnd(at: now),
            in: container, limits: call.limits, at: now
        )
        let user = try transaction.joinContainer(
            container, as: account, recordName: new.recordName, limits: call.limits, at: now
        )
        return SignIn.Response(
            webAuthToken: Secret.webToken(new.secret, of: account),
            userRecordName: user.recordName,
            user: try transaction.accountNames([account])[account] ?? ""
        )
    }

    /// Fails unless what was shown still holds, at the moment of the write: where the password
    /// or token was changed, disabled or ended meanwhile, no session begins.
    private func check(
        _ proof: Proof, in reader: some AccountReading & SessionReading
    ) throws -> (account: AccountID, source: StoredWebToken?) {
        switch proof {
        case .user(let known):
            try known.check(in: reader)
            return (known.signIn.account, nil)
        case .token(let user):
            let source = try webToken(in: reader)
            if let source { try WebTokenRules.checkSignIn(with: source) }
            return (user.account, source)
        }
    }
}
