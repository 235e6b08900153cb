// SPDX-License-Identifier: Apache-2.0
import Crypto

/// Makes named keys of one secret: HKDF-SHA-256 (RFC 5869) without salt, since the secret is
/// random already, and with the name as its info.
package enum KeyDerivation {
    /// Bytes of a secret, and of a key unless another number is asked for.
    package static let length = 32

    /// Returns the key with this name, always the same.
    ///
    /// - Parameter secret: ``length`` random bytes.
    package static func key(
        named name: String, of secret: [UInt8], length: Int = KeyDerivation.length
    ) -> [UInt8] {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret), info: Array(name.utf8),
            outputByteCount: length
        ).withUnsafeBytes { Array($0) }
    }
}
