// SPDX-License-Identifier: Apache-2.0
import Crypto
package import TidebellCore
package import TidebellScheduling
import TidebellWire

/// Tokens and other secrets as text.
package enum Secret {
    /// Bytes of a token: as many as its SHA-256 hash keeps apart.
    private static let byteCount = WebTokenHash.secretLength / 2
    /// Bytes of a user's record name: `_` and 32 hex digits (ACCT-5).
    private static let userByteCount = 16

    /// Makes a secret of 64 hex digits: an API token, what a web token begins with, a push token
    /// or a courier capability.
    package static func make(from randomness: Randomness) -> String {
        Hex.text(randomness.makeBytes(byteCount))
    }

    /// Makes the record name of a new user.
    package static func makeUserRecordName(from randomness: Randomness) -> String {
        "_" + Hex.text(randomness.makeBytes(userByteCount))
    }

    /// Returns the web token of an account that a secret makes: it says behind the secret in which cell it is kept.
    package static func webToken(_ secret: String, of account: AccountID) -> String {
        secret + account.cell.digits
    }

    /// Returns under which hash, and in which cell, a web token is kept.
    package static func webTokenHash(_ token: String) -> WebTokenHash {
        WebTokenHash(of: token, hash)
    }

    /// Returns the same of the secret of a link for a new password.
    package static func resetLinkHash(_ secret: String) -> WebTokenHash {
        WebTokenHash(of: secret) { hash("reset \($0)") }
    }

    /// Returns the hash under which a token is stored: whoever reads the store
    /// cannot sign in with what is in it.
    package static func hash(_ token: String) -> [UInt8] {
        var hasher = SHA256()
        var token = token
        token.withUTF8 { hasher.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return Array(hasher.finalize())
    }
}
