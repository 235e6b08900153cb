// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation

/// The key that a webhook and its receiver share (Standard Webhooks, "Signature
/// scheme").
package struct WebhookSecret: Sendable, Hashable {
    /// Bytes of a new secret; the standard asks for 24 to 64.
    package static let byteCount = 32
    private static let prefix = "whsec_"

    /// The key itself.
    package let bytes: [UInt8]

    /// Wraps a key.
    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The form in which receivers' libraries take it: `whsec_` and base64.
    package var text: String { Self.prefix + Data(bytes).base64EncodedString() }

    /// Returns the value of `webhook-signature` for a message.
    func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        var hmac = HMAC<SHA256>(key: SymmetricKey(data: bytes))
        hmac.update(data: Array("\(id).\(timestamp).".utf8))
        hmac.update(data: body)
        return "v1," + Data(hmac.finalize()).base64EncodedString()
    }
}
