// SPDX-License-Identifier: Apache-2.0
import Foundation
import Crypto
import Synchronization

/// The key of the fake team.
final class SigningKey: Sendable {
    private let key = P256.Signing.PrivateKey()
    /// What was found signed last: providers send one token many times.
    private let latest = Mutex<(text: String, signature: Data)?>(nil)

    /// The private key as Apple gives it out.
    var pem: String { key.pemRepresentation }

    /// Whether a signature is this key's over a text.
    func hasSigned(_ text: String, with signature: Data) -> Bool {
        if latest.withLock({ $0.map { $0 == (text, signature) } ?? false }) { return true }
        guard let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.publicKey.isValidSignature(parsed, for: Data(text.utf8))
        else { return false }
        latest.withLock { $0 = (text, signature) }
        return true
    }
}
