// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellHTTP

// What was given out, and how it ends.
extension Accounts {
    /// The most tokens or sessions that are listed.
    package static let listLength = 10_000
    /// The fewest digits of an ID by which a token is found.
    private static let shortestID = 4

    /// Returns the sessions of a user that are valid now, oldest first.
    package func sessions(of name: String) async throws -> [StoredSession] {
        let now = time.now()
        return try await change(name) {
            try $0.sessions(of: $1, at: now, limit: Self.listLength)
        }
    }

    /// Ends a session of a user, with those that were begun with it, or all of them;
    /// returns how many ended. Of the ID, the beginning is enough where it names one; others
    /// fail with ``OperatorError``.
    package func signOut(_ name: String, session id: String? = nil) async throws -> Int {
        let now = time.now()
        return try await change(name) { transaction, account in
            guard let id else {
                return try transaction.endTokens(
                    .account(account, includingOperators: true), at: now
                )
            }
            let known = try transaction.sessions(of: account, at: now, limit: Self.listLength)
            let named = known.filter {
                id.count >= Self.shortestID && $0.id.rawValue.hasPrefix(id.lowercased())
            }
            guard let session = named.first, named.count == 1 else {
                throw OperatorError(
                    named.isEmpty
                        ? "'\(name)' has no session '\(id)'"
                        : "'\(id)' names \(named.count) sessions, give more digits",
                    see: "tidebell user sessions \(name)"
                )
            }
            return try transaction.endTokens(.session(session.id), at: now)
        }
    }

    /// Returns the ID under which a token is listed and ended: of a web token, that of its
    /// session.
    package static func id(ofToken token: String) -> String {
        SessionID(beginningWith: Secret.hash(token)).rawValue
    }

    /// Returns the API or the management tokens, oldest first.
    package func tokens(_ kind: TokenKind) async throws -> [StoredToken] {
        try await store.read { try $0.tokens(kind, limit: Self.listLength) }
    }

    /// Ends the API or management token with this ID, of which the beginning is enough
    /// where it names one; returns the token. Others fail with ``OperatorError``.
    package func revoke(_ kind: TokenKind, _ id: String) async throws -> StoredToken {
        try await store.write { transaction in
            let named = try transaction.tokens(kind, limit: Self.listLength).filter {
                id.count >= Self.shortestID && $0.id.hasPrefix(id.lowercased())
            }
            guard let token = named.first, named.count == 1 else {
                throw OperatorError(
                    named.isEmpty
                        ? "There is no token '\(id)'; see the list."
                        : "'\(id)' names \(named.count) tokens; give more digits."
                )
            }
            try transaction.removeToken(hash: token.hash, kind)
            return token
        }
    }
}

extension StoredToken {
    /// What the token is called when it is listed and ended: not secret.
    package var id: String { SessionID(beginningWith: hash).rawValue }
}
