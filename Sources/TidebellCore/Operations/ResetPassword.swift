// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Sets a new password by a link of the operator's (MakeResetLink).
package enum ResetPassword {
    /// Returns whose link it is, with the name; nil where it is none, or none any more.
    package static func user(
        ofLink hash: WebTokenHash, at now: Instant, in reader: some AccountReading & SessionReading
    ) throws -> (account: AccountID, name: String)? {
        guard let token = try reader.webToken(hash: hash), token.origin == .reset,
            token.expiresAt > now, !token.isDisabled,
            let name = try reader.accountNames([token.account])[token.account]
        else { return nil }
        return (token.account, name)
    }

    /// Keeps the hash of the new password and ends all sessions and tokens of the user, the link among
    /// them; returns whether the link was good.
    package static func run(
        _ password: String, byLink hash: WebTokenHash, at now: Instant,
        in transaction: some AccountWriting & SessionWriting
    ) throws -> Bool {
        guard let (account, _) = try user(ofLink: hash, at: now, in: transaction) else {
            return false
        }
        try transaction.setPassword(password, of: account)
        _ = try transaction.endTokens(.account(account, includingOperators: true), at: now)
        return true
    }
}
