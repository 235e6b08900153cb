// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Synchronization
import TidebellCore
import TidebellWire

/// A signed statement of who sends: a JSON Web Token that Apple takes for an hour.
struct ProviderToken: Sendable, Hashable {
    /// The token, as it stands in the header `authorization` after `bearer `.
    var text: String
    var issuedAt: Instant
}

/// The provider tokens of one key, each used until it is old
/// ("Establishing a token-based connection to APNs").
final class ProviderTokens: Sendable {
    /// The age at which a token is replaced: Apple refuses those older than an hour
    /// and providers that make more than one in 20 minutes.
    static let lifetime = Duration.seconds(50 * 60)
    /// The age below which a token that Apple calls expired was not: the machine's
    /// clock is wrong, and another token would not help.
    static let leastAge = Duration.seconds(60)

    private let credentials: ProviderCredentials
    private let latest = Mutex<ProviderToken?>(nil)

    /// Creates a source that has made no token yet.
    init(_ credentials: ProviderCredentials) {
        self.credentials = credentials
    }

    /// Returns the token to use, a new one if the last has grown old or was made by
    /// a clock that has since gone back.
    func current(at now: Instant) throws -> ProviderToken {
        try latest.withLock { latest in
            if let token = latest, token.issuedAt <= now,
                now < token.issuedAt.advanced(by: Self.lifetime)
            {
                return token
            }
            let token = try credentials.token(at: now)
            latest = token
            return token
        }
    }

    /// Drops a token that Apple calls expired; returns whether another can help.
    ///
    /// Of many requests with the same token only the first drops it.
    func drop(_ token: ProviderToken, at now: Instant) -> Bool {
        latest.withLock { latest in
            guard latest == token else { return true }
            guard token.issuedAt.advanced(by: Self.leastAge) <= now else { return false }
            latest = nil
            return true
        }
    }
}

extension ProviderCredentials {
    /// Signs a token (ES256).
    func token(at now: Instant) throws -> ProviderToken {
        let header = JSONWriter.write { writer in
            writer.object { writer in
                writer.member("alg", "ES256")
                writer.member("kid", keyID)
            }
        }
        let claims = JSONWriter.write { writer in
            writer.object { writer in
                writer.member("iss", teamID)
                writer.member("iat", now.rawValue / 1000)
            }
        }
        let signed = Base64URL.text(header) + "." + Base64URL.text(claims)
        let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
        return ProviderToken(
            text: signed + "." + Base64URL.text(Array(signature)), issuedAt: now
        )
    }
}
