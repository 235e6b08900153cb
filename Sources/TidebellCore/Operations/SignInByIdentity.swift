// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Signs somebody in whom another service knows.
package enum SignInByIdentity {
    /// What is tried of one name before a name without meaning is taken.
    private static let mostNumbers = 20

    /// Returns who it is, with the name of the account; whoever comes for the first time gets an account.
    ///
    /// The account is found by the identity alone: a name that the service suggests is a label, and never leads to
    /// somebody else's account.
    ///
    /// - Parameters:
    ///   - suggestions: What the account might be called, the best first.
    ///   - fallback: What it is called where none of that can be, different each time.
    package static func run(
        _ identity: ForeignIdentity, suggesting suggestions: [String], or fallback: String,
        at now: Instant, in transaction: some AccountWriting
    ) throws -> (name: String, signIn: StoredSignIn) {
        if let name = try transaction.accountName(identifiedBy: identity),
            let known = try transaction.signIn(named: name)
        {
            return (name, known)
        }
        let name = try name(from: suggestions, or: fallback, in: transaction)
        let account = try transaction.createAccount(named: name, at: now)
        try transaction.putIdentity(identity, of: account)
        return (name, StoredSignIn(account: account, isDisabled: false, password: nil))
    }

    private static func name(
        from suggestions: [String], or fallback: String, in reader: some AccountReading
    ) throws -> String {
        for suggestion in suggestions {
            guard let name = UserName.canonical(suggestion), UserName.isAllowed(name) else {
                continue
            }
            if try reader.account(calledBy: name) == nil { return name }
            for number in 2...mostNumbers {
                guard let numbered = UserName.canonical("\(name)-\(number)") else { break }
                if try reader.account(calledBy: numbered) == nil { return numbered }
            }
        }
        return fallback
    }
}
