// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellHTTP

// Who may sign in, and how.
extension Accounts {
    /// Gives a user a password, in place of the one before; web tokens stay valid.
    ///
    /// One that is too short or too long fails with ``OperatorError``.
    package func setPassword(
        _ password: String, of name: String, cost: Password.Cost = .standard
    ) async throws {
        try Self.check(password: password)
        let hash = try Password.hash(password, cost: cost, from: randomness)
        try await change(name) { try $0.setPassword(hash, of: $1) }
    }

    /// Forbids a user the use of the server, or allows it again: the data stays, the
    /// account's status is `restricted`.
    package func setDisabled(_ isDisabled: Bool, _ name: String) async throws {
        try await change(name) { try $0.setDisabled(isDisabled, $1) }
    }

    /// Returns the names of the users who are disabled.
    package func disabledNames() async throws -> Set<String> {
        try await store.read { try $0.disabledAccountNames() }
    }

    /// Fails unless the password has an allowed length.
    package static func check(password: String) throws {
        guard password.count >= Password.fewestCharacters,
            password.utf8.count <= Password.mostBytes
        else {
            throw OperatorError(
                "A password has \(Password.fewestCharacters) characters or more, and at most "
                    + "\(Password.mostBytes) bytes."
            )
        }
    }

    private func change(
        _ name: String,
        _ body: @escaping @Sendable (any StoreTransaction, AccountID) throws -> Void
    ) async throws {
        try await store.write { transaction in
            guard let account = try transaction.account(named: name) else {
                throw OperatorError("There is no user '\(name)'.")
            }
            try body(transaction, account)
        }
    }
}
