// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Lets somebody be a user from now on, where the operator permits that.
package enum SignUp {
    /// Fails where nobody can be called so, or have such a password, whoever there is.
    package static func check(_ name: String, password: String) throws(OperatorError) {
        _ = try UserName.checked(name)
        try PasswordRule.check(password)
    }

    /// Fails where nobody can be called so, or somebody is.
    package static func check(_ name: String, in reader: some AccountReading) throws {
        _ = try reader.checkNewUser(name)
    }

    /// Creates an account with a password, and returns how it signs in; a name that is taken or not
    /// allowed fails.
    ///
    /// - Parameter password: Its hash.
    package static func run(
        named name: String, password: String, at now: Instant,
        in transaction: some AccountWriting
    ) throws -> StoredSignIn {
        let name = try transaction.checkNewUser(name)
        let account = try transaction.createAccount(named: name, at: now)
        try transaction.setPassword(password, of: account)
        return StoredSignIn(account: account, isDisabled: false, password: password)
    }
}
