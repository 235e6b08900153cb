// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellHTTP

// Sessions and tokens that were given out, and how they end.
extension Accounts {
    /// Returns the sessions of a user that are valid now, oldest first.
    package func sessions(of name: String) async throws -> [StoredSession] {
        let now = time.now()
        return try await store.read {
            try ListSessions.run(of: name, at: now, in: $0)
        }
    }

    /// Ends a session of a user, with those that were begun with it, or all of them;
    /// returns how many ended. Of the ID, the beginning is enough where it names one.
    package func signOut(_ name: String, session id: String? = nil) async throws -> Int {
        let now = time.now()
        return try await store.write(.account(try await account(named: name))) {
            try EndSessions.run(of: name, session: id, at: now, in: $0)
        }
    }

    /// Returns the ID under which a token is listed and ended: of a web token, that of its
    /// session.
    package static func id(ofToken token: String) -> String {
        let hash = Secret.webTokenHash(token)
        return SessionID(beginningWith: hash.digest, in: hash.cell).rawValue
    }

    /// Returns the API or the management tokens, oldest first.
    package func tokens(_ kind: TokenKind) async throws -> [StoredToken] {
        try await store.read { try ListTokens.run(kind, in: $0) }
    }

    /// Revokes the API or management token with this ID; a prefix of the ID is enough
    /// where it names one; returns the token.
    package func revoke(_ kind: TokenKind, _ id: String) async throws -> StoredToken {
        try await store.write(.store) { try RevokeToken.run(kind, id, in: $0) }
    }
}
