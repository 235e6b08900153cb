// SPDX-License-Identifier: Apache-2.0
import Crypto
import TidebellWire

/// Seals the continuation markers of queries, so that they are opaque: a marker says where a page
/// ended, which may be at a record that the caller must not read.
///
/// AES-GCM whose nonce is made of what is sealed (SIV): the same position has the same marker, no chance
/// is needed, and a nonce comes again only with the same text.
package struct MarkerSeal: Sendable {
    private static let nonceLength = 12
    private static let keyLength = 32

    private let key: SymmetricKey
    private let nonceKey: SymmetricKey

    /// Creates the seal of a secret key; without one, of rules that are looked at without a server.
    package init(key: [UInt8] = []) {
        let both = KeyDerivation.key(named: "query markers", of: key, length: 2 * Self.keyLength)
        self.key = SymmetricKey(data: both.prefix(Self.keyLength))
        nonceKey = SymmetricKey(data: both.suffix(Self.keyLength))
    }

    /// Returns a text that only ``open(_:)`` of the same key makes something of.
    func seal(_ bytes: [UInt8]) -> String {
        do {
            let code = HMAC<SHA256>.authenticationCode(for: bytes, using: nonceKey)
            let nonce = try AES.GCM.Nonce(data: Array(code).prefix(Self.nonceLength))
            let box = try AES.GCM.seal(bytes, using: key, nonce: nonce)
            return Base64URL.commonText(Array(box.nonce) + Array(box.ciphertext) + Array(box.tag))
        } catch {
            preconditionFailure("a nonce of \(Self.nonceLength) bytes is no nonce: \(error)")
        }
    }

    /// Returns what was sealed; nil for a text that was not made with this key.
    func open(_ text: String) -> [UInt8]? {
        guard let sealed = Base64URL.bytes(ofEither: text),
            let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: key)
        else { return nil }
        return Array(bytes)
    }
}
