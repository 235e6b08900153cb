// SPDX-License-Identifier: Apache-2.0

/// Lists API or management tokens.
package enum ListTokens {
    /// The most tokens that are listed and looked at.
    package static let mostListed = 10_000

    /// Returns the tokens of a kind, oldest first; expired ones too.
    package static func run(
        _ kind: TokenKind, in reader: some TokenReading
    ) throws -> [StoredToken] {
        try reader.tokens(kind, limit: mostListed)
    }
}
