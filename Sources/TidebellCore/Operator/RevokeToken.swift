// SPDX-License-Identifier: Apache-2.0

/// Ends an API or management token.
package enum RevokeToken {
    /// Ends the token with this ID, of which the beginning is enough where it names one;
    /// returns the token. An unknown or ambiguous ID fails.
    package static func run(
        _ kind: TokenKind, _ id: String, in transaction: some TokenWriting
    ) throws -> StoredToken {
        let named = try ListTokens.run(kind, in: transaction).filter {
            TokenID.text(id, names: $0.id)
        }
        guard let token = named.first, named.count == 1 else {
            throw OperatorError(
                named.isEmpty ? .unknown : .ambiguous, .token,
                named.isEmpty
                    ? "There is no token '\(id)'; see the list."
                    : "'\(id)' names \(named.count) tokens; give more digits."
            )
        }
        try transaction.removeToken(hash: token.hash, kind)
        return token
    }
}
