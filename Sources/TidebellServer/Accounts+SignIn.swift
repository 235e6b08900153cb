// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellHTTP

// Who may sign in, and how.
extension Accounts {
    /// Gives a user a password, in place of the one before, and ends their sessions;
    /// returns how many.
    ///
    /// One that is too short or too long fails with ``OperatorError``.
    ///
    /// - Parameter keepsTokens: Whether the tokens that the operator made stay valid.
    @discardableResult
    package func setPassword(
        _ password: String, of name: String, keepsTokens: Bool = false,
        cost: Password.Cost = .standard
    ) async throws -> Int {
        try Self.check(password: password)
        let hash = try Password.hash(password, cost: cost, from: randomness)
        let now = time.now()
        return try await change(name) { transaction, account in
            try transaction.setPassword(hash, of: account)
            return try transaction.endTokens(
                .account(account, includingOperators: !keepsTokens), at: now
            )
        }
    }

    /// Forbids a user the use of the server, or allows it again: the data stays, the
    /// account's status is `restricted`. Returns how many sessions ended.
    ///
    /// Sessions end with it and do not come back: who lost a device, or was broken into,
    /// signs in anew.
    @discardableResult
    package func setDisabled(_ isDisabled: Bool, _ name: String) async throws -> Int {
        let now = time.now()
        return try await change(name) { transaction, account in
            try transaction.setDisabled(isDisabled, account)
            guard isDisabled else { return 0 }
            return try transaction.endTokens(
                .account(account, includingOperators: true), at: now
            )
        }
    }

    /// Whether a user is disabled; false for one who is not there.
    package func isDisabled(_ name: String) async throws -> Bool {
        try await store.read { try $0.signIn(calledBy: name)?.isDisabled ?? false }
    }

    /// Returns the names of the users who are disabled.
    package func disabledNames() async throws -> Set<String> {
        Set(
            try await store.read { try $0.accounts() }.filter(\.isDisabled).map(\.name)
        )
    }

    /// Fails unless the password has an allowed length.
    package static func check(password: String) throws {
        guard password.count >= Password.fewestCharacters, Password.isAllowed(password) else {
            throw OperatorError(
                "A password has \(Password.fewestCharacters) characters or more, and at most "
                    + "\(Password.mostBytes) bytes."
            )
        }
    }
}
