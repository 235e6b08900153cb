// SPDX-License-Identifier: Apache-2.0

/// What makes notifications of one user, database, subscription and origin
/// replace one another while they wait: the newest of equal IDs stays (PUSH-2).
package enum CollapseID: Sendable, Hashable {
    /// Background pushes of a zone or database subscription: they report nothing but
    /// "fetch", so the newest is enough. Ours alone; no device sees it.
    case background
    /// Chosen by the app (NINFO-15), and so the header `apns-collapse-id`: 1 to
    /// ``byteLimit`` printable ASCII characters.
    case chosen(String)

    /// Bytes of an `apns-collapse-id` (PUSH-5).
    package static let byteLimit = 64

    /// Makes an ID of an app's text; nil for an empty one, which identifies nothing.
    ///
    /// A text that the header cannot carry as it is, being longer than 64 bytes or
    /// not printable ASCII, keeps its beginning and gets a hash of the whole, so
    /// that different texts stay different.
    package init?(text: String) {
        guard !text.isEmpty else { return nil }
        if text.utf8.count <= Self.byteLimit, text.utf8.allSatisfy(Self.isPrintable) {
            self = .chosen(text)
            return
        }
        var hash = StableHash()
        hash.combine(text.utf8)
        let digits = String(hash.value, radix: 16)
        let suffix = "~" + String(repeating: "0", count: 16 - digits.count) + digits
        let beginning = text.unicodeScalars.lazy.filter {
            $0.isASCII && Self.isPrintable(UInt8($0.value))
        }
        .prefix(Self.byteLimit - suffix.utf8.count)
        self = .chosen(String(String.UnicodeScalarView(beginning)) + suffix)
    }

    /// Space is left out: a header must not begin or end with one.
    private static func isPrintable(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }
}

extension CollapseID: RawRepresentable {
    /// Reads what the store keeps; empty stands for ``background``, since no app
    /// can choose it.
    package init(rawValue: String) {
        self = rawValue.isEmpty ? .background : .chosen(rawValue)
    }

    /// What the store keeps.
    package var rawValue: String {
        switch self {
        case .background: ""
        case .chosen(let text): text
        }
    }
}
