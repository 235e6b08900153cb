// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension Call {
    /// Bytes of the last part of a share's URL: nobody guesses it.
    private static let shortGUIDLength = 16

    /// Returns the last part of the URL under which a record is shared, or a zone as a whole:
    /// the same for as long as the zone lives, however often sharing stops and begins (SHARE-6).
    func shortGUID(ofRoot root: String?, in zone: ZoneKey) -> String {
        Base64URL.text(
            KeyDerivation.key(
                named: "\(zone.rawValue)/\(root.map { "record \($0)" } ?? "zone")",
                of: shareURLKey, length: Self.shortGUIDLength
            )
        )
    }
}
