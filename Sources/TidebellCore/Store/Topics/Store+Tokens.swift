// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The API and management tokens, which belong to no user.
package protocol TokenReading {
    /// Returns the API or management token with this hash, also one that has expired.
    func token(hash: [UInt8], _ kind: TokenKind) throws -> StoredToken?

    /// Returns the API or the management tokens, oldest first, at most `limit`; expired
    /// ones too.
    func tokens(_ kind: TokenKind, limit: Int) throws -> [StoredToken]
}

/// API and management tokens are made and removed.
package protocol TokenWriting: TokenReading {
    /// Stores an API or management token.
    func putToken(_ token: StoredToken, _ kind: TokenKind) throws

    /// Removes an API or management token; what is gone is ignored.
    func removeToken(hash: [UInt8], _ kind: TokenKind) throws
}

extension TokenReading {
    /// Whether an API token with this hash exists that is valid for the container now
    /// (tokens may be for all containers).
    package func hasAPIToken(
        hash: [UInt8], for container: ContainerKey, at now: Instant
    ) throws -> Bool {
        guard let token = try token(hash: hash, .api) else { return false }
        return token.isValid(at: now) && (token.container ?? container) == container
    }
}

extension StoredToken {
    /// Whether the token has not expired.
    package func isValid(at now: Instant) -> Bool {
        expiresAt.map { now < $0 } ?? true
    }
}
