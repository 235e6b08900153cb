// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Adds a user.
package enum AddUser {
    /// Creates an account with a first web token, good in all containers, and returns it; a
    /// name that is taken or not allowed fails.
    ///
    /// - Parameter token: The hash under which the token is kept.
    package static func run(
        named name: String, token: [UInt8], lifetime: Duration, at now: Instant,
        in transaction: some AccountWriting & SessionWriting
    ) throws -> AccountID {
        let name = try transaction.checkNewUser(name)
        let account = try transaction.createAccount(named: name, at: now)
        try AddWebToken.run(
            token, of: account, for: nil, lifetime: lifetime, at: now, in: transaction
        )
        return account
    }
}

extension AccountReading {
    /// Returns the name of a new user as it is stored; one that is taken or not allowed fails.
    func checkNewUser(_ name: String) throws -> String {
        let name = try UserName.checked(name)
        guard try account(calledBy: name) == nil else {
            throw OperatorError(.taken, .user, "There is already a user '\(name)'.")
        }
        return name
    }

    /// Returns the account of a user; an unknown name fails.
    package func user(named name: String) throws -> AccountID {
        guard let account = try self.account(calledBy: name) else {
            throw OperatorError(.unknown, .user, "There is no user '\(name)'.")
        }
        return account
    }
}

extension UserName {
    /// Returns a name as it is stored; fails where nobody can be called so.
    static func checked(_ name: String) throws(OperatorError) -> String {
        guard let name = canonical(name), isAllowed(name) else {
            throw OperatorError(
                .invalid, .user,
                "A user name has 1 to \(length) letters, digits and any of '._-@+'."
            )
        }
        return name
    }
}
