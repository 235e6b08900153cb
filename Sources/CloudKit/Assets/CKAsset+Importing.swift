// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CKAsset {
    /// The ID of a file in another container that the server should copy, as Apple's Photos makes
    /// them.
    ///
    /// Apple's IDs are valid for a few days, on the device where they were made, and nothing on
    /// Linux makes any. Code that uses one compiles and can store it; see
    /// ``CKAsset/init(importing:)``.
    /// See <https://developer.apple.com/documentation/cloudkit/ckasset/exportedassetid>.
    public struct ExportedAssetID: Codable, Sendable {
        /// What it was decoded of, whatever that means to who made it.
        private let value: String

        /// Reads what ``encode(to:)`` wrote: one string. Fails with a `DecodingError` for anything
        /// else.
        public init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(String.self)
        }

        /// Writes one string.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    /// Creates an asset as a copy of a file that a server has; it has no `fileURL`.
    ///
    /// Saving its record fails with `assetNotAvailable`, as it does on Apple's systems if the ID is
    /// invalid or expired: an ID is valid only on the Apple device that made it.
    /// See <https://developer.apple.com/documentation/cloudkit/ckasset/init(importing:)>.
    public convenience init(importing exportedAssetID: CKAsset.ExportedAssetID) {
        self.init(stored: nil, fileURL: nil)
        setImported()
    }
}
