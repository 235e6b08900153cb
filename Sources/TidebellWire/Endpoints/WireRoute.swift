// SPDX-License-Identifier: Apache-2.0

/// Where an endpoint is, who may call it, and what a call does.
package struct WireRoute: Sendable, Hashable {
    /// The path; of several, the one that clients of ours use.
    package var path: WirePath
    /// Further paths of the same endpoint.
    package var otherPaths: [WirePath]
    /// The methods it answers, at least one; clients of ours use the first.
    package var methods: [WireMethod]
    /// Who may call it.
    package var access: WireAccess
    /// What a call does.
    package var effect: WireEffect
    /// Whether a program may call it that signs with a server-to-server key.
    package var serverKeys: WireServerKeys

    /// Creates a route.
    package init(
        _ path: WirePath,
        or otherPaths: [WirePath] = [],
        by methods: [WireMethod] = [.post],
        for access: WireAccess = .user,
        _ effect: WireEffect,
        serverKeys: WireServerKeys = .granted
    ) {
        self.path = path
        self.otherPaths = otherPaths
        self.methods = methods
        self.access = access
        self.effect = effect
        self.serverKeys = serverKeys
    }

    /// All paths.
    package var paths: [WirePath] { [path] + otherPaths }

    /// The method that clients of ours use.
    package var method: WireMethod { methods[0] }
}

/// A method of HTTP that endpoints answer.
package enum WireMethod: String, Sendable, Hashable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
}

extension [WireMethod] {
    /// The methods of operations that are documented as GET: they also come as POST with
    /// `{}` (web-services 1.2).
    package static let getOrPost: [WireMethod] = [.get, .post]
}

/// Who may call an endpoint (ACCT-3).
package enum WireAccess: Sendable, Hashable {
    /// Everybody with an API token in the public database, signed-in users in the others.
    case reader
    /// Signed-in users.
    case user
    /// Everybody with an API token, in any path: users who are about to sign in.
    case anyone
    /// The operator, by a management token (`Authorization: Bearer …`).
    case admin
    /// Whoever knows the URL: it was given to them alone.
    case url
    /// Everybody, without a token.
    case open

    /// Whether a user must be signed in.
    ///
    /// - Parameter scope: The database; nil for an endpoint that is in none.
    package func needsUser(in scope: DatabaseScope?) -> Bool {
        switch self {
        case .reader: scope != .public
        case .user: true
        case .anyone, .admin, .url, .open: false
        }
    }
}

/// What server-to-server keys may do with an endpoint, outside of private and shared databases, which
/// are closed to them (web-services 2.1).
package enum WireServerKeys: Sendable, Hashable {
    /// They call it as a signed-in user does.
    case granted
    /// It is about a person's sign-in, or about what is in private databases.
    case denied
    /// NB: CloudKit answers as if the signature were wrong.
    case notAuthenticated
}

/// What a call does, and so whether it may be sent again when its answer is lost.
package enum WireEffect: Sendable, Hashable {
    /// It changes nothing.
    case reads
    /// It changes something; sent again, it leads to the same end or does no harm.
    case repeatable
    /// It is to be done once: sent again under ``WireProtocol/requestIDHeader`` only.
    case writes
}
