// SPDX-License-Identifier: Apache-2.0
import Crypto
package import TidebellScheduling
import TidebellWire

/// Tokens and other secrets as text.
package enum Secret {
    /// Bytes of a token: as many as its SHA-256 hash keeps apart.
    private static let byteCount = 32
    /// Bytes of a user's record name: `_` and 32 hex digits (ACCT-5).
    private static let userByteCount = 16

    /// Makes a secret of 64 hex digits: an API token, a web token, a push token
    /// or a courier capability.
    package static func make(from randomness: Randomness) -> String {
        Hex.text(randomness.makeBytes(byteCount))
    }

    /// Makes the record name of a new user.
    package static func makeUserRecordName(from randomness: Randomness) -> String {
        "_" + Hex.text(randomness.makeBytes(userByteCount))
    }

    /// Returns the hash under which the secret of a link for a new password is stored.
    package static func resetLinkHash(_ secret: String) -> [UInt8] { hash("reset \(secret)") }

    /// Returns the hash under which a token is stored: whoever reads the store
    /// cannot sign in with what is in it.
    package static func hash(_ token: String) -> [UInt8] {
        var hasher = SHA256()
        var token = token
        token.withUTF8 { hasher.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return Array(hasher.finalize())
    }
}
