// SPDX-License-Identifier: Apache-2.0
import Crypto

/// Tokens and other secrets as text.
package enum Secret {
    /// Bytes of a token: as many as its SHA-256 hash keeps apart.
    private static let byteCount = 32
    /// Bytes of a user's record name: `_` and 32 hex digits (ACCT-5).
    private static let userByteCount = 16

    /// Makes a secret of 64 hex digits: an API token, a web token, a push token
    /// or a courier capability.
    package static func make(from randomness: Randomness) -> String {
        hex(randomness.makeBytes(byteCount))
    }

    /// Makes the record name of a new user.
    package static func makeUserRecordName(from randomness: Randomness) -> String {
        "_" + hex(randomness.makeBytes(userByteCount))
    }

    /// Returns the hash under which a token is stored: who reads the store
    /// cannot sign in with what stands there.
    package static func hash(_ token: String) -> [UInt8] {
        var hasher = SHA256()
        var token = token
        token.withUTF8 { hasher.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return Array(hasher.finalize())
    }

    /// Returns bytes as lower-case hexadecimal digits.
    package static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self
        )
    }

    /// Reads what ``hex(_:)`` wrote.
    package static func bytes(_ hex: Substring) -> [UInt8]? {
        let digits = hex.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == hex.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }
}
