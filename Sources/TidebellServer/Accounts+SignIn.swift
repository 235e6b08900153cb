// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellHTTP
import TidebellWire

// Which users may sign in, and how.
extension Accounts {
    /// Gives a user a password, which replaces the one before, and ends their sessions;
    /// returns how many.
    ///
    /// - Parameter keepsTokens: Whether the tokens that the operator made stay valid.
    @discardableResult
    package func setPassword(
        _ password: String, of name: String, keepsTokens: Bool = false,
        cost: Password.Cost = .standard
    ) async throws -> Int {
        try PasswordRule.check(password)
        let hash = try Password.hash(password, cost: cost, from: randomness)
        let now = time.now()
        return try await store.write(.account(try await account(named: name))) {
            try SetPassword.run(hash, of: name, keepsTokens: keepsTokens, at: now, in: $0)
        }
    }

    /// Forbids a user the use of the server, or allows it again; returns how many sessions
    /// ended.
    @discardableResult
    package func setDisabled(_ isDisabled: Bool, _ name: String) async throws -> Int {
        let now = time.now()
        return try await store.write(.account(try await account(named: name))) {
            try DisableUser.run(named: name, isDisabled: isDisabled, at: now, in: $0)
        }
    }

    /// Whether a user is disabled; false for one who is not there.
    package func isDisabled(_ name: String) async throws -> Bool {
        try await store.read { try $0.signIn(calledBy: name)?.isDisabled ?? false }
    }

    /// Makes a link by which a user sets a new password, once, and returns what stands behind the
    /// server's URL.
    package func makeResetLink(
        for name: String, lifetime: Duration = MakeResetLink.lifetime
    ) async throws -> String {
        let now = time.now()
        let secret = Secret.make(from: randomness)
        let account = try await account(named: name)
        try await store.write(.account(account)) {
            try MakeResetLink.run(
                Secret.resetLinkHash(secret).digest, of: name, lifetime: lifetime, at: now, in: $0)
        }
        return ShowPasswordReset.route.path.stem + Secret.webToken(secret, of: account)
    }
}
