// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Base64 that needs no escaping in a URL and has no padding (RFC 4648, 5).
package enum Base64URL {
    /// Returns the text of bytes.
    package static func text(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// Returns the bytes of a text; nil for what is no such text.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let padded =
            text
            .replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
            + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: padded).map { [UInt8]($0) }
    }
}
