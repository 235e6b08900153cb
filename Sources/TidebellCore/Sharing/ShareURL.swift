// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

extension Call {
    /// Bytes of the last part of a share's URL, and of what a one-time URL has beside it: nobody
    /// guesses either.
    private static let shortGUIDLength = 16

    /// Returns the last part of the URL under which a record is shared, or a zone as a whole:
    /// the same for as long as the zone lives, however often sharing stops and begins (SHARE-6).
    func shortGUID(ofRoot root: String?, in zone: ZoneKey) -> String {
        derivedText("\(zone.rawValue)/\(root.map { "record \($0)" } ?? "zone")")
    }

    /// Returns what the one-time URL of a participant has beside the share's own (SHARE-20).
    ///
    /// - Parameter id: Of the server's own, and of one participant only: so the URL of one who was
    ///   removed never comes back.
    func oneTimeKey(of id: UUID, in zone: ZoneKey) -> String {
        derivedText("\(zone.rawValue)/participant \(id.uuidString)")
    }

    private func derivedText(_ name: String) -> String {
        Base64URL.text(
            KeyDerivation.key(named: name, of: shareURLKey, length: Self.shortGUIDLength))
    }
}

/// The last part of a URL of a share, which is the share's own, or a one-time URL of a participant.
struct ShareLink {
    /// Stands between the parts of a one-time URL, and in neither.
    private static let separator: Character = "."

    /// The last part of the share's own URL.
    let shortGUID: String
    /// What a one-time URL has beside it; nil for the share's own.
    let oneTimeKey: String?

    init(_ text: String) {
        let parts = text.split(
            separator: Self.separator, maxSplits: 1, omittingEmptySubsequences: false)
        shortGUID = String(parts[0])
        oneTimeKey = parts.count > 1 ? String(parts[1]) : nil
    }

    /// The last part of the one-time URL of a participant.
    static func text(_ shortGUID: String, _ oneTimeKey: String) -> String {
        "\(shortGUID)\(separator)\(oneTimeKey)"
    }
}

extension ShareReading {
    /// Returns the share that a URL leads to. A one-time URL of somebody who takes no part any more
    /// leads nowhere.
    func share(at link: ShareLink) throws -> LocatedShare? {
        guard let found = try share(shortGUID: link.shortGUID) else { return nil }
        guard let key = link.oneTimeKey else { return found }
        return found.share.participants.contains { $0.oneTimeKey == key } ? found : nil
    }
}
