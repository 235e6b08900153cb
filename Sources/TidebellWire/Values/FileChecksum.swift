// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How CloudKit computes the checksum of an asset (web-services 4.4): SHA-1 over
/// a salt and the bytes. The hash itself is computed by the caller.
package enum FileChecksum {
    /// What is hashed before the bytes.
    package static let salt = Array(
        "com.apple.XattrObjectSalt\0com.apple.DataObjectSalt\0".utf8
    )
    /// Identifies the algorithm that made the digest.
    private static let version: UInt8 = 1

    /// Returns the text of a digest: 28 characters of base64.
    package static func text(ofDigest digest: some Sequence<UInt8>) -> String {
        Data([version] + digest).base64EncodedString()
    }
}
