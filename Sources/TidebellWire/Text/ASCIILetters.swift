// SPDX-License-Identifier: Apache-2.0

/// Zones, records, types and fields have names of ASCII. Three characters beyond it are
/// ASCII's in canonical form: a name with one of them would be another name for the store, and
/// for all that compares strings the same one.
extension String {
    /// Returns the string with these three as the characters of ASCII that they stand for.
    /// The result is equal to the string, and to a string of ASCII only if it is that string.
    package var withASCIILetters: String {
        guard utf8.contains(where: { $0 >= 0x80 }) else { return self }
        let letters = String.UnicodeScalarView(unicodeScalars.map(\.asASCII))
        return String(letters)
    }
}

extension Unicode.Scalar {
    fileprivate var asASCII: Unicode.Scalar {
        switch self {
        // KELVIN SIGN
        case "\u{212A}": "K"
        // GREEK QUESTION MARK
        case "\u{37E}": ";"
        // GREEK VARIA
        case "\u{1FEF}": "`"
        default: self
        }
    }
}
