// SPDX-License-Identifier: Apache-2.0
import Crypto
import Synchronization
import TidebellCore
import TidebellWire

/// Makes the tokens that follow others: one for a session in each part of its lifetime, so
/// that no renewals, at once or of one token after another, make many.
///
/// They are made of a key that is nowhere but in the memory of this process, so that the
/// store knows their hashes only, as of those that are drawn. So each server of a store makes its own: a key
/// that they shared, of the store's secret or the root key, would let who has a copy of both make tokens
/// that are good later.
final class NextTokens: Sendable {
    private let key = Mutex<SymmetricKey?>(nil)

    /// Returns the next token of a session; the same whenever it is asked for in one part of
    /// the lifetime.
    ///
    /// - Parameter secret: What nobody can guess: the first becomes the key.
    func next(
        after token: StoredWebToken, lifetime: Duration, at now: Instant, secret: String
    ) -> String {
        let key = key.withLock { key in
            let known = key ?? SymmetricKey(data: Array(secret.utf8))
            key = known
            return known
        }
        let part = WebTokenRules.part(ofRenewal: lifetime, at: now)
        let text = "\(token.session.rawValue) \(part)"
        return Hex.text(
            Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
        )
    }
}
