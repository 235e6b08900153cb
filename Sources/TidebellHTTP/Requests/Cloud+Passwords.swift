// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension Cloud {
    /// Returns the account with this name, if the password is right: the one way in which
    /// passwords are tried (``SignInGate``).
    func account(
        named name: String, password: String, for request: WebRequest
    ) async throws -> StoredSignIn {
        guard name.utf8.count <= UserName.mostBytes, PasswordRule.mayBeTried(password) else {
            throw WireError.wrongPassword
        }
        let known = try await store.read { try $0.signIn(calledBy: name) }
        let matches = try await signIns.matches(
            password, known?.password, of: name,
            from: SignInGate.Origin(request.origin, request.presence)
        )
        guard let known, matches else { throw WireError.wrongPassword }
        guard !known.isDisabled else { throw WireError.accountDisabled }
        return known
    }

    /// Returns the hash of a new password; one that nobody may have fails.
    func hash(ofNew password: String, for request: WebRequest) async throws -> String {
        do {
            try PasswordRule.check(password)
        } catch {
            throw WireError(error)
        }
        return try await signIns.hash(
            from: SignInGate.Origin(request.origin, request.presence)
        ) { [randomness, passwordCost] in
            try Password.hash(password, cost: passwordCost, from: randomness)
        }
    }
}

extension WireError {
    /// Does not reveal whether there is such a user.
    static let wrongPassword = WireError(
        .authenticationFailed, "the user name or the password is wrong"
    )
}
