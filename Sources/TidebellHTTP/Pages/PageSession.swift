// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// Who is signed in to a page.
struct PageSession: Sendable, Hashable {
    /// How long a sign-in to a page lasts, whatever is done there.
    static let lifetime = WebTokenRules.fetchedLifetime

    var account: AccountID
    /// The name of the account.
    var userName: String
    var id: SessionID

    /// Finds the session of a cookie; nil where it ended, or the account may not be used.
    init?(
        hash: WebTokenHash, in reader: some SessionReading & AccountReading, at now: Instant
    ) throws {
        guard let token = try reader.webToken(hash: hash), token.origin == .page,
            !token.isDisabled, token.expiresAt > now,
            let name = try reader.accountNames([token.account])[token.account]
        else { return nil }
        (account, userName, id) = (token.account, name, token.session)
    }
}
