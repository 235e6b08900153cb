// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What a receipt stands for: content that was stored for a field.
package struct AssetReceipt: Sendable, Hashable {
    package var content: AssetContent
    package var field: AssetField

    /// Creates a value.
    package init(content: AssetContent, field: AssetField) {
        self.content = content
        self.field = field
    }
}

/// What a download URL stands for: the right to read content for some time.
package struct AssetLink: Sendable, Hashable {
    package var content: AssetContent
    package var expiresAt: Instant
    /// Who asked for it, for whom the downloads count; nil for a caller with an API token only.
    package var user: UserID?

    /// Creates a value.
    package init(content: AssetContent, expiresAt: Instant, user: UserID?) {
        self.content = content
        self.expiresAt = expiresAt
        self.user = user
    }
}

/// Makes what only this server can make, and knows it again: receipts and download
/// URLs (web-services 5.9).
package protocol AssetSeals: Sendable {
    /// Returns the text of a receipt.
    func seal(_ receipt: AssetReceipt) -> String
    /// Returns the receipt of a text; nil for one that was not made here.
    func receipt(_ text: String) -> AssetReceipt?
    /// Returns the URL of a link.
    func url(of link: AssetLink) -> String
    /// Returns the link of a URL; nil for one that was not made here.
    func link(url: String) -> AssetLink?
    /// Returns the two values that answers of private databases have beside the
    /// checksum: opaque, the same for the same content.
    func keys(of content: AssetContent) -> (wrappingKey: String, referenceChecksum: String)
}

/// The seals of a server without a folder for files: it has made nothing.
package struct NoAssetSeals: AssetSeals {
    /// Creates a value.
    package init() {}

    /// Returns an empty text.
    package func seal(_ receipt: AssetReceipt) -> String { "" }
    /// Returns nil.
    package func receipt(_ text: String) -> AssetReceipt? { nil }
    /// Returns an empty text.
    package func url(of link: AssetLink) -> String { "" }
    /// Returns nil.
    package func link(url: String) -> AssetLink? { nil }
    /// Returns empty texts.
    package func keys(
        of content: AssetContent
    ) -> (wrappingKey: String, referenceChecksum: String) { ("", "") }
}
