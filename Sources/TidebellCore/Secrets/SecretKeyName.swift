// SPDX-License-Identifier: Apache-2.0

/// What a key of the store's secret is for. Every purpose has a key of its own, so that
/// nothing made for one can be taken for another, and one can be replaced alone.
///
/// The text is the key's name for ever: another text makes another key.
package enum SecretKeyName: String, Sendable, Hashable, CaseIterable {
    /// Makes the IDs of devices that others see, in records and of webhooks: stored with
    /// every change, so that its key must never become another one.
    case deviceIDs = "device IDs"
    /// Seals the receipts of uploaded files.
    case uploadReceipts = "upload receipts"
    /// Seals the URLs that files are downloaded from.
    case downloadLinks = "download links"
    /// Makes the last parts of shares' URLs, which records' owners keep and send on.
    case shareURLs = "share URLs"
    /// Hashes the cookies of the pages behind shares' URLs, and binds their forms to them.
    case sharePages = "share pages"
    /// Makes the keys and checksums of files that CloudKit's answers have.
    case assetKeys = "asset keys"
    /// Seals the continuation markers of queries.
    case queryMarkers = "query markers"
}
